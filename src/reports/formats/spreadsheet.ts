import { UsageError } from '../../base/errors.ts';
import { quoted } from '../../text/choices.ts';

/** How the spreadsheet of a reader separates decimals and cells. */
export interface SpreadsheetSigns {
  readonly decimal: '.' | ',';
  readonly separator: ',' | ';';
}

/** The signs of a language such as `de` or `en-GB`; those of English for none. Throws UsageError for one that is not known. */
export function signsOf(language: string | undefined): SpreadsheetSigns {
  if (language === undefined) return { decimal: '.', separator: ',' };
  const decimal = decimalOf(language);
  // Spreadsheets separate cells by semicolons where the comma separates decimals.
  if (decimal === ',') return { decimal, separator: ';' };
  if (decimal === '.') return { decimal, separator: ',' };
  throw new UsageError(
    `--excel: found ${quoted(language)}, expected the language of the spreadsheet, such as --excel=de or --excel=fr-CH`,
  );
}

function decimalOf(language: string): string | undefined {
  try {
    const [known] = Intl.NumberFormat.supportedLocalesOf([language]);
    if (known === undefined) return undefined;
    const format = new Intl.NumberFormat(known, { numberingSystem: 'latn', minimumFractionDigits: 1 });
    return format.formatToParts(0).find(({ type }) => type === 'decimal')?.value;
  } catch {
    return undefined; // not even the form of a language
  }
}

const months = 'jan|feb|m[aä]r|apr|ma[iy]|jun|jul|aug|sept?|o[ck]t|nov|de[cz]';

/** Texts that spreadsheets take for numbers, days, times or truths, and then show in another way. */
const changed: readonly RegExp[] = [
  /^[+-]?0\d+([.,]\d+)?$/, // 007
  /^\d{16,}$/,
  /^[+-]?\d+([.,]\d+)?e[+-]?\d+$/i, // 1e5
  /^[+-]?\d+[.,]\d*0$/, // 1.10
  /^\d{1,4}[-/]\d{1,2}([-/]\d{1,4})?$/, // 3-4
  /^\d{1,2}\.\d{1,2}\.(\d{2,4})?$/,
  new RegExp(`^\\d{1,2}[-. ]{0,2}(${months})[a-z]*([-. ]{0,2}\\d{2,4})?$`, 'i'),
  new RegExp(`^(${months})[a-z]*[-. ]{0,2}\\d{1,4}$`, 'i'), // MARCH1
  /^\d{1,4}:\d{1,2}(:\d{1,2})?( ?[ap]m?)?$/i,
  /^(true|false|wahr|falsch|vrai|faux)$/i,
];

/** Whether a spreadsheet that opens a CSV file shows another text instead, such as 7 for 007, 100000 for 1e5, 4 March for 3-4. */
export function isChangedBySpreadsheets(text: string, { decimal }: SpreadsheetSigns): boolean {
  const bare = text.trim();
  // Where the comma separates decimals, 1.2 is a day, and 1.234 many.
  return changed.some((form) => form.test(bare)) || (decimal === ',' && /^\d{1,3}\.\d{1,3}$/.test(bare));
}
