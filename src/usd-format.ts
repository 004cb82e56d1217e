import { decimalOfWhole, rounded, wholeOfDecimal } from './decimals.ts';
import { usdDecimals, withSeparators } from './money.ts';

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
