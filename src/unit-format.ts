import { decimalOfWhole, roundDecimal, rounded, wholeOfDecimal } from './decimals.ts';
import { cents, usd, usdDecimals, withSeparators } from './money.ts';
import { amount } from './usd-format.ts';

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
export function shownAmount(whole: bigint, unit = usdUnit): string {
  if (unit === usdUnit) return cents(whole);
  if (!isRatio(unit)) {
    return whole >= muchUsage ? String(rounded(whole, 10n ** BigInt(usdDecimals))) : cents(whole);
  }
  return decimalOfWhole(rounded(whole, 10n ** BigInt(usdDecimals - ratioDecimals)), ratioDecimals);
}

/** An amount of the books as text, for a sentence: `4,512.30 USD`, `2,000,000 GB-seconds`, `0.05 USD per order`. */
export function inUnit(text: string, unit = usdUnit): string {
  if (unit === usdUnit) return usd(text);
  const whole = wholeOfDecimal(text, usdDecimals);
  const rough = shownAmount(whole, unit);
  const isLost = whole !== 0n && Number(rough) === 0;
  const shown = isLost ? decimalOfWhole(whole, usdDecimals) : rough;
  return `${withSeparators(isRatio(unit) || isLost ? atLeastCents(shown) : shown)} ${unit}`;
}

/** Like `inUnit`, of trillionths. */
export function wholeInUnit(whole: bigint, unit = usdUnit): string {
  return inUnit(decimalOfWhole(whole, usdDecimals), unit);
}

/** An amount with thousands separators: `12,345.60`, `2,000,000` of usage, or `0.048312` for a cost per unit. */
export function groupedAmount(text: string, unit = usdUnit): string {
  if (isRatio(unit)) return atLeastCents(shownAmount(wholeOfDecimal(text, usdDecimals), unit));
  const grouped = amount(text);
  return unit !== usdUnit && grouped.length > '999.00'.length
    ? amount(roundDecimal(text, 0)).replace(/\.00$/, '')
    : grouped;
}

/** Decimals without the zeros at the end, but two at least. */
function atLeastCents(text: string): string {
  return text.replace(/(\.\d\d\d*?)0+$/, '$1');
}
