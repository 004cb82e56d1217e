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

/** Decimals of USD amounts in the books. */
export const usdDecimals = 12;

/** An amount of the books: trillionths of a USD, or of another unit. Exact. */
export type Money = bigint;

/** An amount, or its decimal text as the books give it. */
export type Amount = Money | string;

/** An amount of decimal text; throws for any other text, and for more decimals than the books have. */
export function moneyOf(amount: Amount): Money {
  return typeof amount === 'bigint' ? amount : wholeOfDecimal(amount, usdDecimals);
}

/** The decimal text of an amount, with all decimals of the books: `4512.300000000000`. */
export function moneyText(amount: Money): string {
  return decimalOfWhole(amount, usdDecimals);
}

/** The exact sum of amounts, as text. */
export function sumOf(amounts: readonly Amount[]): string {
  return moneyText(amounts.reduce((sum: Money, one) => sum + moneyOf(one), 0n));
}

/** What an amount has more than another one, as text. */
export function difference(one: Amount, other: Amount): string {
  return moneyText(moneyOf(one) - moneyOf(other));
}

/** ISO 4217: the currencies whose amounts have other decimals than two. */
const otherDecimals: Readonly<Record<number, string>> = {
  0: 'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF',
  3: 'BHD IQD JOD KWD LYD OMR TND',
  4: 'CLF UYW',
};

/** The decimals with which people write amounts of a currency: 2 of EUR, none of JPY, 3 of KWD. */
export function currencyDecimals(code: string): number {
  const [decimals = '2'] = Object.entries(otherDecimals).find(([, codes]) => codes.split(' ').includes(code)) ?? [];
  return Number(decimals);
}

/** A sum to the cent: `4,512.30 USD`. A fraction of a cent is not shown as 0.00. */
export function usd(sum: Amount, isSigned = false): string {
  return `${withSeparators(plainUsd(sum, isSigned))} USD`;
}

/** As `usd`, for machines: `4512.30`. */
export function plainUsd(sum: Amount, isSigned = false): string {
  const whole = moneyOf(sum);
  const rough = cents(whole);
  const shown = whole !== 0n && Number(rough) === 0 ? moneyText(whole).replace(/0+$/, '') : rough;
  return `${isSigned && whole > 0n ? '+' : ''}${shown}`;
}

/** USD to the cent: `4512.30`. */
export function cents(usd: Amount): string {
  return decimalOfWhole(rounded(moneyOf(usd), 10_000_000_000n), 2);
}

/**
 * Parts of a sum in whole cents that add up to the sum in whole cents: those with the largest remainders are rounded up. A part
 * below a cent stays as it is. Decimal text. Pure.
 */
export function centsAddingUp(parts: readonly Amount[], whole: Amount): readonly string[] {
  const cent = 10n ** BigInt(usdDecimals - 2);
  const exact = parts.map((part) => moneyOf(part));
  const floors = exact.map((part) => part / cent - (part % cent < 0n ? 1n : 0n));
  const missing = rounded(moneyOf(whole), cent) - floors.reduce((sum, part) => sum + part, 0n);
  const order = exact
    .map((part, index) => ({ index, left: part - (floors[index] ?? 0n) * cent }))
    .toSorted((a, b) => Number(b.left - a.left));
  if (missing < 0n || missing > BigInt(parts.length)) return exact.map(moneyText); // they are not all of the sum
  const up = new Set(order.slice(0, Number(missing)).map(({ index }) => index));
  return exact.map((part, index) => moneyText(((floors[index] ?? 0n) + (up.has(index) ? 1n : 0n)) * cent || part));
}

/** A sum as a percentage of another, to a tenth; 100 only if it is reached. */
export function percentOf(value: Amount, whole: Amount): number {
  const divisor = moneyOf(whole);
  if (divisor === 0n) return 0;
  const part = moneyOf(value);
  const share = Number(rounded(part * 1000n, divisor)) / 10;
  return part < divisor ? Math.min(share, 99.9) : share;
}

const oneUsd = 10n ** BigInt(usdDecimals);

