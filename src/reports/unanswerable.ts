import { nearest } from '../did-you-mean.ts';
import { formatInstant, type Instant } from '../time.ts';
import { type Completeness, type Connection, countValue, valuesOf } from '../warehouse/index.ts';
import { type ParameterValue, periodsOf } from './parameters.ts';

/** Parameters that choose rows by a dimension; each has the name of its column. */
const dimensions = ['account', 'workspace', 'resource_type', 'resource_name', 'resource_uuid', 'billing_dimension'];

/** So many known values are named where none is near. */
const maxNamed = 10;

/**
 * Why a question cannot have an answer, a sentence each: a period outside of what the books hold, and a dimension's value
 * that they do not know. What was not asked for by name is not looked at. `now` is the instant that the books call now.
 */
export async function unanswerable(
  connection: Connection,
  values: readonly ParameterValue[],
  { accounts, now, isOfFuture }: { accounts: readonly Completeness[]; now: Instant; isOfFuture: boolean },
): Promise<string[]> {
  const unknown: string[] = [];
  for (const { name, type, bound, isDefault } of values) {
    if (isDefault || type !== 'text' || typeof bound !== 'string' || !dimensions.includes(name)) continue;
    const sentence = await unknownValue(connection, name, bound);
    if (sentence !== undefined) unknown.push(sentence);
  }
  // An account that is not known has no period either.
  return unknown.length > 0 ? unknown : impossiblePeriods(values, accounts, isOfFuture ? undefined : now);
}

function impossiblePeriods(
  values: readonly ParameterValue[],
  accounts: readonly Completeness[],
  now: Instant | undefined,
): string[] {
  const starts = accounts.flatMap(({ historyStart }) => historyStart ?? []);
  const ends = accounts.flatMap(({ completeThrough }) => completeThrough ?? []);
  if (starts.length === 0) return [];
  const start = Math.min(...starts);
  const end = Math.max(start, ...ends);
  const held = `the books begin ${formatInstant(start)} and are complete through ${formatInstant(end)}`;
  const asked = values.filter(({ isDefault }) => !isDefault);
  // Dates are one period, and one of them may be a default.
  const isOfDates = asked.some(({ name }) => name === 'from' || name === 'to');
  const periods = periodsOf(
    isOfDates ? [...asked, ...values.filter(({ name }) => ['from', 'to'].includes(name))] : asked,
  );
  return periods.flatMap((period) => {
    if (period.end <= start) return [`${period.label} is before the books: ${held}`];
    if (now !== undefined && period.start >= Math.max(now, end)) return [`${period.label} is yet to come: ${held}`];
    return [];
  });
}

/** What to say of a value that no series and no resource has; undefined where one has it. */
async function unknownValue(connection: Connection, name: string, value: string): Promise<string | undefined> {
  const isOfResources = name !== 'billing_dimension';
  const [found] = await connection.rows(countValue(name, isOfResources), { value });
  if (Number(found?.['rows']) > 0) return undefined;
  const rows = await connection.rows(valuesOf(name, isOfResources));
  const names = rows.map((row) => String(row['value']));
  const near = nearest(value, names);
  const some = names.slice(0, maxNamed).join(', ');
  const hint =
    near !== undefined
      ? `did you mean "${near}"?`
      : names.length === 0
        ? 'the books hold none'
        : `expected one of ${some}${names.length > maxNamed ? `, and ${names.length - maxNamed} more` : ''}`;
  return `the books have no ${name} "${value}": ${hint}`;
}
