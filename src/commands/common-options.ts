import { resolve } from 'node:path';
import { messageOf, UsageError } from '../errors.ts';
import { type Instant, parseInstant } from '../time.ts';
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

/** The values of the common options. */
export interface CommonOptions {
  /** The project folder. */
  readonly dir: string;
  readonly now: () => Instant;
  readonly logFormat: 'human' | 'json';
  /** Whether the user asked for this format; otherwise it is the default. */
  readonly isFormatAsked: boolean;
  readonly json: boolean;
  readonly isExact: boolean;
}

/** Reads the common options: an option overrides its environment variable. Throws UsageError that lists every mistake. */
export function readCommonOptions(
  options: CommandInput['options'],
  env: NodeJS.ProcessEnv,
  isTerminal: boolean,
): CommonOptions {
  const problems: string[] = [];
  const fixedNow = text(options['now']) ?? env['COSTBOOK_NOW'];
  let now: () => Instant = Date.now;
  if (fixedNow) {
    try {
      const instant = parseInstant(fixedNow, options['now'] === undefined ? 'COSTBOOK_NOW' : '--now', Date.now());
      now = () => instant;
    } catch (error) {
      problems.push(messageOf(error));
    }
  }
  const askedFormat = text(options['logFormat']) ?? env['COSTBOOK_LOG_FORMAT'];
  const logFormat = askedFormat || (isTerminal ? 'human' : 'json');
  if (logFormat !== 'human' && logFormat !== 'json') {
    problems.push(`--log-format: "${logFormat}" is invalid; expected human or json`);
  }
  const askedJson = env['COSTBOOK_JSON'] ?? '';
  if (!['', '0', '1', 'false', 'true'].includes(askedJson)) {
    problems.push(`COSTBOOK_JSON: found "${askedJson}", expected 1 or true, or 0 or false`);
  }
  if (problems.length > 0) throw new UsageError(problems.join('\n'));
  return {
    dir: resolve(text(options['dir']) ?? (env['COSTBOOK_DIR'] || '.')),
    now,
    logFormat: logFormat === 'json' ? 'json' : 'human',
    isFormatAsked: Boolean(askedFormat),
    json: options['json'] === true || ['1', 'true'].includes(askedJson),
    isExact: options['exact'] === true,
  };
}

function text(value: CommandInput['options'][string]): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
