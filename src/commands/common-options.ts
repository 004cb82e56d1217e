import { resolve } from 'node:path';
import { messageOf, mistakenSettings, UsageError } from '../base/errors.ts';
import type { ProgramEffects } from '../base/program-effects.ts';
import { parseChoice, parseTrueOrFalse } from '../text/choices.ts';
import { type Instant, parseInstant } from '../time/time.ts';
import type { CommandInput } from './command.ts';

/** Options that every command takes, before or after its name. */
export const commonOptions = [
  { flags: '--dir <dir>', summary: 'project folder (COSTBOOK_DIR); the current folder by default' },
  {
    flags: '--now <instant>',
    summary: 'use this instant as the current time (COSTBOOK_NOW); timeouts and waits use real time',
  },
  { flags: '--json', summary: 'print one JSON value on stdout and nothing else (COSTBOOK_JSON=1)' },
  { flags: '--exact', summary: 'on a terminal: show every decimal and column, as in a pipe' },
  { flags: '--log-format <format>', summary: 'human or json (COSTBOOK_LOG_FORMAT); human on a terminal by default' },
] as const;

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
  options: CommandInput['options'],
  {
    env,
    folder,
    clock,
    isTerminal,
  }: Pick<ProgramEffects, 'env' | 'folder' | 'clock'> & { readonly isTerminal: boolean },
): CommonOptions {
  const problems: string[] = [];
  const fixedNow = text(options['now']) ?? env['COSTBOOK_NOW'];
  function attempt<T>(read: () => T, where = ''): T | undefined {
    try {
      return read();
    } catch (error) {
      problems.push(where + messageOf(error));
      return undefined;
    }
  }
  const nowSource = options['now'] === undefined ? 'COSTBOOK_NOW' : '--now';
  const instant = fixedNow ? attempt(() => parseInstant(fixedNow, nowSource, clock())) : undefined;
  const askedFormat = text(options['logFormat']) ?? env['COSTBOOK_LOG_FORMAT'];
  const logFormat = attempt(
    () => parseChoice(askedFormat || (isTerminal ? 'human' : 'json'), ['human', 'json']),
    '--log-format: ',
  );
  const askedJson = env['COSTBOOK_JSON'] ?? '';
  const json = attempt(() => parseTrueOrFalse(jsonWords.get(askedJson) ?? askedJson), 'COSTBOOK_JSON: ');
  return {
    mistakes: problems.length === 0 ? undefined : new UsageError(problems.join('\n'), { code: mistakenSettings }),
    dir: resolve(folder, text(options['dir']) ?? (env['COSTBOOK_DIR'] || '.')),
    now: instant === undefined ? clock : () => instant,
    logFormat: logFormat === 'json' ? 'json' : 'human',
    isFormatAsked: Boolean(askedFormat),
    json: options['json'] === true || json === true,
    isExact: options['exact'] === true,
  };
}

function text(value: CommandInput['options'][string]): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
