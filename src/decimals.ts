/**
 * The shortest decimal that reads back as the same double, written without an exponent: `3.5e-7` is `0.00000035`.
 * A number that the platform wrote with up to 15 significant digits keeps all its digits.
 */
export function plainDecimal(value: number): string {
  const text = String(value);
  const match = /^(-?)(\d+)(?:\.(\d+))?e([+-]\d+)$/.exec(text);
  if (!match) return text;
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = match;
  const digits = whole + fraction;
  const point = whole.length + Number(exponent);
  if (point <= 0) return `${sign}0.${'0'.repeat(-point)}${digits}`;
  if (point >= digits.length) return `${sign}${digits}${'0'.repeat(point - digits.length)}`;
  return `${sign}${digits.slice(0, point)}.${digits.slice(point)}`;
}

/** A decimal's text as a whole number of its last place: `1.5` with three decimals is 1500. Throws for other texts and for more decimals. */
export function wholeOfDecimal(text: string, decimals: number): bigint {
  const [, whole, fraction = ''] = /^(-?\d+)(?:\.(\d+))?$/.exec(text) ?? [];
  if (whole === undefined || fraction.length > decimals) {
    throw new Error(`"${text}" is not a number with at most ${decimals} decimals`);
  }
  return BigInt(whole + fraction.padEnd(decimals, '0'));
}

/** The inverse of `wholeOfDecimal`: 1500 with three decimals is `1.500`. */
export function decimalOfWhole(whole: bigint, decimals: number): string {
  const digits = String(whole < 0n ? -whole : whole).padStart(decimals + 1, '0');
  const sign = whole < 0n ? '-' : '';
  return decimals === 0 ? sign + digits : `${sign}${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`;
}

/** A decimal's text rounded to at most this many decimals, half away from zero; any other text is unchanged. */
export function roundDecimal(text: string, decimals: number): string {
  const [, sign = '', whole = '', fraction = ''] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(text) ?? [];
  if (whole === '' || fraction.length <= decimals) return text;
  const isUp = (fraction[decimals] ?? '0') >= '5';
  const rounded = decimalOfWhole(BigInt(whole + fraction.slice(0, decimals)) + (isUp ? 1n : 0n), decimals);
  return /[1-9]/.test(rounded) ? sign + rounded : rounded;
}

/** A quotient rounded to the nearest whole number; `divisor` is above 0. */
export function rounded(dividend: bigint, divisor: bigint): bigint {
  const half = dividend < 0n ? -divisor / 2n : divisor / 2n;
  return (dividend + half) / divisor;
}

/** The decimal that is farthest from 0, without its sign; undefined for none. Pure. */
export function largestMagnitude(decimals: readonly string[]): string | undefined {
  return decimals.map((decimal) => decimal.replace('-', '')).toSorted((a, b) => Number(b) - Number(a))[0];
}

/** `1234.500000000000` becomes `1234.5`, `-0.000` becomes `0`: equal numbers have equal texts. Takes plain decimal text. */
export function trimmedDecimal(text: string): string {
  const whole = text.replace(/^(-?)0+(?=\d)/, '$1');
  const short = whole.includes('.') ? whole.replace(/\.?0+$/, '') : whole;
  return short === '-0' ? '0' : short;
}

/** A decimal as a person can type it without a doubt: `1.860` is `1.86`, and `1.125` is `1.1250`. Pure. */
export function typedDecimal(decimal: string): string {
  const shortest = trimmedDecimal(decimal);
  return /^-?[1-9]\d{0,2}\.\d{3}$/.test(shortest) ? `${shortest}0` : shortest;
}

/** The larger of two whole numbers, which Math.max does not take. */
export function largerOf(one: bigint, other: bigint): bigint {
  return [one, other].reduce((a, b) => (b > a ? b : a));
}
