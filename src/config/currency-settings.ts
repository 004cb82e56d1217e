import { UsageError } from '../base/errors.ts';
import { quoted } from '../text/choices.ts';
import { mapping, type Parse, parseText, single, type z } from '../yaml/index.ts';

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

const expected = 'all three such as { code: EUR, rates: rates.csv, source: "ECB reference rates" }';

/** A second currency beside USD: its code, the CSV file with the rates, relative to the project folder, and who publishes them. */
export const currencyShape = mapping(
  {
    code: single(parseCode, { type: 'string', pattern: '^[A-Z]{3}$' }),
    rates: single(parseRates, { type: 'string', pattern: '[.][cC][sS][vV]$' }),
    source: single(parseSource),
  },
  { expected, needed: { code: expected, rates: expected, source: expected } },
);

/** A second currency beside USD. */
export type CurrencySettings = z.output<typeof currencyShape> & {
  /** Where the setting is, as `costbook.yaml:7:1`. */
  readonly where?: string | undefined;
};
