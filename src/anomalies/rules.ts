import { parseUsd, readNames, refuse, sinkParser, topRule } from '../budgets/index.ts';
import { quoted } from '../choices.ts';
import {
  gatherProblems,
  integerParser,
  keysOf,
  type MappingRule,
  type Parse,
  parseBoolean,
  parseYaml,
  readValue,
  readYamlFile,
} from '../config/index.ts';
import { decimalOfWhole } from '../decimals.ts';
import { usdDecimals } from '../money.ts';
import type { DetectionRules } from './detect.ts';

/** What is an anomaly, and who is told. */
export interface AnomalyRules extends DetectionRules {
  /** False where nobody wants to know. */
  readonly isOn: boolean;
  /** Names of the sinks that are told; none where nobody else is named than everybody. */
  readonly notify: readonly string[];
}

/** What holds where jobs/budgets.yaml says nothing. */
export const usualRules: AnomalyRules = { isOn: true, minAmount: 5, minShare: 0.3, minDays: 14, notify: [] };

/** The keys of anomalies: what its schema is made of. */
export const anomalyKeys = ['enabled', 'minAmount', 'minPercent', 'minDays', 'notify'] as const;
const anomaliesRule: MappingRule = {
  keys: anomalyKeys,
  expected: 'a key such as minAmount: 5 USD; write one or remove it',
};

/** `30%` as 0.3. */
const parseShare: Parse<number> = (value) => {
  const [, digits] = typeof value === 'string' ? (/^(\d{1,4}(?:\.\d{1,4})?)%$/.exec(value) ?? []) : [];
  const percent = Number(digits ?? 0);
  if (percent >= 5 && percent <= 1000) return percent / 100;
  const found = typeof value === 'string' ? quoted(value) : String(value);
  return refuse(found, 'a share of what is expected from 5% to 1000%, such as 30%');
};

/** Fewer days tell too little of weekdays; of more than these nothing is learned. */
const parseDays = integerParser(14, 42);

/**
 * What a project's file of budgets says of anomalies; the usual rules where it says nothing, or is not there. Throws one
 * UsageError that lists every problem of theirs, one a line: `file:line:column: …`.
 */
export function loadAnomalyRules(file: string, sinks: readonly string[] | undefined): AnomalyRules {
  const text = readYamlFile(file);
  return text === undefined ? usualRules : parseAnomalyRules({ text, file, sinks });
}

/** What a text says of anomalies. Pure. Throws as `loadAnomalyRules`. */
export function parseAnomalyRules({
  text,
  file,
  sinks,
}: {
  readonly text: string;
  readonly file: string;
  readonly sinks?: readonly string[] | undefined;
}): AnomalyRules {
  const problems = gatherProblems();
  const { root, isSound } = parseYaml(text, file, gatherProblems());
  // What is wrong elsewhere in the file is told by who reads the budgets.
  const given = isSound && root.value !== null ? keysOf(root, topRule, gatherProblems())?.get('anomalies') : undefined;
  const keys = given && keysOf(given, anomaliesRule, problems);
  const minAmount = readValue(keys?.get('minAmount'), parseUsd, problems);
  const rules = {
    isOn: readValue(keys?.get('enabled'), parseBoolean, problems) ?? usualRules.isOn,
    minAmount: minAmount === undefined ? usualRules.minAmount : Number(decimalOfWhole(minAmount, usdDecimals)),
    minShare: readValue(keys?.get('minPercent'), parseShare, problems) ?? usualRules.minShare,
    minDays: readValue(keys?.get('minDays'), parseDays, problems) ?? usualRules.minDays,
    notify: readNames(keys?.get('notify'), sinkParser(sinks), 'a list of sinks', problems) ?? usualRules.notify,
  };
  problems.throwIfAny();
  return rules;
}
