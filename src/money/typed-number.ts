import { UsageError } from '../base/errors.ts';
import { quoted } from '../text/choices.ts';
import { trimmedDecimal, typedDecimal } from './money.ts';

// A point, a comma, apostrophes, an underscore, Arabic separators, and every kind of space.
const separated = /^([+-]?)(\d+(?:[.,'’_\u066b\u066c\s]\d+)*)(\D.*)?$/su;

/**
 * Why a number that a person typed is not taken: its digits are separated as in another country, or could be, as in `5.000`,
 * which is five or five thousand. Names each reading as it can be written. What stands behind the number, such as a unit, is
 * kept. Undefined for a plain number, and for what is no number. Pure.
 */
export function spellingFault(text: string): string | undefined {
  const [, sign = '', digits = '', rest = ''] = separated.exec(text.trim()) ?? [];
  const readings = readingsOf(digits).map((reading) => `${sign}${reading}`);
  if (readings.length === 0) return undefined;
  const why =
    readings.length === 1
      ? 'with separators between the digits'
      : `which some read as ${readings.map(trimmedDecimal).join(' and some as ')}`;
  return `found ${quoted(text)}, ${why}; write ${readings.map((reading) => `${reading}${rest}`).join(' or ')}`;
}

/** Throws UsageError with the fault of a typed number, if it has one; `source` is a YAML number as it is written. */
export function refuseSeparators(value: unknown, source = ''): void {
  const fault = spellingFault(typeof value === 'string' ? value : source);
  if (fault !== undefined && typeof value !== 'object') throw new UsageError(fault);
}

/** The plain decimals that separated digits may mean; none if they are plain themselves, or grouped as nobody does. */
function readingsOf(digits: string): readonly string[] {
  const separators = (digits.match(/\D/g) ?? []).map((one) => (/\s/.test(one) ? ' ' : one));
  const groups = digits.split(/\D/);
  const [first = '', second = ''] = groups;
  const [separator = ''] = separators;
  const joined = groups.join('');
  if (separators.length === 0) return [];
  if (separators.length === 1 && isOfDecimals(separator)) {
    const decimal = `${first}.${second}`;
    if (isGrouped(groups)) return [joined, typedDecimal(decimal)];
    return separator === '.' ? [] : [decimal];
  }
  if (new Set(separators).size === 1) return isGrouped(groups) ? [joined] : [];
  // The last separator is that of the decimals if it is another one than those before it.
  const last = groups.at(-1) ?? '';
  const areOthersSame = new Set(separators.slice(0, -1)).size === 1 && isOfDecimals(separators.at(-1) ?? '');
  const whole = groups.slice(0, -1);
  return areOthersSame && isGrouped(whole) ? [`${whole.join('')}.${last}`] : [];
}

/** Whether decimals may stand behind a separator: nobody writes them behind a space. */
function isOfDecimals(separator: string): boolean {
  return /[.,\u066b]/.test(separator);
}

/** Groups of three digits, or in India of two before the last three; a number that starts with 0 is not grouped. */
function isGrouped(groups: readonly string[]): boolean {
  const [first = '', ...others] = groups;
  const before = others.slice(0, -1).map(({ length }) => length);
  return (
    /^[1-9]\d{0,2}$/.test(first) &&
    others.at(-1)?.length === 3 &&
    (before.every((length) => length === 3) || (before.every((length) => length === 2) && first.length <= 2))
  );
}
