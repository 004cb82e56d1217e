import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type Bench, type Figure, median, short } from '../figures.ts';
import { beside, cli, newFolder, run } from '../processes.ts';

const month = `bucket_start >= '2026-08-01' and bucket_start < '2026-09-01'`;
const before = `bucket_start >= '2026-07-01' and bucket_start < '2026-08-01'`;
const both = `bucket_start >= '2026-07-01' and bucket_start < '2026-09-01'`;
const weeks = `bucket_start >= '2026-07-25' and bucket_start < '2026-09-01'`;
const resource = 'account, workspace, resource_type, resource_name, resource_uuid';
const days = { from: '2026-08-01', to: '2026-09-01' };

/** Each report with the same aggregate as somebody would write it by hand over one flat table. */
export const asked = [
  {
    report: 'cost_by_workspace',
    given: { month: '2026-08' },
    byHand: `select account, workspace, resource_type, billing_dimension, unit, sum(cost), sum(usage) from flat where ${month} group by all order by all`,
  },
  {
    report: 'cost_by_resource',
    given: { month: '2026-08' },
    byHand: `select ${resource}, sum(cost), min(bucket_start), max(bucket_start) from flat where ${month} group by all order by all`,
  },
  {
    report: 'daily_trend',
    given: days,
    byHand: `select account, cast(bucket_start as date) as day, sum(cost) from flat where ${weeks} group by all order by all`,
  },
  {
    report: 'top_movers',
    given: { month: '2026-08' },
    byHand: `select ${resource}, sum(cost) filter (where ${month}), sum(cost) filter (where ${before}) from flat where ${both} group by all order by all`,
  },
  {
    report: 'price_volume',
    given: { month: '2026-08' },
    byHand: `select ${resource}, billing_dimension, sum(cost) filter (where ${month}), sum(cost) filter (where ${before}), sum(usage) filter (where ${month}), sum(usage) filter (where ${before}) from flat where ${both} group by all order by all`,
  },
  {
    report: 'unit_rates',
    given: days,
    byHand: `select account, billing_dimension, resource_type, unit, workspace, cast(bucket_start as date) as day, sum(cost), sum(usage) from flat where ${weeks} group by all order by all`,
  },
  {
    report: 'idle',
    given: { until: '2026-09-01' },
    byHand: `select ${resource}, min(bucket_start), max(bucket_start) filter (where usage > 0 and not contains(billing_dimension, 'storage')), sum(cost) filter (where bucket_start >= '2026-08-31') from flat where bucket_start < '2026-09-01' group by all order by all`,
  },
  {
    report: 'invoice_lines',
    given: { month: '2026-08' },
    byHand: `select account, billing_dimension, unit, sum(usage), sum(cost) from flat where ${month} group by all order by all`,
  },
  {
    // A report without any aggregate: writing it, compared with a raw COPY of the same rows in the same order.
    report: 'hours',
    given: { month: '2026-08' },
    byHand: `select * from (select * from costs where ${month}) order by account nulls last, bucket_start nulls last, workspace nulls last, resource_type nulls last, resource_name nulls last, resource_uuid nulls last, billing_dimension nulls last`,
  },
];

const hours = `--! about: Every hour of a month.
--! grain: account, bucket_start, workspace, resource_type, resource_name, resource_uuid, billing_dimension
--! params: month month = last-complete
--! formats: parquet
select *
from costs
where bucket_start >= cast($month as timestamp) and bucket_start < cast($month as timestamp) + interval 1 month
`;

/** Reports over many rows, compared with the same query by hand. */
export const reportsBench: Bench = {
  name: 'reports',
  about: 'reports over 20 M rows against the same aggregates by hand over one flat table, both written as Parquet',
  async run({ quick, points, repeats, tell }) {
    const size = {
      weeks: 18,
      series: Math.max(20, Math.ceil((points ?? (quick ? 100_000 : 20_000_000)) / (18 * 168))),
    };
    const dir = await newFolder();
    await mkdir(join(dir, 'sql', 'reports'), { recursive: true });
    await writeFile(join(dir, 'sql', 'reports', 'hours.sql'), hours);
    const list = join(dir, 'asked.json');
    await writeFile(list, JSON.stringify(asked));
    const dist = dirname(cli);
    tell(`making books of ${short(size.weeks * size.series * 168)} rows`);
    const made = await run([beside('report-books.js'), dist, dir, String(size.weeks), String(size.series)]);
    const { stdout } = await run([beside('report-times.js'), dist, dir, list, String(repeats)]);
    const answers: { report: string; ours: number[]; theirs: number[] }[] = JSON.parse(stdout);
    const what = `${short(Number(made.stdout))} rows of ${short(size.series)} series`;
    return answers.map(({ report, ours, theirs }): Figure => {
      const isExport = report === 'hours';
      tell(`${report}: by hand ${median(theirs).toFixed(3)} s, report ${median(ours).toFixed(3)} s`);
      return {
        bench: 'reports',
        measured: isExport
          ? `a month's hours as a Parquet report against a raw COPY of them in the same order, ${what}`
          : `${report} against the same aggregate by hand over one flat table, ${what}`,
        value: median(ours.map((seconds, index) => seconds / (theirs[index] ?? Number.NaN))),
        unit: 'x',
        target: isExport ? 1.2 : 1.3,
      };
    });
  },
};
