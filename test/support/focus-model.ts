import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Connection } from '../../src/warehouse/store/connection.ts';

/** The FOCUS project's rule models are next to the checkout, as data with their own licence. */
export const modelFolder = join(
  dirname(fileURLToPath(new URL('../../package.json', import.meta.url))),
  '../shared/focus',
);

/** Whether the rule models are there; without them nothing can be said. */
export const hasModels = existsSync(join(modelFolder, 'model-1.4.json'));

/** A check, or several joined by AND and OR; the arguments of a check are next to its name. */
interface Check {
  readonly CheckFunction?: string;
  readonly Items?: readonly Check[];
  readonly ModelRuleId?: string;
  readonly ColumnName?: string;
  readonly ColumnAName?: string;
  readonly ColumnBName?: string;
  readonly ResultColumnName?: string;
  readonly ExpectedCount?: number;
  readonly Value?: string | number | null;
}

interface Rule {
  readonly Function: string;
  readonly EntityType: string;
  readonly Status: string;
  readonly Type: 'Static' | 'Dynamic';
  readonly ApplicabilityCriteria: readonly string[];
  readonly ValidationCriteria: {
    readonly Keyword: string;
    readonly Requirement: Check;
    readonly Condition: Check;
    readonly Dependencies: readonly string[];
  };
}

/** A version's rules for Cost and Usage, as far as they are reached from its root. */
export interface FocusModel {
  readonly criteria: readonly string[];
  readonly rules: ReadonlyMap<string, Rule>;
}

/** What became of a rule. */
export type Outcome =
  | { readonly outcome: 'pass' }
  | { readonly outcome: 'fail'; readonly violations: number }
  | { readonly outcome: 'skip'; readonly why: 'dynamic' | 'optional' | 'not applicable' | 'never executed' | 'empty' };

/** Reads a version's model: the rules that its root asks for, and those that these depend on. */
export function readModel(version: string): FocusModel {
  const model = JSON.parse(readFileSync(join(modelFolder, `model-${version}.json`), 'utf8')) as {
    ApplicabilityCriteria: Record<string, unknown>;
    ModelDatasets: Record<string, { ModelRules: string[] }>;
    ModelRules: Record<string, Rule>;
  };
  const rules = new Map<string, Rule>();
  const left = [...(model.ModelDatasets['CostAndUsage']?.ModelRules ?? [])];
  for (let id = left.pop(); id !== undefined; id = left.pop()) {
    const rule = model.ModelRules[id];
    if (rule === undefined) throw new Error(`the model names rule ${id} and has none`);
    if (rules.has(id)) continue;
    if (rule.Status === 'Removed') throw new Error(`the model asks for rule ${id}, which it has removed`);
    rules.set(id, rule);
    left.push(...referencesOf(rule.ValidationCriteria.Requirement), ...rule.ValidationCriteria.Dependencies);
  }
  return { criteria: Object.keys(model.ApplicabilityCriteria), rules };
}

/** The columns that a model asks to be present. */
export function columnsOfModel(model: FocusModel): string[] {
  const names = [...model.rules.values()].flatMap(({ ValidationCriteria: { Requirement } }) =>
    Requirement.CheckFunction === 'ColumnPresent' ? [String(Requirement.ColumnName)] : [],
  );
  return [...new Set(names)].sort();
}

/**
 * Runs a model's static rules over a table. `claims` are the criteria that the data's provider says are met: rules that
 * ask for others are left out, with all that only they ask for. Throws for an empty table, which no rule tells anything
 * about, and for a check that this executor does not know.
 *
 * A rule that joins others by AND fails where one of them does, by OR where all do; its condition holds for them too.
 * Conditions are read as they are meant: "is not Correction" is true of null.
 */
