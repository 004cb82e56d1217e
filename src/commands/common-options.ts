import { resolve } from 'node:path';
import { mistakenSettings, UsageError } from '../base/errors.ts';
import type { ProgramEffects } from '../base/program-effects.ts';
import type { Option } from '../options/kinds.ts';
import { type GivenOptions, type Reading, reading } from '../options/read.ts';
import { commonOptions } from '../options/table.ts';
import { parseTrueOrFalse } from '../text/choices.ts';
import { formatInstant, type Instant } from '../time/time.ts';

/** No clock shows a later time. */
const lastNow = Date.UTC(9000, 0, 1);

/** COSTBOOK_JSON may also be 1, 0 or empty. */
const jsonWords: ReadonlyMap<string, string> = new Map([
  ['1', 'true'],
  ['0', 'false'],
  ['', 'false'],
]);

/** The values of the common options. */
export interface CommonOptions {
  /** What is wrong with them; they then have their defaults. */
  readonly mistakes: UsageError | undefined;
  /** The project folder. */
  readonly dir: string;
  readonly now: () => Instant;
  readonly logFormat: 'human' | 'json';
  /** Whether the user asked for this format; otherwise it is the default. */
  readonly isFormatAsked: boolean;
  readonly json: boolean;
  readonly isExact: boolean;
}

/** Reads the common options: an option overrides its environment variable. A mistake is left out, and all are listed. */
export function readCommonOptions(
  options: GivenOptions,
  {
    env,
    folder,
    clock,
    isTerminal,
  }: Pick<ProgramEffects, 'env' | 'folder' | 'clock'> & { readonly isTerminal: boolean },
): CommonOptions {
  const given = reading(commonOptions, { options }, { effects: { now: clock } });
  const { dir, now, logFormat, json, exact } = given.values;
  /** What a variable says if the option is not given. */
  function orVariable<T>(isGiven: boolean, option: Option<T>, value: T, variable: string): T {
    const text = env[variable];
    if (isGiven || !text) return value;
    return given.attempt(() => option.read([text], { flag: variable, now: clock() })) ?? value;
  }
  const { isGiven, attempt } = given;
  const instant = orVariable(isGiven.now, commonOptions.now, now, 'COSTBOOK_NOW');
  // What follows it, such as a week later, has to be a date of four digits too.
  if (instant !== undefined && instant >= lastNow)
    given.problem(`--now: found ${formatInstant(instant)}, expected an instant before ${formatInstant(lastNow)}`);
  const format = orVariable(isGiven.logFormat, commonOptions.logFormat, logFormat, 'COSTBOOK_LOG_FORMAT');
  const askedJson = env['COSTBOOK_JSON'] ?? '';
  const isJson = attempt(() => parseTrueOrFalse(jsonWords.get(askedJson) ?? askedJson), 'COSTBOOK_JSON: ');
  return {
    mistakes: mistakesOf(given),
    dir: resolve(folder, dir ?? (env['COSTBOOK_DIR'] || '.')),
    now: instant === undefined ? clock : () => instant,
    logFormat: format ?? (isTerminal ? 'human' : 'json'),
    isFormatAsked: format !== undefined,
    json: json || isJson === true,
    isExact: exact,
  };
}

function mistakesOf({ check }: Pick<Reading<typeof commonOptions>, 'check'>): UsageError | undefined {
  try {
    check();
    return undefined;
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    return new UsageError(error.mistakes, { code: mistakenSettings });
  }
}

/** Whether somebody chose the time, so that it is not the clock's. */
export function isNowGiven(
  { options }: { readonly options: GivenOptions },
  { env }: Pick<ProgramEffects, 'env'>,
): boolean {
  return options['now'] !== undefined || Boolean(env['COSTBOOK_NOW']);
}
