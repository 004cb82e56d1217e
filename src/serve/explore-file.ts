import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { UsageError } from '../base/errors.ts';
import { writeAnswer } from '../reports/formats/index.ts';
import { exportTypes } from '../tables/file-formats.ts';
import { formatInstant } from '../time/time.ts';
import { readSql } from '../warehouse/sql/index.ts';
import { openScratch } from '../warehouse/store/index.ts';
import { readBooksState } from './books-state.ts';
import { type Choice, encodeValue, sharedOwner } from './dimensions.ts';
import { type Answered, answer } from './explore.ts';
import { addressOf, type ExploreFormat, hoursOf } from './explore-question.ts';
import { floorTo, nextOf, unitPrice } from './explored.ts';
import type { Download, PageRequest } from './page.ts';

/** How many rows are added at a time. */
const batchRows = 5000;

/**
 * The numbers of a page of explore as a file, one row per bucket and group, as reports write it: CSV without formulas, XLSX
 * with all decimals, Parquet with the books' types. XLSX and Parquet also store through when it is complete, and the
 * question. The number of buckets and groups bounds its size. Throws UsageError for an address with mistakes.
 */
export async function exploreFile(
  { view, query, signal }: Pick<PageRequest, 'view' | 'query' | 'signal'>,
  format: ExploreFormat,
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
    body: await written(answered, format, { facts, signal }),
  };
}

async function written(
  answered: Answered,
  format: ExploreFormat,
  { facts, signal }: { readonly facts: Record<string, string>; readonly signal: AbortSignal },
): Promise<Uint8Array> {
  const folder = await mkdtemp(join(tmpdir(), 'costbook-explore-'));
  try {
    const scratch = await openScratch(folder);
    try {
      const connection = await scratch.connect(signal);
      await connection.run(await readSql('serve', 'explored_rows'));
      let batch: (string | null)[][] = [];
      for (const row of fileRows(answered)) {
        batch.push(row);
        if (batch.length < batchRows) continue;
        await connection.appendRows('explored_rows', batch);
        batch = [];
      }
      await connection.appendRows('explored_rows', batch);
      const path = join(folder, `answer.${format}`);
      const question = { connection, query: await readSql('serve', 'explored_rows_in_order'), parameters: {} };
      const options = { raw: false, parquetDecimals: 'exact', facts, title: 'costs', costColumn: 'cost' } as const;
      await writeAnswer(question, { ...options, format, path });
      return await readFile(path);
    } finally {
      scratch.close();
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Rows with a cost now or in the window before, in the order of the columns of `explored_rows`. */
export function* fileRows({ asked, explored }: Answered): Generator<(string | null)[]> {
  const { step, groupBy, from, to } = asked;
  for (const { key, isRest, unit, costs, usages, before } of explored.series) {
    const name = isRest ? 'all others' : key === sharedOwner ? 'shared costs' : key === '' ? null : (key ?? null);
    for (const [index, label] of explored.labels.entries()) {
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