export async function runModel(
  connection: Connection,
  table: string,
  model: FocusModel,
  claims: readonly string[],
): Promise<Map<string, Outcome>> {
  const described = await connection.rows(`select column_name from (describe ${table})`);
  const columns = new Set(described.map((row) => String(row['column_name'])));
  const [size] = await connection.rows(`select count(*) as rows from ${table}`);
  if (Number(size?.['rows']) === 0) throw new Error(`${table} is empty: there is nothing to validate`);

  const askers = askersOf(model);
  const outcomes = new Map<string, Outcome>();
  const counted: { id: string; sql: string }[] = [];
  for (const [id, rule] of model.rules) {
    const { Requirement, Keyword } = rule.ValidationCriteria;
    const name = Requirement.CheckFunction ?? '';
    if (!isApplicable(id, model, askers, claims)) outcomes.set(id, { outcome: 'skip', why: 'not applicable' });
    else if (rule.Type === 'Dynamic') outcomes.set(id, { outcome: 'skip', why: 'dynamic' });
    else if (Keyword === 'MAY') outcomes.set(id, { outcome: 'skip', why: 'optional' });
    // What it asks beyond the column's type nobody has written down.
    else if (name === 'CheckDecimalValue') outcomes.set(id, { outcome: 'skip', why: 'never executed' });
    else if (referencesOf(Requirement).length > 0) continue;
    else {
      const condition = conditionSql(id, model, askers);
      const missing = [...columnsOf(Requirement), ...condition.columns].some((column) => !columns.has(column));
      if (missing) outcomes.set(id, { outcome: 'fail', violations: Number(size?.['rows']) });
      else counted.push({ id, sql: violationsSql(Requirement, condition.sql, table) });
    }
  }
  // One query for all: a scan of its own for each rule would take a hundred times as long.
  const totals = counted.map(({ sql }, index) => `(${sql}) as v${index}`).join(',\n');
  const [violations = {}] = await connection.rows(`select ${totals}`);
  for (const [index, { id }] of counted.entries()) {
    const count = Number(violations[`v${index}`]);
    outcomes.set(id, count === 0 ? { outcome: 'pass' } : { outcome: 'fail', violations: count });
  }
  for (const id of model.rules.keys()) settle(id, model, outcomes);
  return outcomes;
}

/** The rules that failed by themselves, not because one that they join did, in order. */
export function failures(model: FocusModel, outcomes: ReadonlyMap<string, Outcome>): string[] {
  return [...outcomes]
    .filter(([id, { outcome }]) => {
      const requirement = model.rules.get(id)?.ValidationCriteria.Requirement ?? {};
      return outcome === 'fail' && referencesOf(requirement).length === 0;
    })
    .map(([id]) => id)
    .sort();
}

/** The checks by which a model's static rules are decided, all or these of them. */
export function checksOf(model: FocusModel, ids: Iterable<string> = model.rules.keys()): Set<string> {
  const names = new Set<string>();
  function gather(check: Check): void {
    const name = check.CheckFunction ?? '';
    if (check.Items) for (const item of check.Items) gather(item);
    else if (name !== 'CheckModelRule' && name !== 'CheckDecimalValue') names.add(name);
  }
  for (const id of ids) {
    const rule = model.rules.get(id);
    if (rule?.Type === 'Static' && rule.ValidationCriteria.Keyword !== 'MAY')
      gather(rule.ValidationCriteria.Requirement);
  }
  return names;
}

/** The rules that a requirement joins. */
function referencesOf(check: Check): string[] {
  if (check.ModelRuleId !== undefined) return [check.ModelRuleId];
  return (check.Items ?? []).flatMap(referencesOf);
}

/** By rule, those that join it with others. */
function askersOf(model: FocusModel): Map<string, string[]> {
  const askers = new Map<string, string[]>();
  for (const [id, rule] of model.rules) {
    for (const asked of referencesOf(rule.ValidationCriteria.Requirement)) {
      askers.set(asked, [...(askers.get(asked) ?? []), id]);
    }
  }
  return askers;
}

function isApplicable(
  id: string,
  model: FocusModel,
  askers: ReadonlyMap<string, readonly string[]>,
  claims: readonly string[],
): boolean {
  const criteria = model.rules.get(id)?.ApplicabilityCriteria ?? [];
  // The official engine takes one of several for enough; that runs more rules than asking for all of them.
  if (criteria.length > 0 && !criteria.some((criterion) => claims.includes(criterion))) return false;
  const above = askers.get(id) ?? [];
  return above.length === 0 || above.some((asker) => isApplicable(asker, model, askers, claims));
}

/** What a rule that joins others comes to, once it is known what they came to. */
function settle(id: string, model: FocusModel, outcomes: Map<string, Outcome>): Outcome {
  const known = outcomes.get(id);
  if (known) return known;
  const requirement = model.rules.get(id)?.ValidationCriteria.Requirement ?? {};
  const executed = referencesOf(requirement)
    .map((asked) => settle(asked, model, outcomes))
    .filter(({ outcome }) => outcome !== 'skip');
  const failed = executed.filter(({ outcome }) => outcome === 'fail');
  const fails = requirement.CheckFunction === 'OR' ? failed.length === executed.length : failed.length > 0;
  const result: Outcome =
    executed.length === 0
      ? { outcome: 'skip', why: 'empty' }
      : fails
        ? { outcome: 'fail', violations: failed.length }
        : { outcome: 'pass' };
  outcomes.set(id, result);
  return result;
}