/** Decimal text with thousands separators: `12,345.60`. */
export function withSeparators(decimal: string): string {
  const [whole = '', ...fraction] = decimal.split('.');
  return [whole.replace(/\B(?=(\d{3})+$)/g, ','), ...fraction].join('.');
}

/** An estimate without sign: `1,475 USD`, and below 10 USD `4.06 USD`; or in another unit. */
export function roughly(sum: Amount, of = 'USD'): string {
  const signed = moneyOf(sum);
  const whole = signed < 0n ? -signed : signed;
  return whole < 10n * oneUsd
    ? usd(whole).replace('USD', of)
    : `${withSeparators(String(rounded(whole, oneUsd)))} ${of}`;
}

/** USD to the cent with thousands separators: `12,345.60`; or with other decimals. Accepts decimal text of any precision. */
export function amount(text: string, decimals = 2): string {
  const unscaled = rounded(wholeOfDecimal(padded(text), usdDecimals), 10n ** BigInt(usdDecimals - decimals));
  return withSeparators(decimalOfWhole(unscaled, decimals));
}

/** An amount with its sign: `+1.20`, `-3.00`, `0.00`. */
export function signed(text: string): string {
  const shown = amount(text);
  return Number(text) > 0 && !/^0\.00$/.test(shown) ? `+${shown}` : shown;
}

/** The relative change as `+12.4 %`; undefined where nothing was before. */
export function relative(now: string, before: string): string | undefined {
  const base = Number(before);
  if (base === 0) return undefined;
  const share = ((Number(now) - base) / Math.abs(base)) * 100;
  return `${share > 0 ? '+' : ''}${share.toFixed(1)} %`;
}

/** Decimal text with the twelve decimals of the books. */
function padded(text: string): string {
  const [whole = '0', fraction = ''] = text.split('.');
  return `${whole}.${fraction.padEnd(12, '0').slice(0, 12)}`;
}

/** The unit of amounts that do not name one. */
export const usdUnit = 'USD';

/** Decimals of a cost per unit, which is often less than a cent. */
const ratioDecimals = 6;

/** Whether an amount is a cost per unit: `USD per order`. */
export function isRatio(unit: string): boolean {
  return unit.startsWith('USD per ');
}

/** From here on, usage is shown without decimals. */
const muchUsage = 1000n * 10n ** BigInt(usdDecimals);

/**
 * An amount of the books for people, without its unit: with cents, with six decimals for a cost per unit, and without
 * decimals for much usage.
 */
export function shownAmount(sum: Amount, unit = usdUnit): string {
  const whole = moneyOf(sum);
  if (unit === usdUnit) return cents(whole);
  if (!isRatio(unit)) {
    return whole >= muchUsage ? String(rounded(whole, 10n ** BigInt(usdDecimals))) : cents(whole);
  }
  return decimalOfWhole(rounded(whole, 10n ** BigInt(usdDecimals - ratioDecimals)), ratioDecimals);
}

/** An amount of the books as text, for a sentence: `4,512.30 USD`, `2,000,000 GB-seconds`, `0.05 USD per order`. */
export function inUnit(sum: Amount, unit = usdUnit): string {
  if (unit === usdUnit) return usd(sum);
  const whole = moneyOf(sum);
  const rough = shownAmount(whole, unit);
  const isLost = whole !== 0n && Number(rough) === 0;
  const shown = isLost ? moneyText(whole) : rough;
  return `${withSeparators(isRatio(unit) || isLost ? atLeastCents(shown) : shown)} ${unit}`;
}

/** An amount with thousands separators: `12,345.60`, `2,000,000` of usage, or `0.048312` for a cost per unit. */
export function groupedAmount(sum: Amount, unit = usdUnit): string {
  if (isRatio(unit)) return atLeastCents(shownAmount(sum, unit));
  const text = typeof sum === 'bigint' ? moneyText(sum) : sum;
  const grouped = amount(text);
  return unit !== usdUnit && grouped.length > '999.00'.length
    ? amount(roundDecimal(text, 0)).replace(/\.00$/, '')
    : grouped;
}

/** Decimals without the zeros at the end, but two at least. */
function atLeastCents(text: string): string {
  return text.replace(/(\.\d\d\d*?)0+$/, '$1');
}
