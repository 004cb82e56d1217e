import {
  alertFactsOptions,
  deliverAll,
  exitCodeOfDeliveries,
  loadAlertingConfig,
  newMessage,
  originOf,
  readCostSummary,
  readSummaryPicture,
  type SummaryPeriod,
  summaryWindows,
} from '../alerts/index.ts';
import { exitCodes, worstExitCode } from '../base/errors.ts';
import { type LocalConfig, loadConfig, summarySinksOf } from '../config/index.ts';
import { completenessOf } from '../reports/formats/index.ts';
import { answersToOf, type Message, readInSlack, showsPictures, slackMessage } from '../sinks/index.ts';
import { formatSecond } from '../time/time.ts';
import { expectBooks, openBooks } from '../warehouse/integrity/index.ts';
import type { Connection } from '../warehouse/store/index.ts';
import { answerCache } from '../warehouse/store/index.ts';
import type { Command, CommandContext } from './command.ts';
import { openPublished } from './open-published.ts';
import { optionReader } from './options.ts';
import { waitOption } from './wait.ts';
import { writingRun } from './writing-run.ts';

const periods = ['weekly', 'monthly'] as const;

export const summarizeCommand: Command = {
  name: 'summarize',
  summary:
    'Send a summary of the last full week or month: cost and change, movers, budgets, anomalies, state of the data.',
  options: [
    { flags: '--period <period>', summary: 'weekly or monthly; weekly by default' },
    { flags: '--sink <names>', summary: 'sinks that get it, comma-separated; by default the sinks in alerts.notify' },
    { flags: '--dry-run', summary: 'print it as it looks in Slack; send nothing' },
    waitOption,
  ],
  examples: ['costbook summarize', 'costbook summarize --period monthly --sink finops', 'costbook summarize --dry-run'],
  async check(input, { dir, env, effects }) {
    const options = optionReader(input, effects.now());
    options.choice('period', periods);
    // A step that only names a sink does not need the variables with the sink's secrets.
    const { sinks } = loadConfig({ dir, env, now: effects.now(), requireAccounts: false });
    options.choices('sink', summarySinksOf(sinks));
    options.check();
  },
  async run(input, context) {
    const options = optionReader(input, context.effects.now());
    const period = options.choice('period', periods) ?? 'weekly';
    const waitMs = options.duration('wait') ?? 0;
    const isDry = options.flag('dryRun');
    const config = loadAlertingConfig(context);
    const names = summarySinksOf(config.sinks);
    const sinks = options.choices('sink', names) ?? config.alerts.notify.filter((sink) => names.includes(sink));
    if (!isDry && sinks.length === 0)
      options.problem('costbook.yaml has no sinks for a summary: add one, or use --dry-run');
    options.check();
    const { problem, ...before } = alertFactsOptions({ config }, context);
    if (problem !== undefined) throw problem;
    const message = async (connection: Connection): Promise<Message> => {
      const asked = { ...before, now: context.effects.now(), cache: answerCache(connection) }; // the run may have set the clock back
      const state = await completenessOf(connection);
      const summary = await readCostSummary(connection, period, { ...asked, budgets: asked.budgets ?? [] });
      return {
        kind: 'summary',
        at: formatSecond(asked.now),
        ...state,
        entries: [],
        summary,
        origin: originOf(config, context),
      };
    };
    if (isDry) return show(message, context);
    await expectBooks(context.dir);
    return writingRun('summarize', waitMs, context, async (warehouse, runNumber) => {
      const { name } = summaryWindows(period satisfies SummaryPeriod, context.effects.now());
      const notified = await warehouse.sinksOfSummary(name);
      const left = sinks.filter((sink) => !notified.includes(sink));
      if (left.length > 0) {
        const books = await openPublished(warehouse, context);
        try {
          const made = await message(books.connection);
          const at = await warehouse.seenAt(context.effects.now());
          const withPictures = config.sinks.filter(({ settings }) => showsPictures(settings)).map((sink) => sink.name);
          const pictures = left.some((sink) => withPictures.includes(sink))
            ? await readSummaryPicture(books.connection, period, context.effects.now(), context.effects.log)
            : [];
          const models = modelsFor(left, config).filter((sink) => !notified.includes(sink));
          const messages = [...models, ...left].map((sink) =>
            newMessage(sink, pictures.length > 0 && withPictures.includes(sink) ? { ...made, pictures } : made, name),
          );
          await warehouse.recordEvaluation({
            runNumber,
            at,
            raised: [],
            ended: [],
            notified: [],
            acknowledged: [],
            messages,
          });
        } finally {
          books.close();
        }
      }
      const deliveries = await deliverAll(warehouse, runNumber, config, context);
      const outcomes = deliveries.map(({ message: { sink, summary }, outcome }) => ({
        sink,
        summary: summary ?? null,
        outcome,
      }));
      if (context.json)
        await context.write(`${JSON.stringify({ summary: name, isNew: left.length > 0, messages: outcomes })}\n`);
      else {
        const lines = outcomes.map(({ sink, summary, outcome }) => `${outcome}  ${summary ?? 'alerts'}  → ${sink}`);
        await context.write(`${[...lines, ...(left.length > 0 ? [] : [`${name} was already sent.`])].join('\n')}\n`);
      }
      context.count?.({
        messages: outcomes.length,
        delivered: outcomes.filter(({ outcome }) => outcome === 'delivered').length,
      });
      const exitCode = worstExitCode([exitCodeOfDeliveries(deliveries)]);
      return { exitCode, error: exitCode === exitCodes.done ? undefined : 'messages were not delivered' };
    });
  },
};

/** The models that write a paragraph for some of the sinks. */
function modelsFor(sinks: readonly string[], config: LocalConfig): readonly string[] {
  return config.sinks.flatMap(({ name, type, settings }) =>
    type === 'model' && answersToOf(settings).some((sink) => sinks.includes(sink)) ? [name] : [],
  );
}

async function show(message: (connection: Connection) => Promise<Message>, context: CommandContext): Promise<number> {
  const books = await openBooks(context.dir, { lockedDown: true, signal: context.signal });
  try {
    const made = await message(books.connection);
    const slack = slackMessage({ ...made, id: 'dry-run', mayBeRepeat: false, isTest: false });
    await context.write(context.json ? `${JSON.stringify(slack)}\n` : `${readInSlack(slack)}\n`);
    return exitCodes.done;
  } finally {
    books.close();
  }
}
