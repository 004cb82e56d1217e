import type { Log } from '../base/effects.ts';
import { forLog, forTerminal } from '../text/safe-text.ts';
import { formatInstant, formatSecond, type Instant } from '../time/time.ts';

export interface LogPlace {
  /** Writes one line, without a line feed, to the log. */
  say(line: string): void;
  /** Real time, also with `--now`. */
  now(): Instant;
  /** The number of the process's run; undefined if it has none. */
  runNumber(): number | undefined;
}

/** A log, and messages for people that go to the same place. */
export interface LogWriter extends Log {
  /** Writes messages for people: as log events in JSON, otherwise unchanged. */
  tell(words: string): void;
}

/** One JSON object per line, for machines: time, level, run, event and its fields. */
export function jsonLog({ say, now, runNumber }: LogPlace): LogWriter {
  function line(
    level: 'info' | 'warn' | 'error',
    event: string,
    message: string,
    fields: Record<string, unknown> = {},
  ): void {
    const run = runNumber();
    const own = { at: formatInstant(now()), level, ...(run === undefined ? {} : { run }), event, message };
    say(forLog(JSON.stringify({ ...own, ...fields, ...own }))); // no field may replace one of these
  }
  return {
    info: (event, message, fields) => line('info', event, message, fields),
    warn: (event, message, fields) => line('warn', event, message, fields),
    tell(words) {
      const [, kind, rest = words] = /^(costbook|warning): (.*)$/s.exec(words) ?? [];
      line(
        kind === 'costbook' ? 'error' : kind === 'warning' ? 'warn' : 'info',
        `command.${kind === 'costbook' ? 'failed' : kind === 'warning' ? 'warned' : 'answered'}`,
        rest,
      );
    },
  };
}

/** Warnings whose facts the answer of the command has too. */
const answeredEvents: ReadonlySet<string> = new Set([
  'account.outdated',
  'listing.failed',
  'listing.partial',
  'listing.refused',
  'listing.shrunk',
  'past.unproven',
  'step.failed',
  'window.retried',
  'window.unproven',
  'window.young',
]);

/**
 * One sentence per line, for people; with a timestamp unless a terminal shows it live. With `isAnswered`, the same
 * terminal shows the command's answer, so that warnings that the answer repeats are left out.
 */
export function humanLog(
  { say, now, runNumber }: LogPlace,
  { isSeen, isAnswered = false }: { readonly isSeen: boolean; readonly isAnswered?: boolean },
): Log {
  function line(mark: string, message: string, fields: Record<string, unknown> = {}): void {
    const run = runNumber();
    const details = Object.entries({ ...(run === undefined ? {} : { run }), ...fields })
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => `${name} ${textOf(value)}`);
    const when = isSeen ? '' : `${formatSecond(now())} `;
    say([`${when}${mark}${forTerminal(message)}`, ...details.map((detail) => forTerminal(detail))].join(' · '));
  }
  return {
    info: (_event, message, fields) => line('', message, fields),
    warn(event, message, fields) {
      if (!isAnswered || !answeredEvents.has(event)) line('warning: ', message, fields);
    },
  };
}

function textOf(value: unknown): string {
  if (Array.isArray(value)) return value.map(textOf).join(', ');
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value);
}
