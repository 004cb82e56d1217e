import { shellWord } from '../text/shell-word.ts';
import type { Zone } from '../time/time.ts';
import type { Timetable } from './timetable.ts';

/** An option of a step: its key, its kind and its description. */
export type StepOption = {
  /** The command's flag in camel case, or the name of its argument. */
  readonly key: string;
  readonly about: string;
} & (
  | { readonly kind: 'text' | 'flag' | 'flagOrText' | 'date' | 'duration' | 'names' | 'list' | 'values' }
  | { readonly kind: 'choice' | 'choices'; readonly choices: readonly string[] }
);

interface StepRule {
  /** Steps of the same job that must succeed first, so that bad data is never published. */
  readonly needs: readonly StepName[];
  /** The option that is the command's argument. */
  readonly argument?: string;
  readonly required?: readonly string[];
  readonly options: readonly StepOption[];
}

/** The steps of a job, in their usual order; each runs the command of its name. */
export const stepNames = ['ingest', 'check', 'close', 'report', 'statement', 'summarize', 'alert'] as const;
export type StepName = (typeof stepNames)[number];

/** Export formats, as in `costbook report --format`. */
export const formats = ['csv', 'parquet', 'arrow', 'json', 'xlsx'] as const;

/** Each step with the options that a job may set. Options that only a person can decide are left out. */
export const stepRules: Readonly<Record<StepName, StepRule>> = {
  ingest: {
    needs: [],
    options: [
      {
        key: 'from',
        kind: 'date',
        about: 'consider only hours from this instant on; -1d is the start of yesterday in UTC',
      },
      { key: 'to', kind: 'date', about: 'consider only hours before this instant (exclusive)' },
      { key: 'refetch', kind: 'flag', about: 'fetch all hours of the range again, not only new and changed ones' },
    ],
  },
  check: {
    needs: [],
    options: [
      {
        key: 'changed',
        kind: 'flag',
        about: 'read only the months that changed since alert last ran; the others were checked before',
      },
    ],
  },
  close: {
    needs: ['ingest', 'check'],
    argument: 'month',
    required: ['month'],
    options: [
      { key: 'month', kind: 'text', about: 'last (the previous calendar month), or one month such as 2026-09' },
    ],
  },
  report: {
    needs: ['ingest', 'check', 'close'],
    argument: 'name',
    required: ['name'],
    options: [
      { key: 'name', kind: 'text', about: 'the name of the report; costbook report --list shows all' },
      {
        key: 'month',
        kind: 'text',
        about: 'last-complete, one month such as 2026-09, or a range such as 2026-01..2026-10',
      },
      { key: 'from', kind: 'text', about: 'the first day, for reports on days' },
      { key: 'to', kind: 'text', about: 'the end (exclusive), for reports on days' },
      { key: 'param', kind: 'values', about: 'other parameters of the report: { workspace: north }' },
      { key: 'format', kind: 'choices', choices: formats, about: 'file formats; by default those of the report' },
      { key: 'out', kind: 'text', about: 'the output folder; exports by default' },
      {
        key: 'excel',
        kind: 'flagOrText',
        about:
          'write a CSV for spreadsheets: two decimals, plain names, the currency; excel: de for those of that language',
      },
      { key: 'totals', kind: 'flag', about: 'in the CSV for spreadsheets, add a row with totals' },
      { key: 'by', kind: 'text', about: 'for chargeback reports: the dimension of owners, such as team' },
      { key: 'labels', kind: 'text', about: 'for cost_by_resource: a column for each of these labels: "team,env"' },
      {
        key: 'allowEmpty',
        kind: 'flag',
        about: 'write an empty report, instead of failing, if the books have no such value or period',
      },
      { key: 'raw', kind: 'flag', about: 'in CSV, do not escape text that looks like a formula' },
      {
        key: 'parquetDecimals',
        kind: 'choice',
        choices: ['exact', 'double'],
        about: 'how Parquet stores decimals; exact by default',
      },
      { key: 'focusVersion', kind: 'text', about: 'for the report focus: the FOCUS version, in quotes: "1.4"' },
      {
        key: 'grain',
        kind: 'choice',
        choices: ['hourly', 'daily'],
        about: 'for the report focus: the charge period; hourly by default',
      },
      { key: 'withDeprecatedColumns', kind: 'flag', about: 'for the report focus: add columns that FOCUS deprecates' },
      { key: 'requireComplete', kind: 'flag', about: 'fail and write nothing if the period is not complete' },
      { key: 'allowFiles', kind: 'list', about: 'more folders from which parameters may name files' },
      {
        key: 'engine',
        kind: 'choice',
        choices: ['duckdb', 'spark'],
        about: 'what answers: duckdb by default, or spark, the cluster of costbook.yaml over the lake',
      },
      { key: 'timeout', kind: 'duration', about: 'stop the report after this time, such as 10m; 1h by default' },
    ],
  },
  statement: {
    needs: ['ingest', 'check', 'close'],
    options: [
      { key: 'month', kind: 'text', about: 'last-complete, or one month such as 2026-09' },
      { key: 'owner', kind: 'text', about: 'only what this owner is charged' },
      { key: 'each', kind: 'choice', choices: ['owner'], about: 'owner: one statement for each owner' },
      { key: 'by', kind: 'text', about: 'the dimension of owners; team by default' },
      { key: 'format', kind: 'choices', choices: ['html', 'xlsx'], about: 'file formats; both by default' },
      { key: 'out', kind: 'text', about: 'the output folder; exports by default' },
      { key: 'requireComplete', kind: 'flag', about: 'fail and write nothing if the month is not complete' },
    ],
  },
  summarize: {
    needs: ['ingest', 'check'],
    options: [
      {
        key: 'period',
        kind: 'choice',
        choices: ['weekly', 'monthly'],
        about: 'the period to summarize; weekly by default',
      },
      { key: 'sink', kind: 'names', about: 'sinks that get the summary; by default those in alerts.notify' },
    ],
  },
  alert: { needs: [], options: [] },
};

