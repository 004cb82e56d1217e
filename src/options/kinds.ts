import { UsageError } from '../base/errors.ts';
import { parseChoice, quoted } from '../text/choices.ts';
import {
  floorHour,
  formatInstant,
  type Instant,
  parseDuration,
  parseInstant,
  parseMonth,
  type Window,
} from '../time/time.ts';

/** What a value is read with: its flag, such as `--max-rows`, and the present. */
export interface Asked {
  readonly flag: string;
  readonly now: Instant;
}

/** What an option takes. Help, completion, the reader of a command line, and the steps of jobs come from it. */
export interface Option<T = unknown> {
  readonly kind:
    | 'flag'
    | 'flagOrText'
    | 'text'
    | 'month'
    | 'hour'
    | 'duration'
    | 'choice'
    | 'choices'
    | 'names'
    | 'list'
    | 'pairs';
  readonly summary: string;
  /** The name of its value in the help; a flag has none. */
  readonly value?: string;
  readonly choices?: readonly string[];
  /** Its short form: `f` is `-f`. */
  readonly letter?: string;
  /** The action of the command that it belongs to, `''` if only without one; by default to all. */
  readonly action?: string;
  /** Whether a job's step may set it; as text, its summary there, where the value is written in another way. */
  readonly step?: true | string;
  /** The value of the texts that were given; none if the option was not. Throws UsageError that names the flag. */
  read(texts: readonly string[], asked: Asked): T;
}

interface Choosing<T extends string, V> extends Option<V> {
  readonly choices: readonly T[];
}

type More = Pick<Option, 'letter' | 'step' | 'action'>;
type Parse<T> = (text: string, asked: Asked) => T;

/** The text that was given; commander would take the last of several. */
function once([first, ...others]: readonly string[], flag: string): string | undefined {
  const other = others.find((text) => text !== first);
  if (first === undefined || other === undefined) return first;
  throw new UsageError(
    `${flag}: found ${quoted(first)} and ${quoted(other)}, expected one value: give the option once`,
  );
}

function readOnce<T>(parse: Parse<T>): Option<T | undefined>['read'] {
  return (texts, asked) => {
    const text = once(texts, asked.flag);
    return text === undefined ? undefined : parse(text, asked);
  };
}

/** What `parse` makes of each item. Throws one UsageError with the mistakes of all, each line after the flag. */
export function eachOf<T>(items: readonly string[], flag: string, parse: (item: string) => T): readonly T[] {
  const mistakes: string[] = [];
  const results = items.flatMap((item) => {
    try {
      return [parse(item)];
    } catch (error) {
      if (!(error instanceof UsageError)) throw error;
      mistakes.push(`${flag}: ${error.message}`);
      return [];
    }
  });
  if (mistakes.length > 0) throw new UsageError(mistakes.join('\n'));
  return results;
}

function itemsOf(text: string): string[] {
  return [...new Set(text.split(',').map((item) => item.trim()))];
}

/** A flag without a value. */
export function flag(summary: string, more: More = {}): Option<boolean> {
  return { kind: 'flag', summary, ...more, read: (texts) => texts.length > 0 };
}

/** A flag that may have a value, as `--excel=de`. */
export function flagOrText(value: string, summary: string, more: More = {}): Option<string | true | undefined> {
  return { kind: 'flagOrText', value, summary, ...more, read: readOnce((text) => (text === '' ? true : text)) };
}

/** A text whose meaning `parse` knows; it throws UsageError without the flag. */
export function parsed<T>(
  value: string,
  summary: string,
  parse: (text: string, now: Instant) => T,
  more: More = {},
): Option<T | undefined> {
  const read = readOnce((text, asked) => eachOf([text], asked.flag, () => parse(text, asked.now))[0]);
  return { kind: 'text', value, summary, ...more, read };
}

export function text(value: string, summary: string, more: More = {}): Option<string | undefined> {
  return { kind: 'text', value, summary, ...more, read: readOnce((given) => given) };
}

/** An instant written by a person. */
export function instant(value: string, summary: string, more: More = {}): Option<Instant | undefined> {
  const read = readOnce((given, asked) => parseInstant(given, asked.flag, asked.now));
  return { kind: 'text', value, summary, ...more, read };
}

/** An instant at a whole hour. */
export function hour(value: string, summary: string, more: More = {}): Option<Instant | undefined> {
  const read = readOnce((given, asked) => {
    const found = parseInstant(given, asked.flag, asked.now);
    if (floorHour(found) === found) return found;
    throw new UsageError(`${asked.flag}: ${quoted(given)} is not a whole hour`);
  });
  return { kind: 'hour', value, summary, ...more, read };
}

/** A calendar month, or `last` for the latest that is over. */
export function month(value: string, summary: string): Option<Window | undefined> {
  const read = readOnce((given, asked) => parseMonth(given, asked.flag, asked.now));
  return { kind: 'month', value, summary, read };
}

