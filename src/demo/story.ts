import { readdir } from 'node:fs/promises';
import { basename, join, relative } from 'node:path';
import { type CompletenessState, completenessOf, describeCompleteness } from '../reports/index.ts';
import { formatTable } from '../terminal/index.ts';
import { type Connection, type ForecastRow, readSql, type SqlRow, snapshotFile } from '../warehouse/index.ts';

/** What the demo writes. */
export const demoReports = [
  'summary',
  'monthly_by_workspace',
  'chargeback_summary',
  'cost_by_workspace',
  'chargeback',
] as const;

/** What a person wants to see of the demo's books. */
export interface Story {
  readonly folder: string;
  readonly seconds: number;
  readonly state: CompletenessState;
  /** The report monthly_by_workspace. */
  readonly months: readonly SqlRow[];
  /** The report chargeback_summary of the last whole month. */
  readonly owners: readonly SqlRow[];
  /** Of the report summary, the month that is not over. */
  readonly open: SqlRow | undefined;
  readonly proven: SqlRow;
  readonly biggestMover: SqlRow | undefined;
  readonly files: readonly string[];
  /** What its budgets are expected to come to. */
  readonly forecasts: readonly ForecastRow[];
  /** What would be told now, as one would read it in Slack. */
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

/** What finance accrues for the month that is not over. */
function accrual(open: SqlRow | undefined): string {
  if (open === undefined || open['accrual'] === null) return '';
  return `
Accrue for ${String(open['month']).slice(0, 7)}: ${usd(open['accrual'])} USD, ${usd(open['cost'])} so far and ${usd(open['forecast_of_rest'])} to come (${open['forecast_basis']}).${
    String(open['forecast_basis']).startsWith('mean')
      ? '\nA model forecasts the budgets below. "costbook alert" stores that forecast, and the accrual then uses it.'
      : ''
  }
`;
}

/** An amount as a person reads it; undefined where there is none. */
function usd(amount: unknown): string | undefined {
  return amount === null || amount === undefined ? undefined : Number(amount).toFixed(2);
}

/** The story in words. `cli` is the path of the program, for the commands to try next. */
export function describeStory(story: Story, cli: string): string {
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
    ['budget', 'period', 'USD spent', 'forecast', 'low', 'high', 'of USD', 'exceeds on'].map((name, index) => ({
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
  const program = cli.includes('node_modules') ? 'npx costbook' : `node ${relative('.', cli)}`;
  return `
${table}
${describeCompleteness(story.state)}
${accrual(story.open)}
Proven: ${proven['windows']} windows, ${proven['pages']} pages, ${proven['rows']} rows in ${Math.round(story.seconds)} s.
  ${proven['comparisons']} comparisons with the platform's own totals, ${proven['all_proven'] ? 'all of them met' : 'NOT ALL MET'}.
  Ours ${proven['cost']} USD, the platform's ${proven['platform_cost']} USD, difference ${proven['difference']}.
${
  mover === undefined
    ? ''
    : `
Biggest mover of the last seven days: ${mover['resource_type']} ${mover['resource_name']} in ${mover['workspace'] ?? 'no workspace'},
  ${mover['week_before']} USD in the week before, ${mover['this_week']} USD now.
`
}
Charged back, the last whole month in USD, by the rules of jobs/allocation.yaml:
${chargeback}
The teams' labels are written in many ways (paymnets, PAYMENTS); the aliases in that file make one team of each.

What its budgets will come to: what complete hours cost, and a forecast of those that are left; 80 of 100 should end between low and high:
${forecasts}

Files:
${story.files.map((file) => `  ${relative('.', file)}`).join('\n')}

Ask the books anything:
  ${program} sql --dir ${relative('.', story.folder) || '.'} "select resource_type, sum(cost) as cost from costs group by all order by cost desc"

Its budgets stand in ${join(relative('.', story.folder), 'jobs', 'budgets.yaml')}:
  ${program} budgets --dir ${relative('.', story.folder) || '.'}
  ${program} budgets backtest everything --dir ${relative('.', story.folder) || '.'}
  ${program} forecast --dir ${relative('.', story.folder) || '.'}

Point it at a real account:
  export COSTBOOK_URL=https://api.example.com COSTBOOK_ACCOUNT=your-account
  export COSTBOOK_TOKEN=your-api-key
  ${program} ingest

Were it asked to tell somebody now ("costbook alert", with a sink in costbook.yaml), this is what Slack would show:
${story.alerts.replace(/^to .*:\n/gm, '')}`;
}
