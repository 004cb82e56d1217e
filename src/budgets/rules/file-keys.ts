import type { MappingRule } from '../../yaml/index.ts';

/** The anomaly rules are in the same file; src/anomalies reads them. */
export const topRule: MappingRule = {
  keys: ['budgets', 'anomalies', 'fiscalYear', 'table', 'changes'],
  expected: 'budgets: and a list of them',
};
export const scopeTexts = ['account', 'workspace', 'resource_type', 'resource_name', 'billing_dimension'] as const;
/** Dimensions that an allocation without its own has: where they stand elsewhere it is known what was meant. */
const usualOwners = ['team', 'product', 'environment'];
const budgetKeys = [
  ...['name', 'scope', 'parts', 'period', 'timeZone', 'amount', 'per', 'from', 'growth', 'rollover', 'limits'],
  ...['parent', 'thresholds', 'notify'],
];
const changeKeys = ['name', 'on', 'effect', 'scope'];
const exclusionKeys = ['scope', 'until', 'reason'];
const partKeys = ['name', 'scope'];
const rolloverKeys = ['cap'];
const perKeys = ['name', 'counts'];
const fiscalYearKeys = ['start', 'named', 'weeks', 'weekday', 'weekStart'];
const scopeKeys = [...scopeTexts, 'owner', 'label'];
const thresholdKeys = ['at', 'of', 'severity', 'notify', 'run', 'timeLimitSeconds'];
/** The keys of a budget file by level; its JSON schema is generated from them. */
export const budgetFileKeys = {
  top: topRule.keys,
  budget: budgetKeys,
  scope: scopeKeys,
  threshold: thresholdKeys,
  part: partKeys,
  change: changeKeys,
  exclusion: exclusionKeys,
  rollover: rolloverKeys,
  per: perKeys,
  fiscalYear: fiscalYearKeys,
} as const;
const places = {
  budget: { keys: budgetKeys, place: 'the budget itself' },
  scope: { keys: scopeKeys, place: 'scope' },
  owner: { keys: usualOwners, place: 'scope.owner' },
  threshold: { keys: thresholdKeys, place: 'a threshold' },
};
export const budgetRule: MappingRule = {
  keys: budgetKeys,
  expected: 'a budget such as - name: everything',
  elsewhere: [places.scope, places.owner, places.threshold],
};
export const scopeRule: MappingRule = {
  keys: scopeKeys,
  expected: 'a key such as workspace: research; write one or remove it',
  elsewhere: [places.owner, places.budget],
};
export const thresholdRule: MappingRule = {
  keys: thresholdKeys,
  expected: 'a threshold such as { at: 80% }',
  elsewhere: [places.budget],
};
export const partRule: MappingRule = {
  keys: partKeys,
  expected: 'a part such as { name: search, scope: { owner: { team: search } } }',
  elsewhere: [places.scope, places.owner, places.budget],
};
export const changeRule: MappingRule = {
  keys: changeKeys,
  expected: '{ name: launch, on: 2026-12-10, effect: +30% }',
  elsewhere: [places.scope, places.owner],
};
export const exclusionRule: MappingRule = {
  keys: exclusionKeys,
  expected: '{ scope: { workspace: load-tests }, until: 2026-12-31, reason: tests of the launch }',
  elsewhere: [places.scope, places.owner],
};
export const rolloverRule: MappingRule = {
  keys: rolloverKeys,
  expected: 'true, or a cap such as { cap: 20% }',
};
export const perRule: MappingRule = {
  keys: perKeys,
  expected: 'what is counted and its counts such as { name: order, counts: orders.csv }',
};
export const fiscalYearRule: MappingRule = {
  keys: fiscalYearKeys,
  expected: 'a fiscal year such as { start: april }',
};
