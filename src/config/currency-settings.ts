import { UsageError } from '../base/errors.ts';
import { quoted } from '../text/choices.ts';
import { type Given, type Parse, type Problems, parseText, type ReadText } from './yaml.ts';

/** A second currency beside USD. */
export interface CurrencySettings {
  /** `EUR`. */
  readonly code: string;
  /** The CSV file with the rates; a relative path is in the project folder. */
  readonly rates: string;
  /** Who publishes the rates, as reports name it. */
  readonly source: string;
}

const parseCode: Parse<string> = (value) => {
  const text = parseText(value, 20);
  if (/^[A-Z]{3}$/.test(text) && text !== 'USD') return text;
  throw new UsageError(`found ${quoted(text)}, expected the code of a currency other than USD, such as EUR`);
};

const parseRates: Parse<string> = (value) => {
  const text = parseText(value, 1024);
  if (/\.csv$/i.test(text)) return text;
  throw new UsageError(`found ${quoted(text)}, expected the name of a CSV file such as rates.csv`);
};

const parseSource: Parse<string> = (value) => {
  const text = parseText(value, 100).trim();
  if (text !== '' && !/[\p{Cc}\p{Cs}]/u.test(text)) return text;
  throw new UsageError(`found ${quoted(text)}, expected who publishes the rates, such as "ECB reference rates"`);
};

/** Reads the keys of `currency`; mistakes are reported. All three belong together. */
export function readCurrency(
  { code, rates, source }: Readonly<Record<'code' | 'rates' | 'source', Given | undefined>>,
  read: ReadText,
  problems: Problems,
): CurrencySettings | undefined {
  const given = { code: read(code, parseCode), rates: read(rates, parseRates), source: read(source, parseSource) };
  const first = code ?? rates ?? source;
  if (first === undefined) return undefined;
  const missing = Object.entries({ code, rates, source }).flatMap(([key, value]) => (value === undefined ? [key] : []));
  if (missing.length > 0) {
    problems.report(
      first,
      `found no ${missing.join(' and ')}, expected all three such as { code: EUR, rates: rates.csv, source: "ECB reference rates" }`,
    );
  }
  if (given.code === undefined || given.rates === undefined || given.source === undefined) return undefined;
  return { code: given.code, rates: given.rates, source: given.source };
}
