import { readdir } from 'node:fs/promises';
import { basename, join, relative } from 'node:path';
import { type CompletenessState, completenessOf, describeCompleteness } from '../reports/formats/index.ts';
import { formatTable } from '../terminal/index.ts';
import { snapshotFile } from '../warehouse/integrity/index.ts';
import { readSql } from '../warehouse/sql/index.ts';
import type { Connection, SqlRow } from '../warehouse/store/index.ts';
import type { ForecastRow } from '../warehouse/watch/index.ts';

/** What the demo writes. */
export const demoReports = [
  'summary',
  'monthly_by_workspace',
  'chargeback_summary',
  'cost_by_workspace',
  'chargeback',
] as const;

/** What the demo shows of its books. */
export interface Story {
  readonly folder: string;
  readonly seconds: number;
  readonly state: CompletenessState;
  /** The report monthly_by_workspace. */
  readonly months: readonly SqlRow[];
  /** The report chargeback_summary of the last whole month. */
  readonly owners: readonly SqlRow[];
  /** The current month of the report summary. */
  readonly open: SqlRow | undefined;
  readonly proven: SqlRow;
  readonly biggestMover: SqlRow | undefined;
  readonly files: readonly string[];
  /** The forecasts of its budgets. */
  readonly forecasts: readonly ForecastRow[];
  /** The alerts that would be sent now, as they look in Slack. */
  readonly alerts: string;
}

/** Reads the story from the demo’s books and exports. */
export async function readStory(
  connection: Connection,
  folder: string,
  seconds: number,
): Promise<Omit<Story, 'months' | 'owners' | 'open' | 'alerts' | 'forecasts'>> {
  const [proven = {}] = await connection.rows(await readSql('demo', 'comparisons'));
  const [biggestMover] = await connection.rows(await readSql('demo', 'biggest_mover'));
  const files: string[] = [];
  for (const report of demoReports) {
    const exports = join(folder, 'exports', report);
    const written = await readdir(exports, { recursive: true });
    const latest = written.filter((name) => /^latest\.|^[a-z_]+(-\d{4}-\d{2})?\.csv$/.test(basename(name))).sort();
    files.push(...latest.map((name) => join(exports, name)));
  }
  files.push(snapshotFile(folder));
  return { folder, seconds, state: await completenessOf(connection), proven, biggestMover, files };
}

/** The accrual of the current month. */
function accrual(open: SqlRow | undefined): string {
  if (open === undefined || open['accrual'] === null) return '';
  return `
Accrue ${usd(open['accrual'])} USD for ${String(open['month']).slice(0, 7)}: ${usd(open['cost'])} in complete hours, ${usd(open['forecast_of_rest'])} expected in the rest of the month, by the forecast of ${open['forecast_basis']}.
`;
}

/** An amount for people; undefined if there is none. */
function usd(amount: unknown): string | undefined {
  return amount === null || amount === undefined ? undefined : Number(amount).toFixed(2);
}

/** The story in words. `cli` is the path of the program, for the commands to try next. */
export function describeStory(story: Story, cli: string, from: string): string {
  const { proven, biggestMover: mover } = story;
  const workspaces = [...new Set(story.months.flatMap((row) => Object.keys(row)))].filter(
    (name) => !['account', 'month', 'is_complete', 'total'].includes(name),
  );
  const columns = [...workspaces, 'total'];
  const table = formatTable(
    [{ name: 'USD', type: 'VARCHAR' }, ...columns.map((name) => ({ name, type: 'DECIMAL' }))],
    story.months.map((row) => [String(row['month']).slice(0, 7), ...columns.map((name) => usd(row[name]))]),
  );
  const amounts = { direct: 'direct_cost', shared: 'shared_cost', cost: 'cost', change: 'change', budget: 'budget' };
  const chargeback = formatTable(
    [{ name: 'team', type: 'VARCHAR' }, ...Object.keys(amounts).map((name) => ({ name, type: 'DECIMAL' }))],
    story.owners.map((row) => [
      String(row['owner'] ?? '(nobody)'),
      ...Object.values(amounts).map((name) => usd(row[name])),
    ]),
  );
  const forecasts = formatTable(
    ['budget', 'period', 'complete', 'forecast', 'low', 'high', 'of USD', 'exceeds on'].map((name, index) => ({
      name,
      type: index < 2 || name === 'exceeds on' ? 'VARCHAR' : 'DECIMAL',
    })),
    story.forecasts.map(({ budget, period, spent, forecast, low, high, amount, exceeds_on: exceedsOn }) => [
      budget ?? '',
      period,
      ...[spent, forecast, low, high, amount].map((usd) => (usd === null ? 'none' : Number(usd).toFixed(2))),
      exceedsOn ?? (Number(spent) >= Number(amount) ? 'exceeded' : ''),
    ]),
  );
  const program = cli.includes('node_modules') ? 'npx costbook' : `node ${relative(from, cli)}`;
  return `
${table}
${describeCompleteness(story.state)}
${accrual(story.open)}
Reconciled: ${proven['windows']} windows, ${proven['pages']} pages, ${proven['rows']} rows in ${Math.round(story.seconds)} s.
  ${proven['comparisons']} comparisons with the platform's own totals: ${proven['all_proven'] ? 'all match' : 'NOT ALL MATCH'}.
  Costbook ${proven['cost']} USD, platform ${proven['platform_cost']} USD, difference ${proven['difference']}.
${
  mover === undefined
    ? ''
    : `
Biggest change in the last seven days: ${mover['resource_type']} ${mover['resource_name']} in ${mover['workspace'] ?? 'no workspace'},
  ${mover['week_before']} USD in the week before, ${mover['this_week']} USD this week.
`
}
Chargeback of the last whole month in USD, by the rules in jobs/allocation.yaml:
${chargeback}
Team labels have several spellings (paymnets, PAYMENTS); the aliases in that file merge them.

Budget forecasts: the cost of complete hours plus a forecast of the rest. 80 of 100 periods should end between low and high:
${forecasts}

Files:
${story.files.map((file) => `  ${relative(from, file)}`).join('\n')}

Ask the books anything:
  ${program} sql --dir ${relative(from, story.folder) || '.'} "select resource_type, sum(cost) as cost from costs group by all order by cost desc"

The budgets are in ${join(relative(from, story.folder), 'jobs', 'budgets.yaml')}:
  ${program} budgets --dir ${relative(from, story.folder) || '.'}
  ${program} budgets backtest everything --dir ${relative(from, story.folder) || '.'}
  ${program} forecast --dir ${relative(from, story.folder) || '.'}

Point it at a real account:
  export COSTBOOK_URL=https://api.example.com COSTBOOK_ACCOUNT=your-account
  export COSTBOOK_TOKEN=your-api-key
  ${program} ingest

With a Slack sink in costbook.yaml, "costbook alert" would now send:
${story.alerts.replace(/^to .*:\n/gm, '')}
See it all in the browser:
  ${program} serve --dir ${relative(from, story.folder) || '.'}
`;
}
