import { UsageError } from '../base/errors.ts';
import type { AsOf } from '../reports/questions/index.ts';
import { parseChoice } from '../text/choices.ts';
import {
  dayMs,
  floorHour,
  formatInstant,
  type Instant,
  parseDuration,
  parseInstant,
  parseMonth,
  type Window,
} from '../time/time.ts';
import type { CommandInput } from './command.ts';

/** Collects the mistakes of a command line, so that all are reported at once. */
export function optionReader(
  input: CommandInput,
  now: Instant,
): {
  text(name: string): string | undefined;
  /** All values of a repeatable option. */
  texts(name: string): readonly string[];
  flag(name: string): boolean;
  /** An instant written by a person, at a whole hour. */
  hour(name: string): Instant | undefined;
  /** The hours from `--from` until before `--to`; both may be missing. */
  range(): { readonly from: Instant | undefined; readonly to: Instant | undefined };
  month(name: string): Window | undefined;
  /** `--as-of`: an instant written by a person, not after now, or `now`. */
  asOf(): AsOf | undefined;
  /** One of `choices`. */
  choice<T extends string>(name: string, choices: readonly T[]): T | undefined;
  /** Comma-separated names, each one of `choices`. */
  choices(name: string, choices: readonly string[]): string[] | undefined;
  /** Milliseconds of a duration such as `90s`, `10m` or `2h`. */
  duration(name: string): number | undefined;
  /** A whole number of at least 1. */
  count(name: string): number | undefined;
  /** A TCP port; 0 stands for a free one. */
  port(name: string): number | undefined;
  problem(text: string): void;
  /** Throws UsageError with every problem found so far. */
  check(): void;
} {
  const problems: string[] = [];
  function text(name: string): string | undefined {
    const value = input.options[name];
    return typeof value === 'string' ? value : undefined;
  }
  function attempt<T>(read: () => T, where = ''): T | undefined {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof UsageError)) throw error;
      problems.push(where + error.message);
      return undefined;
    }
  }
  function hour(name: string): Instant | undefined {
    const value = text(name);
    if (value === undefined) return undefined;
    return attempt(() => {
      const instant = parseInstant(value, `--${name}`, now);
      if (floorHour(instant) !== instant) throw new UsageError(`--${name}: "${value}" is not a whole hour`);
      return instant;
    });
  }
  return {
    text,
    texts(name) {
      const value = input.options[name];
      return Array.isArray(value) ? value : [];
    },
    flag: (name) => input.options[name] === true,
    hour,
    range() {
      const [from, to] = [hour('from'), hour('to')];
      if (from !== undefined && to !== undefined && from >= to) {
        problems.push(`--from must be before --to: found ${formatInstant(from)} and ${formatInstant(to)}`);
      }
      return { from, to };
    },
    month(name) {
      const value = text(name);
      return value === undefined ? undefined : attempt(() => parseMonth(value, `--${name}`, now));
    },
    asOf() {
      const value = text('asOf');
      if (value === undefined || value === 'now') return value;
      return attempt(() => {
        const instant = parseInstant(value, '--as-of', now);
        if (instant > now) {
          throw new UsageError(
            `--as-of: ${formatInstant(instant)} is in the future; expected an instant up to ${formatInstant(now)}`,
          );
        }
        return instant;
      });
    },
    choice(name, choices) {
      const value = text(name);
      return value === undefined ? undefined : attempt(() => parseChoice(value, choices), `--${optionName(name)}: `);
    },
    choices(name, choices) {
      const value = text(name);
      if (value === undefined) return undefined;
      const chosen = value
        .split(',')
        .map((choice) => attempt(() => parseChoice(choice.trim(), choices), `--${optionName(name)}: `));
      return [...new Set(chosen.filter((choice) => choice !== undefined))];
    },
    duration(name) {
      const value = text(name);
      const ms = value === undefined ? undefined : parseDuration(value);
      if (value !== undefined && ms === undefined) {
        problems.push(`--${name}: "${value}" is not a duration; expected one such as 90s, 10m or 2h`);
      }
      return ms;
    },
    count(name) {
      const value = text(name);
      if (value === undefined) return undefined;
      if (/^[1-9]\d{0,14}$/.test(value)) return Number(value);
      problems.push(`--${optionName(name)}: "${value}" is invalid; expected a whole number from 1`);
      return undefined;
    },
    port(name) {
      const value = text(name);
      if (value === undefined) return undefined;
      if (/^\d{1,5}$/.test(value) && Number(value) < 65_536) return Number(value);
      problems.push(`--${optionName(name)}: "${value}" is not a port; expected a number from 0 to 65535`);
      return undefined;
    },
    problem: (problem) => problems.push(problem),
    check() {
      if (problems.length > 0) throw new UsageError(problems.join('\n'));
    },
  };
}

/** `parquetDecimals` as a flag: `parquet-decimals`. */
function optionName(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

/** `--timeout` in milliseconds; anything but a time up to a day is reported as a problem. */
export function timeoutOf(options: ReturnType<typeof optionReader>): number | undefined {
  const timeoutMs = options.duration('timeout');
  if (timeoutMs === 0 || (timeoutMs ?? 0) > dayMs) {
    options.problem('--timeout: expected a time above zero and at most 24h');
  }
  return timeoutMs;
}