/** For which rows a rule speaks: its own condition, and one of those of the rules that ask for it. */
function conditionSql(
  id: string,
  model: FocusModel,
  askers: ReadonlyMap<string, readonly string[]>,
): { sql: string; columns: readonly string[] } {
  const own = model.rules.get(id)?.ValidationCriteria.Condition ?? {};
  const above = (askers.get(id) ?? []).map((asker) => conditionSql(asker, model, askers));
  const anyAbove = above.length === 0 ? 'true' : above.map(({ sql }) => `(${sql})`).join(' or ');
  return {
    sql: `(${holdsSql(own)}) and (${anyAbove})`,
    columns: [...columnsOf(own), ...above.flatMap(({ columns }) => columns)],
  };
}

function columnsOf(check: Check): string[] {
  if (check.Items) return check.Items.flatMap(columnsOf);
  const { CheckFunction, ColumnName, ColumnAName, ColumnBName, ResultColumnName } = check;
  if (CheckFunction === undefined) return [];
  return [ColumnName, ColumnAName, ColumnBName, ResultColumnName].filter((name) => name !== undefined);
}

/**
 * Whether a condition is true. A condition that the model defines wrongly (without a function or column) is ignored.
 */
function holdsSql(condition: Check): string {
  if (condition.CheckFunction === undefined) return 'true';
  if (condition.CheckFunction === 'AND')
    return condition.Items?.map((item) => `(${holdsSql(item)})`).join(' and ') ?? 'true';
  if (condition.CheckFunction === 'OR')
    return condition.Items?.map((item) => `(${holdsSql(item)})`).join(' or ') ?? 'true';
  if (columnsOf(condition).length === 0) return 'true';
  return `not (${violatesSql(condition)})`;
}

/** A query for the number of rows that meet a condition and violate a requirement. */
function violationsSql(requirement: Check, condition: string, table: string): string {
  if (requirement.CheckFunction === 'ColumnPresent') return 'select 0';
  if (requirement.CheckFunction === 'CheckDistinctCount') {
    const [one, other] = [quoted(requirement.ColumnAName), quoted(requirement.ColumnBName)];
    return `select count(*) from (
      select ${one} from ${table} where ${condition} group by ${one}
      having count(distinct ${other}) <> ${requirement.ExpectedCount}
    )`;
  }
  return `select count(*) from ${table} where (${condition}) and (${violatesSql(requirement)})`;
}

/** Whether one row violates a requirement. */
function violatesSql(check: Check): string {
  const name = check.CheckFunction ?? '';
  if (name === 'AND') return (check.Items ?? []).map((item) => `(${violatesSql(item)})`).join(' or ');
  if (name === 'OR') return (check.Items ?? []).map((item) => `(${violatesSql(item)})`).join(' and ');
  const write = checks[name];
  if (write === undefined) throw new Error(`the model asks for ${name}, which this executor does not know`);
  return write(check);
}

const instant = `'[0-9]{4}-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]:[0-5][0-9]Z'`;
const instantTypes = `('TIMESTAMP', 'TIMESTAMP_NS', 'TIMESTAMP WITH TIME ZONE', 'DATE')`;

