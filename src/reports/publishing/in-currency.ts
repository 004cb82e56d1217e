import type { MonthRate, SecondCurrency } from '../../currency/index.ts';
import { addCalendarMonths, floorMonth, type Instant, parseMonth } from '../../time/time.ts';
import { aroundConverted, monthsOf } from '../../warehouse/sql/index.ts';
import type { Connection, SqlColumn, SqlParameters } from '../../warehouse/store/index.ts';
import { columnsOf } from '../formats/columns.ts';
import type { CurrencyOfAnswer } from '../formats/currency-words.ts';
import { costColumnOf } from '../formats/figures.ts';
import { type Report, selectOf } from '../questions/catalogue.ts';
import { type ParameterValue, periodsOf } from '../questions/parameters.ts';

/** A report whose rows have amounts in a second currency, if it has a cost. */
interface InCurrency {
  readonly report: Report;
  readonly parameters: SqlParameters;
  readonly columns: readonly SqlColumn[];
  readonly currency: CurrencyOfAnswer | undefined;
}

/**
 * Adds the cost in a second currency to the end of each row, with the rate and its day: of the report's cost, and of
 * `billed_cost`. A row has the rate of its month, by the first day or month of the grain; if the grain has none, the rate of
 * the report's month, or of the last month of its range. A report that names its currency itself, such as FOCUS, stays.
 */
export async function inCurrency(
  connection: Connection,
  asked: Omit<InCurrency, 'currency'>,
  currency: SecondCurrency | undefined,
  values: readonly ParameterValue[],
): Promise<InCurrency> {
  const { report, columns } = asked;
  const unchanged = { ...asked, currency: undefined };
  if (currency === undefined || !isConvertible(report, columns)) return unchanged;
  const code = currency.code.toLowerCase();
  const names = {
    conversions: costsOf(report, columns).map((usd) => ({ usd, converted: `${usd}_${code}` })),
    rate: `${code}_rate`,
    rateDate: `${code}_rate_date`,
    day: dayOfRow(report, columns),
  };
  const added = [...names.conversions.map(({ converted }) => converted), names.rate, names.rateDate];
  if (columns.some(({ name }) => added.includes(name.toLowerCase()))) return unchanged;
  const { day } = names;
  const rates =
    day === undefined ? [currency.rateOf(monthAsked(values) ?? currency.presentMonth)] : knownRates(currency);
  const around = aroundConverted(names);
  const inner = report.wrapping ?? { before: '', after: '' };
  const wrapping = { before: `${around.before}${inner.before}`, after: `${inner.after}\n${around.after}` };
  const parameters = { ...asked.parameters, _rates: ratesJson(rates) };
  const months =
    day === undefined ? rates : (await monthsIn(connection, asked, day, values)).map((month) => currency.rateOf(month));
  // A sum without the months that have no rate would look like the whole.
  const isWhole = months.every(({ rate }) => rate !== null);
  const withTotals = names.conversions.filter(
    ({ usd }) => isWhole && [...report.totals, costOf(report, columns)].includes(usd),
  );
  const converted = {
    ...report,
    wrapping,
    totals: [...report.totals, ...withTotals.map(({ converted }) => converted)],
    converted: added,
  };
  return {
    report: converted,
    parameters,
    columns: await columnsOf(connection, selectOf(converted), parameters),
    currency: {
      code: currency.code,
      columns: Object.fromEntries(names.conversions.map(({ usd, converted }) => [usd, converted])),
      months,
    },
  };
}

/** Whether the rows of a report have a cost, and no column that names their currency. The lake is in USD. */
export function isConvertible(report: Report, columns: readonly SqlColumn[]): boolean {
  if (report.file.header['partition'] !== undefined) return false;
  return costsOf(report, columns).length > 0 && !columns.some(({ name }) => /currency/i.test(name));
}

function costOf({ file }: Report, columns: readonly SqlColumn[]): string | undefined {
  return costColumnOf(columns, file.header['cost'])?.name;
}

/** The report's cost, and what it bills. */
function costsOf(report: Report, columns: readonly SqlColumn[]): readonly string[] {
  const found = [costOf(report, columns), costColumnOf(columns, 'billed_cost')?.name];
  return [...new Set(found.flatMap((name) => name ?? []))];
}

/** The first column of the grain that is a day or a month. */
function dayOfRow({ grain }: Report, columns: readonly SqlColumn[]): string | undefined {
  return grain
    .flatMap((name) => columns.find((column) => column.name.toLowerCase() === name.toLowerCase()) ?? [])
    .find(({ type }) => /^(DATE|TIMESTAMP)$/.test(type))?.name;
}

/** The month that an answer is about, or the last one of its range; undefined if it has none. */
function monthAsked(values: readonly ParameterValue[]): Instant | undefined {
  const month = values.find(({ name }) => name === 'month')?.sqlValue;
  if (typeof month === 'string') return Date.parse(month);
  const ends = periodsOf(values).map(({ end }) => end);
  return ends.length === 0 ? undefined : floorMonth(Math.max(...ends) - 1);
}

/** The rates of all months until the one of the answer's instant. */
function knownRates({ firstMonth, presentMonth, rateOf }: SecondCurrency): MonthRate[] {
  const rates: MonthRate[] = [];
  if (firstMonth === undefined) return rates;
  for (let month = firstMonth; month <= presentMonth; month = addCalendarMonths(month, 1)) rates.push(rateOf(month));
  return rates;
}

function ratesJson(rates: readonly MonthRate[]): string {
  const known = rates.filter(({ rate }) => rate !== null);
  return JSON.stringify(
    known.map(({ month, rate, rateDate }) => ({ month: `${month}-01`, rate, rate_date: rateDate })),
  );
}

/** The months of an answer's rows. */
async function monthsIn(
  connection: Connection,
  { report, parameters }: Omit<InCurrency, 'currency'>,
  day: string,
  values: readonly ParameterValue[],
): Promise<Instant[]> {
  const month = values.find(({ name }) => name === 'month')?.sqlValue;
  if (day === 'month' && typeof month === 'string') return [Date.parse(month)];
  const rows = await connection.rows(monthsOf(selectOf(report), day), parameters);
  return rows.map((row) => parseMonth(String(row['month']), 'month').start);
}
