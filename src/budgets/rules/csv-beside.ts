import { dirname, join } from 'node:path';
import { csvRecords } from '../../tables/csv-records.ts';
import { quoted } from '../../text/choices.ts';
import { type Given, type Place, type Problems, parseText, readTextFile, readValue } from '../../yaml/index.ts';
import { refuse } from './read-scope.ts';

/** A CSV file in the folder of a budget file. */
export interface CsvBeside {
  readonly placeOf: (line: number) => Place;
  readonly records: NonNullable<ReturnType<typeof csvRecords>>;
}

/** Reads the CSV file that a value names. Undefined if there is no value, or a mistake, which is reported with file and line. */
export function readCsvBeside(
  given: Given | undefined,
  budgetFile: string,
  { example, about }: { readonly example: string; readonly about: string },
  problems: Problems,
): CsvBeside | undefined {
  const name = readValue(
    given,
    (value) => {
      const text = parseText(value, 200);
      return /^[\w.-]+\.csv$/i.test(text)
        ? text
        : refuse(quoted(text), `the name of a CSV file in the same folder, such as ${example}`);
    },
    problems,
  );
  if (name === undefined) return undefined;
  const file = join(dirname(budgetFile), name);
  const placeOf = (line: number): Place => ({ where: `${file}:${line}`, file });
  const text = readTextFile(file, about, problems);
  if (text === undefined) return undefined;
  const records = csvRecords(text, (line, words) => problems.report(placeOf(line), words));
  return records && { placeOf, records };
}
