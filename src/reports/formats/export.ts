import type { Connection } from '../../warehouse/store/index.ts';
import type { CompletenessState } from './completeness.ts';
import { type CurrencyOfAnswer, currencyWords } from './currency-words.ts';
import type { CostColumn, Figures } from './figures.ts';
import type { FormatOptions, Question } from './format.ts';
import { formatNamed } from './kinds/index.ts';

/** Writes an answer in a format to a new file. Returns its number of rows. Throws SqlError. */
export function writeAnswer(
  question: Question,
  { format, path, ...options }: FormatOptions & { readonly format: string; readonly path: string },
): Promise<number> {
  const kind = formatNamed(format);
  if (kind === undefined) throw new Error(`there is no format ${format}`);
  return kind.write(path, question, options);
}

/**
 * The figures of a file, read from disk. Throws SqlError or another DuckDB error if it is not readable in its format.
 */
export async function figuresOfFile(
  connection: Connection,
  path: string,
  format: string,
  column: CostColumn | undefined,
): Promise<Figures> {
  const kind = formatNamed(format);
  if (kind === undefined) throw new Error(`cannot read back files of the format ${format}`);
  return kind.figures(connection, path, column);
}

/** The metadata of an answer, for formats that support it. Unknown values are left out. */
export function factsOf(
  { asOf, closedAt, completeThrough, settledThrough }: CompletenessState,
  currency?: CurrencyOfAnswer,
): Record<string, string> {
  const facts = {
    complete_through: completeThrough,
    settled_through: settledThrough,
    as_of: asOf,
    closed_at: closedAt,
    rates: currency === undefined ? null : currencyWords(currency).join(' ') || null,
  };
  return Object.fromEntries(Object.entries(facts).flatMap(([name, fact]) => (fact === null ? [] : [[name, fact]])));
}
