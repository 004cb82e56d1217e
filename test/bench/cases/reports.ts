import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Bench, type Figure, median, short } from '../figures.ts';
import { focusByHand } from '../focus-by-hand.ts';
import { beside, newFolder, run } from '../processes.ts';

const resource = 'account, workspace, resource_type, resource_name, resource_uuid';

/** A report with its parameters, and the same aggregate as somebody would write it by hand over one flat table. */
export interface Asked {
  readonly report: string;
  /** What its aggregate by hand writes, if there are several. */
  readonly writes?: string;
  readonly given: Readonly<Record<string, string>>;
  readonly byHand: string;
}

/** The hours of a month (`2026-08`) and around it as conditions, and its days as parameters. */
function boundsOf(name: string) {
  const first = `${name}-01`;
  const start = `timestamp '${first}'`;
  const end = `${start} + interval 1 month`;
  const to = new Date(Date.UTC(Number(name.slice(0, 4)), Number(name.slice(5)), 1)).toISOString().slice(0, 10);
  return {
    end,
    month: `bucket_start >= ${start} and bucket_start < ${end}`,
    before: `bucket_start >= ${start} - interval 1 month and bucket_start < ${start}`,
    both: `bucket_start >= ${start} - interval 1 month and bucket_start < ${end}`,
    weeks: `bucket_start >= ${start} - interval 7 day and bucket_start < ${end}`,
    days: { from: first, to },
  };
}

/** Reports of a month, each with the same aggregate by hand. */
export function askedOf(name: string): readonly Asked[] {
  const { end, month, before, both, weeks, days } = boundsOf(name);
  return [
    {
      report: 'cost_by_workspace',
      given: { month: name },
      byHand: `select account, workspace, resource_type, billing_dimension, unit, sum(cost), sum(usage) from flat where ${month} group by all order by all`,
    },
    {
      report: 'cost_by_resource',
      given: { month: name },
      byHand: `select ${resource}, sum(cost), min(bucket_start), max(bucket_start) from flat where ${month} group by all order by all`,
    },
    {
      report: 'daily_trend',
      given: days,
      byHand: `select account, cast(bucket_start as date) as day, sum(cost) from flat where ${weeks} group by all order by all`,
    },
    {
      report: 'top_movers',
      given: { month: name },
      byHand: `select ${resource}, sum(cost) filter (where ${month}), sum(cost) filter (where ${before}) from flat where ${both} group by all order by all`,
    },
    {
      report: 'price_volume',
      given: { month: name },
      byHand: `select ${resource}, billing_dimension, sum(cost) filter (where ${month}), sum(cost) filter (where ${before}), sum(usage) filter (where ${month}), sum(usage) filter (where ${before}) from flat where ${both} group by all order by all`,
    },
    {
      report: 'unit_rates',
      given: days,
      byHand: `select account, billing_dimension, resource_type, unit, workspace, cast(bucket_start as date) as day, sum(cost), sum(usage) from flat where ${weeks} group by all order by all`,
    },
    {
      report: 'idle',
      given: { until: days.to },
      byHand: `select ${resource}, min(bucket_start), max(bucket_start) filter (where usage > 0 and not contains(billing_dimension, 'storage')), sum(cost) filter (where bucket_start >= ${end} - interval 1 day) from flat where bucket_start < ${end} group by all order by all`,
    },
    {
      report: 'invoice_lines',
      given: { month: name },
      byHand: `select account, billing_dimension, unit, sum(usage), sum(cost) from flat where ${month} group by all order by all`,
    },
    {
      // A report without any aggregate: writing it, compared with a raw COPY of the same rows in the same order.
      report: 'hours',
      given: { month: name },
      byHand: `select * from (select * from costs where ${month}) order by account nulls last, bucket_start nulls last, workspace nulls last, resource_type nulls last, resource_name nulls last, resource_uuid nulls last, billing_dimension nulls last`,
    },
  ];
}

/** The other built-in reports that read every hour of a month. */
export function othersOf(name: string): readonly Asked[] {
  const { month, days } = boundsOf(name);
  return [
    {
      report: 'monthly_by_workspace',
      given: days,
      byHand: `pivot (select account, date_trunc('month', bucket_start) as month, workspace, cost from flat where ${month}) on workspace using sum(cost) group by account, month order by account, month`,
    },
    {
      report: 'chargeback',
      given: { month: name },
      byHand: `select account, billing_dimension, unit, sum(cost), sum(usage) from flat where ${month} group by all order by all`,
    },
    {
      report: 'unallocated',
      given: { month: name },
      byHand: `select ${resource}, sum(cost) as cost from flat where ${month} group by all order by cost desc, ${resource}`,
    },
    {
      report: 'label_coverage',
      given: days,
      byHand: `select ${resource}, sum(cost) from flat where ${month} group by all order by all`,
    },
    {
      report: 'focus',
      writes: '10 columns',
      given: { month: name, grain: 'daily' },
      byHand: `select ${resource}, billing_dimension, unit, cast(bucket_start as date) as day, sum(cost), sum(usage) from flat where ${month} group by all order by all`,
    },
    {
      report: 'focus',
      writes: 'every column',
      given: { month: name, grain: 'daily' },
      byHand: focusByHand(month),
    },
  ];
}

/** What a report and its aggregate by hand took, each time. */
export interface ReportTimes {
  readonly report: string;
  readonly writes?: string;
  readonly ours: readonly Took[];
  readonly theirs: readonly Took[];
}

interface Took {
  readonly seconds: number;
  readonly cpuSeconds: number;
}

/** The median of the ratios of a report to its aggregate by hand, which take turns. */
export function ratioOf({ ours, theirs }: ReportTimes, of: keyof Took): number {
  return median(ours.map((took, index) => took[of] / (theirs[index]?.[of] ?? Number.NaN)));
}

/** Both in words. */
export function timesInWords({ report, writes, ours, theirs }: ReportTimes, of: keyof Took): string {
  const [hand, own] = [theirs, ours].map((all) => median(all.map((took) => took[of])).toFixed(3));
  return `${report}${writes === undefined ? '' : `, by hand ${writes}`}: by hand ${hand} s, report ${own} s`;
}

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
    await writeFile(list, JSON.stringify(askedOf('2026-08')));
    tell(`making books of ${short(size.weeks * size.series * 168)} rows`);
    const made = await run([beside('report-books.js'), dir, String(size.weeks), String(size.series)]);
    const { stdout } = await run([beside('report-times.js'), dir, list, String(repeats)]);
    const answers: readonly ReportTimes[] = JSON.parse(stdout);
    const what = `${short(Number(made.stdout))} rows of ${short(size.series)} series`;
    return answers.map((answer): Figure => {
      const { report } = answer;
      const isExport = report === 'hours';
      tell(timesInWords(answer, 'seconds'));
      return {
        bench: 'reports',
        measured: isExport
          ? `a month's hours as a Parquet report against a raw COPY of them in the same order, ${what}`
          : `${report} against the same aggregate by hand over one flat table, ${what}`,
        value: ratioOf(answer, 'seconds'),
        unit: 'x',
        target: isExport ? 1.2 : 1.3,
      };
    });
  },
};