/** An instant that is not after now, or `now`. */
export function asOf(value: string, summary: string): Option<Instant | 'now' | undefined> {
  const read = readOnce((given, asked) => {
    if (given === 'now') return given;
    const found = parseInstant(given, asked.flag, asked.now);
    if (found <= asked.now) return found;
    throw new UsageError(
      `${asked.flag}: ${formatInstant(found)} is in the future; expected an instant up to ${formatInstant(asked.now)}`,
    );
  });
  return { kind: 'text', value, summary, read };
}

/** Milliseconds of a time such as `90s`, `10m` or `2h`, within limits if there are any. */
export function duration(
  value: string,
  summary: string,
  { limits, ...more }: More & { readonly limits?: { readonly expected: string; isIn(ms: number): boolean } } = {},
): Option<number | undefined> {
  const read = readOnce((given, asked) => {
    const ms = parseDuration(given);
    if (ms !== undefined && (limits?.isIn(ms) ?? true)) return ms;
    const expected = (ms === undefined ? undefined : limits?.expected) ?? 'a duration such as 90s, 10m or 2h';
    throw new UsageError(`${asked.flag}: found ${quoted(given)}, expected ${expected}`);
  });
  return { kind: 'duration', value, summary, ...more, read };
}

/** A whole number from `least` to `most`. */
export function whole(
  value: string,
  summary: string,
  { least, most = Number.MAX_SAFE_INTEGER }: { readonly least: number; readonly most?: number },
): Option<number | undefined> {
  const { read } = parsed(value, summary, wholeFrom(least, most));
  return { kind: 'text', value, summary, read };
}

/** Comma-separated whole numbers, each from `least`. */
export function wholes(value: string, summary: string, least: number): Option<readonly number[] | undefined> {
  const read = readOnce((given, asked) =>
    eachOf(given.split(','), asked.flag, wholeFrom(least, Number.MAX_SAFE_INTEGER)),
  );
  return { kind: 'text', value, summary, read };
}

function wholeFrom(least: number, most: number): (given: string) => number {
  const expected = `a whole number from ${least}${most === Number.MAX_SAFE_INTEGER ? '' : ` to ${most}`}`;
  return (given) => {
    const number = /^\d{1,15}$/.test(given.trim()) ? Number(given) : Number.NaN;
    if (number >= least && number <= most) return number;
    throw new UsageError(`found ${quoted(given)}, expected ${expected}`);
  };
}

/** A number between 0 and 1. */
export function share(value: string, summary: string): Option<number | undefined> {
  return parsed(value, summary, (given) => {
    const found = /^0?\.\d+$/.test(given) ? Number(given) : 0;
    if (found > 0) return found;
    throw new UsageError(`found ${quoted(given)}, expected a number between 0 and 1, such as 0.8`);
  });
}

/** A TCP port; 0 stands for a free one. */
export function port(summary: string): Option<number | undefined> {
  return whole('port', summary, { least: 0, most: 65_535 });
}

/** One of `choices`. */
export function choice<const T extends string>(
  value: string,
  choices: readonly T[],
  summary: string,
  more: More = {},
): Choosing<T, T | undefined> {
  const { read } = parsed(value, summary, (given) => parseChoice(given, choices));
  return { kind: 'choice', value, choices, summary, ...more, read };
}

/** Comma-separated names, each one of `choices`. */
export function choices<const T extends string>(
  value: string,
  all: readonly T[],
  summary: string,
  more: More = {},
): Choosing<T, readonly T[] | undefined> {
  const read = readOnce((given, asked) => eachOf(itemsOf(given), asked.flag, (item) => parseChoice(item, all)));
  return { kind: 'choices', value, choices: all, summary, ...more, read };
}

/** Comma-separated names that the command knows. */
export function names(value: string, summary: string, more: More = {}): Option<readonly string[] | undefined> {
  return { kind: 'names', value, summary, ...more, read: readOnce(itemsOf) };
}

/** Texts of an option that may be given several times. */
export function list(value: string, summary: string, more: More = {}): Option<readonly string[]> {
  return { kind: 'list', value, summary, ...more, read: (texts) => texts };
}

/** Names and their values, of an option that may be given several times: `--param workspace=north`. */
export function pairs(
  summary: string,
  more: More = {},
): Option<readonly (readonly [name: string, value: string | undefined])[]> {
  const read = (texts: readonly string[]) =>
    texts.map((given) => {
      const [name = '', ...rest] = given.split('=');
      return [name, rest.length === 0 ? undefined : rest.join('=')] as const;
    });
  return { kind: 'pairs', value: 'name=value', summary, ...more, read };
}

/** The option with the value that it has if it is not given. */
export function usually<T, O extends Option<T | undefined>>(
  option: O & Option<T | undefined>,
  usual: NoInfer<T>,
): Omit<O, 'read'> & Pick<Option<T>, 'read'> {
  return { ...option, read: (texts, asked) => option.read(texts, asked) ?? usual };
}
