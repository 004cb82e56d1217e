import { join } from 'node:path';
import { programs } from '../base/places.ts';
import { forecastRow, readForecasts } from '../budgets/forecasts/index.ts';
import { budgetsFile, loadBudgets } from '../budgets/rules/index.ts';
import { demoReports, describeStory, prepareFolder, readStory, startInventedPlatform } from '../demo/index.ts';
import { read } from '../options/read.ts';
import { options } from '../options/table.ts';
import { hourMs } from '../time/time.ts';
import { openBooks } from '../warehouse/integrity/index.ts';
import type { SqlRow } from '../warehouse/store/index.ts';
import { answerCache } from '../warehouse/store/index.ts';
import { alertCommand } from './alert.ts';
import type { Command, CommandContext } from './command.ts';
import { ingestCommand } from './ingest.ts';
import { answerInChild } from './run-in-child.ts';
import { serveCommand } from './serve.ts';

export const demoCommand: Command = {
  name: 'demo',
  summary: 'See Costbook at work in a minute: an invented platform, its books, reports and alerts.',
  needsProject: () => false,
  examples: ['costbook demo', 'costbook demo --dir /tmp', 'costbook demo --serve'],
  makesFolder: true,
  async run(input, context) {
    const begun = Date.now();
    const folder = join(context.dir, 'costbook-demo');
    const { seed, serve } = read(options.demo, input, context);
    await prepareFolder(folder);
    const platform = await startInventedPlatform({ now: context.effects.now(), seed }, context.signal);
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
      const alerts = await evaluate(inDemo);
      const formats = { excel: true, format: 'csv,parquet' } as const;
      const answers = new Map<string, Answered>();
      for (const report of demoReports) {
        const limits = { subject: `the report ${report}`, timeoutMs: hourMs, signal: context.signal };
        answers.set(
          report,
          await answerInChild<Answered>('report', { arguments: [report], options: formats }, inDemo, limits),
        );
      }
      const rowsOf = (report: (typeof demoReports)[number]): readonly SqlRow[] => answers.get(report)?.rows ?? [];
      const books = await openBooks(folder, { lockedDown: true });
      try {
        const budgets = loadBudgets(budgetsFile(folder), { now: context.effects.now() }) ?? [];
        const cache = answerCache(books.connection);
        const asked = { now: context.effects.now(), configured: [], budgets, withWorkspaces: false, cache };
        const forecasts = (await readForecasts(books.connection, asked)).flatMap((made) => forecastRow(made) ?? []);
        const read = await readStory(books.connection, folder, (Date.now() - begun) / 1000);
        const story = {
          ...read,
          months: rowsOf('monthly_by_workspace'),
          owners: rowsOf('chargeback_summary'),
          open: rowsOf('summary').find(({ state }) => state === 'open'),
          forecasts,
          alerts,
        };
        await context.answer(story, () => describeStory(story, programs.cli, context.folder));
      } finally {
        books.close();
      }
    } finally {
      await platform.stop();
    }
    if (!serve) return 0;
    return serveCommand.run({ arguments: [], options: {} }, { ...context, dir: folder, json: false, env: {} });
  },
};

/** The alerts as Slack would show them. Then evaluates them for real, which stores forecasts and anomalies; there is no sink. */
async function evaluate(inDemo: CommandContext): Promise<string> {
  const alerts: string[] = [];
  const shown: CommandContext = { ...inDemo, write: async (data) => void alerts.push(String(data)) };
  await alertCommand.run({ arguments: [], options: { dryRun: true } }, shown);
  const silent: CommandContext = { ...quiet(inDemo), tell: () => undefined, write: async () => undefined };
  await alertCommand.run({ arguments: [], options: {} }, silent);
  return alerts.join('');
}

/** Without a live line the demo logs its progress now and then, not once per window. */
function quiet(context: CommandContext): CommandContext {
  const { log } = context.effects;
  return { ...context, effects: { ...context.effects, log: { info: () => undefined, warn: log.warn } } };
}

/** The part of a report's answer that the demo uses. */
interface Answered {
  readonly rows: readonly SqlRow[];
}
