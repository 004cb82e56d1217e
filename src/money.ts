import { decimalOfWhole, rounded, wholeOfDecimal } from './decimals.ts';

/** Decimals of USD amounts in the books. */
export const usdDecimals = 12;

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
export function usd(text: string, isSigned = false): string {
  return `${withSeparators(plainUsd(text, isSigned))} USD`;
}

/** As `usd`, for machines: `4512.30`. */
export function plainUsd(text: string, isSigned = false): string {
  const whole = wholeOfDecimal(text, usdDecimals);
  const rough = cents(whole);
  const shown = whole !== 0n && Number(rough) === 0 ? decimalOfWhole(whole, usdDecimals).replace(/0+$/, '') : rough;
  return `${isSigned && whole > 0n ? '+' : ''}${shown}`;
}

/** USD to the cent, of trillionths: `4512.30`. */
export function cents(usd: bigint): string {
  return decimalOfWhole(rounded(usd, 10_000_000_000n), 2);
}

/** A sum of the books as text, with all its decimals, to the cent: `4512.30`. */
export function centsOfText(text: string): string {
  return cents(BigInt(text.replace('.', '')));
}

/** A sum as a percentage of another, to a tenth; 100 only if it is reached. */
export function percentOf(value: string, whole: string): number {
  const divisor = wholeOfDecimal(whole, usdDecimals);
  if (divisor === 0n) return 0;
  const part = wholeOfDecimal(value, usdDecimals);
  const share = Number(rounded(part * 1000n, divisor)) / 10;
  return part < divisor ? Math.min(share, 99.9) : share;
}

const unit = 10n ** BigInt(usdDecimals);

/** Decimal text with thousands separators: `12,345.60`. */
export function withSeparators(decimal: string): string {
  const [whole = '', ...fraction] = decimal.split('.');
  return [whole.replace(/\B(?=(\d{3})+$)/g, ','), ...fraction].join('.');
}

/** An estimate without sign: `1,475 USD`, and below 10 USD `4.06 USD`; or in another unit. */
export function roughly(text: string, of = 'USD'): string {
  const signed = wholeOfDecimal(text, usdDecimals);
  const whole = signed < 0n ? -signed : signed;
  return whole < 10n * unit
    ? usd(decimalOfWhole(whole, usdDecimals)).replace('USD', of)
    : `${withSeparators(String(rounded(whole, unit)))} ${of}`;
}
