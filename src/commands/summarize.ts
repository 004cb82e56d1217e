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
  undeliveredIn,
} from '../alerts/index.ts';
import { exitCodes, worstExitCode } from '../base/errors.ts';
import { type LocalConfig, loadConfig, summarySinksOf } from '../config/index.ts';
import { eachOf } from '../options/kinds.ts';
import { reading } from '../options/read.ts';
import { options } from '../options/table.ts';
import { completenessOf } from '../reports/formats/index.ts';
import { writingRun } from '../runs/index.ts';
import { answersToOf, type Message, readInSlack, showsPictures, slackMessage } from '../sinks/index.ts';
import { parseChoice } from '../text/choices.ts';
import { formatSecond } from '../time/time.ts';
import { expectBooks, withBooks } from '../warehouse/integrity/index.ts';
import type { Connection } from '../warehouse/store/index.ts';
import { answerCache } from '../warehouse/store/index.ts';
import type { Command, CommandContext } from './command.ts';
import { openPublished } from './open-published.ts';

export const summarizeCommand: Command = {
  name: 'summarize',
  summary:
    'Send a summary of the last full week or month: cost and change, movers, budgets, anomalies, state of the data.',
  examples: ['costbook summarize', 'costbook summarize --period monthly --sink finops', 'costbook summarize --dry-run'],
  async check(input, { dir, env, effects }) {
    const { values, attempt, check } = reading(options.summarize, input, { effects });
    // A step that only names a sink does not need the variables with the sink's secrets.
    const { sinks } = loadConfig({ dir, env, now: effects.now(), requireAccounts: false });
    attempt(() => sinksIn(values.sink, summarySinksOf(sinks)));
    check();
  },
  async run(input, context) {
    const { values, attempt, problem, check } = reading(options.summarize, input, context);
    const { period, dryRun: isDry, wait: waitMs } = values;
    const config = loadAlertingConfig(context);
    const names = summarySinksOf(config.sinks);
    const asked = attempt(() => sinksIn(values.sink, names));
    const sinks = asked ?? config.alerts.notify.filter((sink) => names.includes(sink));
    if (!isDry && sinks.length === 0) problem('costbook.yaml has no sinks for a summary: add one, or use --dry-run');
    check();
    const { problem: mistake, ...before } = alertFactsOptions({ config }, context);
    if (mistake !== undefined) throw mistake;
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
      const left = sinks.filter((sink) => !notified.has(sink));
      if (left.length > 0) {
        const books = await openPublished(warehouse, context);
        try {
          const made = await message(books.connection);
          const at = await warehouse.seenAt(context.effects.now());
          const withPictures = config.sinks.filter(({ settings }) => showsPictures(settings)).map((sink) => sink.name);
          const pictures = left.some((sink) => withPictures.includes(sink))
            ? await readSummaryPicture(books.connection, period, context.effects.now(), context.effects.log)
            : [];
          const models = modelsFor(left, config).filter((sink) => !notified.has(sink));
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
      return { exitCode, failures: undeliveredIn(deliveries) };
    });
  },
};

function sinksIn(given: readonly string[] | undefined, names: readonly string[]): readonly string[] | undefined {
  return given && eachOf(given, '--sink', (sink) => parseChoice(sink, names));
}

/** The models that write a paragraph for some of the sinks. */
function modelsFor(sinks: readonly string[], config: LocalConfig): readonly string[] {
  return config.sinks.flatMap(({ name, type, settings }) =>
    type === 'model' && answersToOf(settings).some((sink) => sinks.includes(sink)) ? [name] : [],
  );
}

async function show(message: (connection: Connection) => Promise<Message>, context: CommandContext): Promise<number> {
  return withBooks(context.dir, { lockedDown: true, signal: context.signal }, async (books) => {
    const made = await message(books.connection);
    const slack = slackMessage({ ...made, id: 'dry-run', mayBeRepeat: false, isTest: false });
    await context.answer(slack, () => `${readInSlack(slack)}\n`);
    return exitCodes.done;
  });
}
