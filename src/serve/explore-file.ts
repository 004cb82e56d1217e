import { UsageError } from '../base/errors.ts';
import { exportTypes } from '../tables/file-formats.ts';
import { formatInstant } from '../time/time.ts';
import { readBooksState } from './books-state.ts';
import { type Choice, encodeValue, sharedOwner } from './dimensions.ts';
import { type Answered, answer } from './explore.ts';
import { addressOf, hoursOf } from './explore-question.ts';
import { floorTo, nextOf, unitPrice } from './explored.ts';
import type { Download, PageRequest } from './page.ts';
import { type PageFormat, rowsFile } from './rows-file.ts';

/**
 * The numbers of a page of explore as a file, one row per bucket and group, as reports write it: CSV without formulas, XLSX
 * with all decimals, Parquet with the books' types. XLSX and Parquet also store through when it is complete, and the
 * question. The number of buckets and groups bounds its size. Throws UsageError for an address with mistakes.
 */
export async function exploreFile(
  { view, query, signal }: Pick<PageRequest, 'view' | 'query' | 'signal'>,
  format: PageFormat,
): Promise<Download> {
  const state = await readBooksState(view);
  const { completeThrough, settledThrough } = state;
  if (completeThrough === null) throw new UsageError('the books have no complete hour yet');
  const answered = await answer(view, query, hoursOf(state, completeThrough));
  if (answered.problems.length > 0) throw new UsageError(answered.problems);
  const { asked } = answered;
  const [from, to] = [asked.from, asked.to - 1].map((at) => formatInstant(at).slice(0, 10));
  const group = asked.groupBy
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 60);
  const facts = {
    complete_through: completeThrough,
    ...(settledThrough === null ? {} : { settled_through: settledThrough }),
    ...factsOf(answered),
  };
  return {
    name: `costs-by-${group}-${from}-${to}.${format}`,
    type: exportTypes[format],
    body: await rowsFile({ columns, rows: fileRows(answered), facts, title: 'costs', signal }, format),
  };
}

/** The columns of a file, in the order of `fileRows`. */
const columns = [
  { name: 'bucket_start', type: 'TIMESTAMP' },
  { name: 'bucket_end', type: 'TIMESTAMP' },
  { name: 'is_complete', type: 'BOOLEAN' },
  { name: 'dimension', type: 'VARCHAR' },
  { name: 'group_name', type: 'VARCHAR' },
  { name: 'is_rest', type: 'BOOLEAN' },
  { name: 'cost', type: 'DECIMAL(38,12)' },
  { name: 'usage', type: 'DECIMAL(38,6)' },
  { name: 'unit', type: 'VARCHAR' },
  { name: 'usd_per_unit', type: 'DECIMAL(38,12)' },
  { name: 'cost_before', type: 'DECIMAL(38,12)' },
  { name: 'usage_before', type: 'DECIMAL(38,6)' },
] as const;

/** Rows with a cost now or in the window before: by bucket, the largest group first and the rest last. */
export function* fileRows({ asked, explored }: Answered): Generator<(string | null)[]> {
  const { step, groupBy, from, to } = asked;
  for (const [index, label] of explored.labels.entries()) {
    for (const { key, isRest, unit, costs, usages, before } of explored.series) {
      const name = isRest ? 'all others' : key === sharedOwner ? 'shared costs' : key === '' ? null : (key ?? null);
      const [cost, costBefore] = [costs[index], before.costs[index]];
      if (cost === undefined && costBefore === undefined) continue;
      const start = Date.parse(label);
      const end = nextOf(floorTo(start, step), step);
      yield [
        ...[label, formatInstant(end), String(start >= from && end <= to), groupBy, name, String(isRest)],
        ...[cost ?? null, usages[index] ?? null, unit ?? null, unitPrice(cost, usages[index]) ?? null],
        ...[costBefore ?? null, before.usages[index] ?? null],
      ];
    }
  }
}

/** The question, for the file's metadata. */
function factsOf({ asked }: Answered): Record<string, string> {
  const { from, to, step, groupBy, before, top, filters } = asked;
  const factOf = ({ values, isExcept }: Choice) => {
    const texts = values.map(encodeValue);
    return isExcept ? { except: texts } : texts.length === 1 ? texts[0] : texts;
  };
  return {
    from: formatInstant(from),
    to: formatInstant(to),
    ...(before === undefined ? {} : { before_from: formatInstant(before.from), before_to: formatInstant(before.to) }),
    ...{ step, group_by: groupBy, groups: String(top) },
    filters: JSON.stringify(
      Object.fromEntries(Object.entries(filters).map(([name, choice]) => [name, factOf(choice)])),
    ),
    page: addressOf(asked),
  };
}
