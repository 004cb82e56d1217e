import { copyFile, mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { basename, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { budgetsFile, forecastRow, loadBudgets, readForecasts } from '../budgets/index.ts';
import { UsageError } from '../errors.ts';
import { type CompletenessState, completenessOf, describeCompleteness, formatTable } from '../reports/index.ts';
import { formatInstant } from '../time.ts';
import {
  type Connection,
  type ForecastRow,
  openBooks,
  readSql,
  type SqlRow,
  snapshotFile,
} from '../warehouse/index.ts';
import { alertCommand } from './alert.ts';
import type { Command, CommandContext } from './command.ts';
import { ingestCommand } from './ingest.ts';
import { startInventedPlatform } from './invented-platform.ts';
import { reportCommand } from './report.ts';

/** What the demo writes. */
const reports = ['summary', 'monthly_by_workspace', 'chargeback_summary', 'cost_by_workspace', 'chargeback'] as const;

/** Marks a folder that the demo created, so that the next demo may empty it. */
const marker = '.costbook-demo';
const cli = fileURLToPath(new URL('../cli.js', import.meta.url));
/** Allocation rules and budgets of the demo; next to `dist` in a package. */
const demoJobs = fileURLToPath(new URL('../../jobs/demo', import.meta.url));
const jobs = ['allocation.yaml', 'budgets.yaml'] as const;

export const demoCommand: Command = {
  name: 'demo',
  summary: 'See Costbook at work in a minute: an invented platform, its books, reports and alerts.',
  options: [{ flags: '--seed <number>', summary: 'a different seed gives a different account' }],
  needsProject: () => false,
  examples: ['costbook demo', 'costbook demo --dir /tmp'],
  makesFolder: true,
  async run(input, context) {
    const begun = Date.now();
    const folder = join(context.dir, 'costbook-demo');
    await prepareFolder(folder);
    const seed = typeof input.options['seed'] === 'string' ? ['--seed', input.options['seed']] : [];
    const now = formatInstant(context.effects.now());
    const platform = await startInventedPlatform([cli, 'emulator', '--now', now, ...seed], context.signal);
    try {
      const { url, account, tokens } = platform;
      context.tell(
        `An invented platform is running at ${url}. Its account ${account} has thirteen months of hourly costs.`,
      );
      context.tell(`Costbook fetches, reconciles and loads them into ${folder}:`);
      const said: string[] = [];
      const inDemo: CommandContext = {
        ...context,
        dir: folder,
        json: false,
        env: { COSTBOOK_URL: url, COSTBOOK_TOKEN: tokens.admin, COSTBOOK_ACCOUNT: account },
        write: async (data) => void said.push(String(data)),
      };
      const exitCode = await ingestCommand.run({ arguments: [], options: {} }, quiet(inDemo));
      if (exitCode !== 0) {
        context.tell(said.join(''));
        return exitCode;
      }
      const answers = new Map<string, Answered>();
      for (const report of reports) {
        const texts: string[] = [];
        const asking = { ...inDemo, json: true, write: async (data: unknown) => void texts.push(String(data)) };
        await reportCommand.run({ arguments: [report], options: { excel: true, format: 'csv,parquet' } }, asking);
        answers.set(report, JSON.parse(texts.join('')) as Answered);
      }
      const rowsOf = (report: (typeof reports)[number]): readonly SqlRow[] => answers.get(report)?.rows ?? [];
      const alerts: string[] = [];
      const asking: CommandContext = { ...inDemo, write: async (data) => void alerts.push(String(data)) };
      await alertCommand.run({ arguments: [], options: { dryRun: true } }, asking);
      const books = await openBooks(folder, { lockedDown: true });
      try {
        const budgets = loadBudgets(budgetsFile(folder), { now: context.effects.now() }) ?? [];
        const asked = { now: context.effects.now(), configured: [], budgets, withWorkspaces: false };
        const forecasts = (await readForecasts(books.connection, asked)).flatMap((made) => forecastRow(made) ?? []);
        const read = await readStory(books.connection, folder, (Date.now() - begun) / 1000);
        const story = {
          ...read,
          months: rowsOf('monthly_by_workspace'),
          owners: rowsOf('chargeback_summary'),
          open: rowsOf('summary').find(({ state }) => state === 'open'),
          forecasts,
          alerts: alerts.join(''),
        };
        await context.write(context.json ? `${JSON.stringify(story)}\n` : await inventStory(story));
      } finally {
        books.close();
      }
      return 0;
    } finally {
      await platform.stop();
    }
  },
};

/** Creates or empties the demo folder. Throws UsageError for a folder that no demo created. */
async function prepareFolder(folder: string): Promise<void> {
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException): string[] => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  if (names.length > 0 && !names.includes(marker)) {
    throw new UsageError(
      `${folder} already exists and was not created by a demo: move it away, or choose another place with --dir`,
    );
  }
  for (const name of ['data', 'exports', 'jobs']) await rm(join(folder, name), { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  await mkdir(join(folder, 'jobs'));
  for (const name of jobs) await copyFile(join(demoJobs, name), join(folder, 'jobs', name));
  await writeFile(join(folder, marker), 'Created by costbook demo. The demo empties this folder when it runs again.\n');
}

/** Without a live line the demo logs its progress now and then, not once per window. */
function quiet(context: CommandContext): CommandContext {
  const { log } = context.effects;
  return { ...context, effects: { ...context.effects, log: { info: () => undefined, warn: log.warn } } };
}

/** The parts of the answer of `report --json` that the demo uses. */
interface Answered {
  readonly rows: readonly SqlRow[];
}

/** What the demo shows of its books. */
interface Story {
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

async function readStory(
  connection: Connection,
  folder: string,
  seconds: number,
): Promise<Omit<Story, 'months' | 'owners' | 'open' | 'alerts' | 'forecasts'>> {
  const [proven = {}] = await connection.rows(await readSql('demo', 'comparisons'));
  const [biggestMover] = await connection.rows(await readSql('demo', 'biggest_mover'));
  const files: string[] = [];
  for (const report of reports) {
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
Accrue ${usd(open['accrual'])} USD for ${String(open['month']).slice(0, 7)}: ${usd(open['cost'])} spent so far, ${usd(open['forecast_of_rest'])} expected in the rest of the month (${open['forecast_basis']}).${
    String(open['forecast_basis']).startsWith('mean')
      ? '\nA model forecasts the budgets below. "costbook alert" stores that forecast, and the accrual then uses it.'
      : ''
  }
`;
}

/** An amount for people; undefined if there is none. */
function usd(amount: unknown): string | undefined {
  return amount === null || amount === undefined ? undefined : Number(amount).toFixed(2);
}

async function inventStory(story: Story): Promise<string> {
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
Charged back, the last whole month in USD, by the rules of jobs/allocation.yaml:
${chargeback}
Team labels have several spellings (paymnets, PAYMENTS); the aliases in that file merge them.

What its budgets will come to: what complete hours cost, and a forecast of those that are left; 80 of 100 should end between low and high:
${forecasts}

Files:
${story.files.map((file) => `  ${relative('.', file)}`).join('\n')}

Ask the books anything:
  ${program} sql --dir ${relative('.', story.folder) || '.'} "select resource_type, sum(cost) as cost from costs group by all order by cost desc"

The budgets are in ${join(relative('.', story.folder), 'jobs', 'budgets.yaml')}:
  ${program} budgets --dir ${relative('.', story.folder) || '.'}
  ${program} budgets backtest everything --dir ${relative('.', story.folder) || '.'}
  ${program} forecast --dir ${relative('.', story.folder) || '.'}

Point it at a real account:
  export COSTBOOK_URL=https://api.example.com COSTBOOK_ACCOUNT=your-account
  export COSTBOOK_TOKEN=your-api-key
  ${program} ingest

With a Slack sink in costbook.yaml, "costbook alert" would now send:
${story.alerts.replace(/^to .*:\n/gm, '')}`;
}