/** A step: a command with its options as on a command line. */
export interface Step {
  readonly name: StepName;
  /** Its position: `file:line:column`. */
  readonly where?: string;
  /** Values by key; a flag is true, several values are a list. */
  readonly options: Readonly<Record<string, string | true | readonly string[]>>;
}

/** Addresses to call when a run starts and ends; each is a secret. */
export interface Ping {
  readonly start?: string | undefined;
  readonly success?: string | undefined;
  readonly fail?: string | undefined;
  readonly allowPrivateNetwork: boolean;
}

/** A schedule and its steps. */
export interface Job {
  /** The file's name without `.yaml`. */
  readonly name: string;
  readonly file: string;
  /** Whether the job comes with Costbook. */
  readonly isBuiltIn: boolean;
  /** The five fields as written. */
  readonly schedule: string;
  readonly timetable: Timetable;
  /** The time zone of the schedule. */
  readonly zone: Zone;
  /** At least one. */
  readonly steps: readonly Step[];
  /** The time limit of a run; undefined for no limit. */
  readonly timeoutMs: number | undefined;
  /** Whether missed slots are caught up by one run, or skipped. */
  readonly catchUp: 'once' | 'skip';
  /** Whether `costbook schedule` runs it; `costbook run` always does. */
  readonly isEnabled: boolean;
  readonly ping: Ping | undefined;
}

/** The command line of a step, without common options: `report focus --month last-complete --format csv`. */
export function commandLineOf({ name, options: given }: Step): string {
  const { argument, options } = stepRules[name];
  const words = [name, ...(argument === undefined ? [] : [String(given[argument] ?? '')])];
  for (const [key, value] of Object.entries(given)) {
    if (key === argument) continue;
    const flag = `--${key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
    if (value === true) words.push(flag);
    else if (options.find((option) => option.key === key)?.kind === 'flagOrText')
      words.push(`${flag}=${String(value)}`);
    else for (const one of typeof value === 'string' ? [value] : value) words.push(flag, one);
  }
  return words.map(shellWord).join(' ');
}
