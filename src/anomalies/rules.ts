import { parseUsd, readNames, refuse, sinkParser, topRule } from '../budgets/rules/index.ts';
import { moneyText } from '../money/money.ts';
import { refuseSeparators } from '../money/typed-number.ts';
import { quoted } from '../text/choices.ts';
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
} from '../yaml/index.ts';
import type { DetectionRules } from './detect.ts';
import { type Exclusion, readExclusions } from './exclusions.ts';

/** The rules of anomalies, and the sinks to notify. */
export interface AnomalyRules extends DetectionRules {
  /** False if anomaly detection is off. */
  readonly isOn: boolean;
  /** Names of the sinks to notify; empty means the default sinks. */
  readonly notify: readonly string[];
  /** Newest hours that cost this many times the usual are reported before their day is complete; undefined if none are. */
  readonly hourlyTimes: number | undefined;
  /** Costs whose anomalies raise no alert; the first that covers one counts. */
  readonly exclude: readonly Exclusion[];
}

/** The defaults, used if jobs/budgets.yaml sets nothing. */
export const usualRules: AnomalyRules = {
  ...{ isOn: true, minAmount: 5, minShare: 0.3, minDays: 14, notify: [] },
  hourlyTimes: 20,
  exclude: [],
};

/** The keys of `anomalies`; the JSON schema is generated from them. */
export const anomalyKeys = [
  'enabled',
  'minAmount',
  'minPercent',
  'minDays',
  'hourlyTimes',
  'notify',
  'exclude',
] as const;
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

/** Fewer days say too little about weekdays, and more days are not used for learning. */
const parseDays = integerParser(14, 42);

/** `20`, or `false` for none. Below 5 times, batches and busy days would be reported. */
const parseTimes: Parse<number | false> = (value, source) => {
  refuseSeparators(value, source);
  if (value === false) return false;
  const number = typeof value === 'string' && /^\d{1,4}$/.test(value) ? Number(value) : value;
  if (typeof number === 'number' && Number.isInteger(number) && number >= 5 && number <= 1000) return number;
  const found = typeof value === 'string' ? quoted(value) : String(value);
  return refuse(found, 'a whole number of times from 5 to 1000, or false');
};

/**
 * The anomaly rules in a project's budget file; the usual rules if it sets none or does not exist. Throws one
 * UsageError that lists every mistake in them, one per line: `file:line:column: …`.
 */
export function loadAnomalyRules(file: string, sinks: readonly string[] | undefined): AnomalyRules {
  const text = readYamlFile(file);
  return text === undefined ? usualRules : parseAnomalyRules({ text, file, sinks });
}

/** Parses the anomaly rules of a text. Pure. Throws as `loadAnomalyRules` does. */
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
  // Other mistakes in the file are reported when budgets are read.
  const given = isSound && root.value !== null ? keysOf(root, topRule, gatherProblems())?.get('anomalies') : undefined;
  const keys = given && keysOf(given, anomaliesRule, problems);
  const minAmount = readValue(keys?.get('minAmount'), parseUsd, problems);
  const hourlyTimes = readValue(keys?.get('hourlyTimes'), parseTimes, problems) ?? usualRules.hourlyTimes;
  const rules = {
    hourlyTimes: hourlyTimes === false ? undefined : hourlyTimes,
    isOn: readValue(keys?.get('enabled'), parseBoolean, problems) ?? usualRules.isOn,
    minAmount: minAmount === undefined ? usualRules.minAmount : Number(moneyText(minAmount)),
    minShare: readValue(keys?.get('minPercent'), parseShare, problems) ?? usualRules.minShare,
    minDays: readValue(keys?.get('minDays'), parseDays, problems) ?? usualRules.minDays,
    notify: readNames(keys?.get('notify'), sinkParser(sinks), 'a list of sinks', problems) ?? usualRules.notify,
    exclude: readExclusions(keys?.get('exclude'), problems),
  };
  problems.throwIfAny();
  return rules;
}
