import { month, type Option, text } from '../options/kinds.ts';
import { type CommandInput, flagOf, type GivenOptions } from '../options/read.ts';
import { options, type stepNames } from '../options/table.ts';
import { shellWord } from '../text/shell-word.ts';
import type { Zone } from '../time/time.ts';
import type { Timetable } from './timetable.ts';

export type StepName = (typeof stepNames)[number];

interface StepRule {
  /** Steps of the same job that must succeed first, so that bad data is never published. */
  readonly needs: readonly StepName[];
  /** The command's argument, which every such step names like an option. */
  readonly argument?: { readonly key: string; readonly option: Option };
}

/** What a step needs besides its options. */
export const stepRules: Readonly<Record<StepName, StepRule>> = {
  ingest: { needs: [] },
  check: { needs: [] },
  close: {
    needs: ['ingest', 'check'],
    argument: {
      key: 'month',
      option: month('month', 'last (the previous calendar month), or one month such as 2026-09'),
    },
  },
  report: {
    needs: ['ingest', 'check', 'close'],
    argument: { key: 'name', option: text('name', 'the name of the report; costbook report --list shows all') },
  },
  statement: { needs: ['ingest', 'check', 'close'] },
  summarize: { needs: ['ingest', 'check'] },
  subscriptions: { needs: ['ingest', 'check', 'close'] },
  alert: { needs: [] },
};

/** The options that a job may set for a step, by their keys. Those that only a person can decide are left out. */
export function stepOptions(name: StepName): readonly (readonly [key: string, Option])[] {
  const { argument } = stepRules[name];
  const ofCommand = Object.entries<Option>(options[name]).filter(([, { step }]) => step !== undefined);
  return argument === undefined ? ofCommand : [[argument.key, argument.option], ...ofCommand];
}

/** A step: a command with its options as on a command line. */
export interface Step {
  readonly name: StepName;
  /** Its position: `file:line:column`. */
  readonly where?: string;
  readonly line?: number | undefined;
  /** Values by key; a flag is true, several values are a list. */
  readonly options: Readonly<Record<string, NonNullable<GivenOptions[string]>>>;
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
  /** The line of its key; undefined if the file does not set it. */
  readonly timeoutLine: number | undefined;
  /** Whether missed slots are caught up by one run, or skipped. */
  readonly catchUp: 'once' | 'skip';
  /** Whether `costbook schedule` runs it; `costbook run` always does. */
  readonly isEnabled: boolean;
  readonly ping: Ping | undefined;
}

/** The command input of a step. */
export function inputOf({ name, options }: Step): CommandInput {
  const { argument } = stepRules[name];
  if (argument === undefined) return { arguments: [], options };
  const { [argument.key]: value, ...others } = options;
  return { arguments: [String(value)], options: others };
}

/** The command line of a step, without common options: `report focus --month last-complete --format csv`. */
export function commandLineOf({ name, options: given }: Step): string {
  const key = stepRules[name].argument?.key;
  const kinds = new Map(stepOptions(name).map(([option, { kind }]) => [option, kind]));
  const words = [name, ...(key === undefined ? [] : [String(given[key] ?? '')])];
  for (const [option, value] of Object.entries(given)) {
    if (option === key) continue;
    const flag = flagOf(option);
    if (value === true) words.push(flag);
    else if (kinds.get(option) === 'flagOrText') words.push(`${flag}=${String(value)}`);
    else for (const one of typeof value === 'string' ? [value] : value) words.push(flag, one);
  }
  return words.map(shellWord).join(' ');
}