/** Each check as SQL that is true if a row violates it. Only checks about null apply to nulls. */
const checks: Readonly<Record<string, (check: Check) => string>> = {
  CheckValue: ({ ColumnName, Value }) =>
    Value === null ? `${quoted(ColumnName)} is not null` : `${quoted(ColumnName)} <> ${literal(Value)}`,
  CheckNotValue: ({ ColumnName, Value }) => `${quoted(ColumnName)} is not distinct from ${literal(Value)}`,
  CheckSameValue: ({ ColumnAName, ColumnBName }) => `${quoted(ColumnAName)} is distinct from ${quoted(ColumnBName)}`,
  CheckNotSameValue: ({ ColumnAName, ColumnBName }) =>
    `${quoted(ColumnAName)} is not distinct from ${quoted(ColumnBName)}`,
  CheckGreaterOrEqualThanValue: ({ ColumnName, Value }) =>
    `try_cast(${quoted(ColumnName)} as double) < ${literal(Value)}`,
  // As doubles: the product of two decimals may have more digits than a decimal can.
  ColumnByColumnEqualsColumnValue: ({ ColumnAName, ColumnBName, ResultColumnName }) => {
    const [a, b, product] = [ColumnAName, ColumnBName, ResultColumnName].map(
      (name) => `cast(${quoted(name)} as double)`,
    );
    return `abs(${a} * ${b} - ${product}) > 1e-9 * greatest(abs(${product}), 1)`;
  },
  TypeString: ({ ColumnName }) => `${quoted(ColumnName)} is not null and typeof(${quoted(ColumnName)}) <> 'VARCHAR'`,
  TypeDecimal: ({ ColumnName }) =>
    `${quoted(ColumnName)} is not null and not regexp_matches(typeof(${quoted(ColumnName)}), '^(DECIMAL|DOUBLE|FLOAT)')`,
  TypeDateTime: ({ ColumnName }) =>
    `${quoted(ColumnName)} is not null and typeof(${quoted(ColumnName)}) not in ${instantTypes}
      and not regexp_full_match(cast(${quoted(ColumnName)} as varchar), ${instant})`,
  TypeJSON: ({ ColumnName }) =>
    `${quoted(ColumnName)} is not null and (typeof(${quoted(ColumnName)}) not in ('JSON', 'VARCHAR')
      or not json_valid(cast(${quoted(ColumnName)} as varchar)))`,
  FormatNumeric: ({ ColumnName }) =>
    `typeof(${quoted(ColumnName)}) not in ('DOUBLE', 'FLOAT')
      and not regexp_full_match(cast(${quoted(ColumnName)} as varchar), '-?[0-9]+([.][0-9]+)?(E-?[0-9]+)?')`,
  FormatDateTime: ({ ColumnName }) =>
    `${quoted(ColumnName)} is not null and typeof(${quoted(ColumnName)}) not in ${instantTypes}
      and not (regexp_full_match(cast(${quoted(ColumnName)} as varchar), ${instant})
        and try_cast(${quoted(ColumnName)} as timestamp) is not null)`,
  // The specification has no such rule; the models have.
  FormatString: ({ ColumnName }) => `not regexp_full_match(cast(${quoted(ColumnName)} as varchar), '[\\x00-\\x7F]*')`,
  FormatUnit: ({ ColumnName }) => `not regexp_full_match(cast(${quoted(ColumnName)} as varchar), '${unit}')`,
  FormatCurrency: ({ ColumnName }) => `not regexp_full_match(cast(${quoted(ColumnName)} as varchar), '[A-Z]{3}')`,
  CheckNationalCurrency: ({ ColumnName }) =>
    `${quoted(ColumnName)} not in (${Intl.supportedValuesOf('currency').map(literal).join(', ')})`,
  FormatJSON: ({ ColumnName }) => `not json_valid(cast(${quoted(ColumnName)} as varchar))`,
  FormatKeyValue: ({ ColumnName }) => {
    const text = `cast(${quoted(ColumnName)} as varchar)`;
    return `${quoted(ColumnName)} is not null and case
      when not json_valid(${text}) or json_type(${text}) <> 'OBJECT' then true
      else len(json_keys(${text})) <> len(list_distinct(json_keys(${text})))
        or len(list_filter(json_extract(${text}, '$.*'), lambda item : json_type(item) in ('OBJECT', 'ARRAY'))) > 0
      end`;
  },
  // Schemas of JSON are not executed here: only null is known to satisfy one.
  CheckJSONSchema: ({ ColumnName }) => `${quoted(ColumnName)} is not null`,
};

/** FOCUS's unit format: a unit alone, a unit for a time, a unit over a time, and a quantity of a unit. */
const unit = (() => {
  const size = '([KMGTPE]i?)?[bB]';
  const times = '(Years|Months|Days|Hours|Minutes|Seconds)';
  const time = '(Year|Month|Day|Hour|Minute|Second)';
  const count = '[A-Za-z][A-Za-z0-9]*( [A-Za-z][A-Za-z0-9]*)*';
  const some = `(${size}|${count})`;
  return `(${some}|${some}-${times}|${some}/${time}|[0-9]+ ${some}|${some}/[0-9]+ ${times})`;
})();

function quoted(column: string | undefined): string {
  return `"${column}"`;
}

function literal(value: string | number | null | undefined): string {
  if (value === null || value === undefined) return 'null';
  return typeof value === 'number' ? String(value) : `'${value.replaceAll("'", "''")}'`;
}
