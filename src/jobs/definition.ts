import { shellWord } from '../shell-word.ts';
import type { Zone } from '../time.ts';
import type { Timetable } from './timetable.ts';

/** What an option of a step may be given as. */
export type StepOption = {
  /** As the command's flag is called, in camel case; what the command takes without a flag by its name. */
  readonly key: string;
  readonly about: string;
} & (
  | { readonly kind: 'text' | 'flag' | 'date' | 'duration' | 'names' | 'list' | 'values' }
  | { readonly kind: 'choice' | 'choices'; readonly choices: readonly string[] }
);

interface StepRule {
  /** Steps that must have gone well before, where the job has them: what they failed at must not leave the house. */
  readonly needs: readonly StepName[];
  /** The option that the command takes as its argument. */
  readonly argument?: string;
  readonly required?: readonly string[];
  readonly options: readonly StepOption[];
}

/** What a job can do, in the order in which it makes sense; each is the command of its name. */
export const stepNames = ['ingest', 'check', 'close', 'report', 'summarize', 'alert'] as const;
export type StepName = (typeof stepNames)[number];

/** What a report can be written as, by the names that `costbook report --format` has for it. */
export const formats = ['csv', 'parquet', 'arrow', 'json'] as const;

/** Each step with the options of its command that a job may say. What only a person can decide is none of them. */
export const stepRules: Readonly<Record<StepName, StepRule>> = {
  ingest: {
    needs: [],
    options: [
      { key: 'from', kind: 'date', about: 'look only at hours from here on: -1d is yesterday, from midnight UTC' },
      { key: 'to', kind: 'date', about: 'look only at hours before this' },
      { key: 'refetch', kind: 'flag', about: 'fetch everything in the range again' },
    ],
  },
  check: { needs: [], options: [] },
  close: {
    needs: ['ingest', 'check'],
    argument: 'month',
    required: ['month'],
    options: [
      { key: 'month', kind: 'text', about: 'last: the calendar month before now; or one month such as 2026-09' },
    ],
  },
  report: {
    needs: ['ingest', 'check', 'close'],
    argument: 'name',
    required: ['name'],
    options: [
      { key: 'name', kind: 'text', about: 'the report, as costbook report --list names it' },
      { key: 'month', kind: 'text', about: 'last-complete, one month such as 2026-09, or months: 2026-01..2026-10' },
      { key: 'from', kind: 'text', about: 'the first day, of a report that is about days' },
      { key: 'to', kind: 'text', about: 'the day after the last one' },
      { key: 'param', kind: 'values', about: 'any parameter of the report: { workspace: north }' },
      { key: 'format', kind: 'choices', choices: formats, about: 'by default what the report says' },
      { key: 'out', kind: 'text', about: 'the folder below which the files go; by default exports' },
      { key: 'excel', kind: 'flag', about: 'a CSV for people: two decimals, names, the currency' },
      { key: 'totals', kind: 'flag', about: 'in the CSV for people, a last row that adds up the amounts' },
      { key: 'by', kind: 'text', about: 'of chargeback reports: by which dimension of owners, such as team' },
      { key: 'labels', kind: 'text', about: 'of cost_by_resource: a column for each of these labels: "team,env"' },
      { key: 'allowEmpty', kind: 'flag', about: 'answer although the books do not know a value or the period' },
      { key: 'raw', kind: 'flag', about: 'in CSV, leave text that looks like a formula as it is' },
      { key: 'parquetDecimals', kind: 'choice', choices: ['exact', 'double'], about: 'exact by default' },
      { key: 'focusVersion', kind: 'text', about: 'of the report focus, in quotes: "1.4"' },
      { key: 'grain', kind: 'choice', choices: ['hourly', 'daily'], about: 'of the report focus: hourly by default' },
      { key: 'withDeprecatedColumns', kind: 'flag', about: 'of the report focus: also deprecated columns' },
      { key: 'requireComplete', kind: 'flag', about: 'fail, writing nothing, where the period is not complete' },
      { key: 'allowFiles', kind: 'list', about: 'folders below which files that parameters name may also be' },
      { key: 'timeout', kind: 'duration', about: 'end the report after so long, such as 10m; 1h by default' },
    ],
  },
  summarize: {
    needs: ['ingest', 'check'],
    options: [
      { key: 'period', kind: 'choice', choices: ['weekly', 'monthly'], about: 'weekly by default' },
      { key: 'sink', kind: 'names', about: 'who is told; by default those of alerts.notify' },
    ],
  },
  alert: { needs: [], options: [] },
};

/** One step: a command with its options as they would stand on a command line. */
export interface Step {
  readonly name: StepName;
  /** Where it is written: `file:line:column`. */
  readonly where?: string;
  /** By key; a flag is true, several values are a list. */
  readonly options: Readonly<Record<string, string | true | readonly string[]>>;
}

/** Who is told that a run begins and how it ended; each address is a secret. */
export interface Ping {
  readonly start: string | undefined;
  readonly success: string | undefined;
  readonly fail: string | undefined;
  readonly allowPrivateNetwork: boolean;
}

/** A schedule and its steps. */
export interface Job {
  /** The file's name without `.yaml`. */
  readonly name: string;
  readonly file: string;
  /** Whether it is one of those that come with Costbook. */
  readonly isBuiltIn: boolean;
  /** The five fields as they were written. */
  readonly schedule: string;
  readonly timetable: Timetable;
  /** By whose clocks the schedule is. */
  readonly zone: Zone;
  /** At least one. */
  readonly steps: readonly Step[];
  /** How long a run may take; undefined where it may take as long as it takes. */
  readonly timeoutMs: number | undefined;
  /** Whether a slot that was missed, or several, is made up for by one run, or left to the next slot. */
  readonly catchUp: 'once' | 'skip';
  /** Whether `costbook schedule` runs it; `costbook run` does in any case. */
  readonly isEnabled: boolean;
  readonly ping: Ping | undefined;
}

/** The command line that a step is, without common options: `report focus --month last-complete --format csv`. */
export function commandLineOf({ name, options }: Step): string {
  const { argument } = stepRules[name];
  const words = [name, ...(argument === undefined ? [] : [String(options[argument] ?? '')])];
  for (const [key, value] of Object.entries(options)) {
    if (key === argument) continue;
    const flag = `--${key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
    if (value === true) words.push(flag);
    else for (const one of typeof value === 'string' ? [value] : value) words.push(flag, one);
  }
  return words.map(shellWord).join(' ');
}
