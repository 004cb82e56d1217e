import {
  deliverAll,
  dueSubscriptions,
  exitCodeOfDeliveries,
  loadAlertingConfig,
  mailsOfSubscriptions,
  parametersOfReport,
  periodsOfSubscriptions,
  undeliveredIn,
  type WrittenFiles,
} from '../alerts/index.ts';
import { UsageError, worstExitCode } from '../base/errors.ts';
import { loadConfig, loadReadable, type Subscription } from '../config/index.ts';
import { commandLineOf, inputOf, type Step } from '../jobs/index.ts';
import { reading } from '../options/read.ts';
import { options } from '../options/table.ts';
import { writingRun } from '../runs/index.ts';
import { formatTable } from '../terminal/index.ts';
import { counted } from '../text/counted.ts';
import { hourMs } from '../time/time.ts';
import { expectBooks, withBooks } from '../warehouse/integrity/index.ts';
import type { Command, CommandContext } from './command.ts';
import { openPublished } from './open-published.ts';
import { runInChild } from './run-in-child.ts';
import { statementCommand, statementsOf } from './statement.ts';

export const subscriptionsCommand: Command = {
  name: 'subscriptions',
  summary: 'Mail the reports and statements that people have subscribed to in costbook.yaml, each once for its period.',
  examples: ['costbook subscriptions', 'costbook subscriptions --dry-run'],
  async check(_, context) {
    await checkSubscriptions(subscriptionsIn(context), context);
  },
  async run(input, context) {
    const { dryRun: isDry, wait: waitMs } = reading(options.subscriptions, input, context).values;
    const subscriptions = subscriptionsIn(context);
    await checkSubscriptions(subscriptions, context);
    if (isDry || subscriptions.length === 0) return listSubscriptions(subscriptions, context);
    const config = loadAlertingConfig(context);
    await expectBooks(context.dir);
    return writingRun('subscriptions', waitMs, context, async (warehouse, runNumber) => {
      const books = await openPublished(warehouse, context);
      const { due, state } = await dueSubscriptions(subscriptions, books.connection, warehouse).finally(() =>
        books.close(),
      );
      const { messages, failures, exitCodes } = await mailsOfSubscriptions(
        due,
        { state, config, write: (step) => (step.name === 'statement' ? writeStatement : writeReport)(step, context) },
        context,
      );
      const at = await warehouse.seenAt(context.effects.now());
      const none = { raised: [], ended: [], notified: [], acknowledged: [] };
      await warehouse.recordEvaluation({ runNumber, at, ...none, messages });
      const deliveries = await deliverAll(warehouse, runNumber, config, context);
      const sent = deliveries.map(({ message: { sink, summary }, outcome }) => ({ sink, summary, outcome }));
      await context.answer({ due: due.map(({ key }) => key), messages: sent }, () =>
        [
          ...sent.map(({ sink, summary, outcome }) => `${outcome}  ${summary ?? 'alerts'}  → ${sink}\n`),
          ...(sent.length === 0 ? [`${counted(subscriptions.length, 'subscription')}, and nothing is due.\n`] : []),
        ].join(''),
      );
      context.count?.({ messages: sent.length });
      return {
        exitCode: worstExitCode([exitCodeOfDeliveries(deliveries), ...exitCodes]),
        failures: [...failures, ...undeliveredIn(deliveries)],
      };
    });
  },
};

/** The subscriptions of the project. Throws UsageError for mistakes in them; a sink with a mistake stops only what notifies. */
function subscriptionsIn({ dir, env, effects }: CommandContext): readonly Subscription[] {
  const place = { dir, env, now: effects.now(), requireAccounts: false } as const;
  const { subscriptions } = loadConfig(place);
  if (subscriptions !== undefined) return subscriptions;
  throw loadReadable({ ...place, requireSinks: true }).mistakes ?? new Error('subscriptions cannot be read');
}

/** Prints the subscriptions with their last period. */
async function listSubscriptions(subscriptions: readonly Subscription[], context: CommandContext): Promise<number> {
  if (subscriptions.length === 0) {
    await context.answer({ subscriptions: [] }, () => 'costbook.yaml has no subscriptions.\n');
    return 0;
  }
  return withBooks(context.dir, { lockedDown: true, signal: context.signal }, async ({ connection }) => {
    const periods = await periodsOfSubscriptions(subscriptions, connection);
    const rows = periods.map(({ subscription: { name, to, every, step, options: asked }, period }) => ({
      ...{ subscription: name, sends: String(asked['name'] ?? step), every, period: period?.name ?? null, to },
    }));
    await context.answer(
      { subscriptions: rows },
      () =>
        `${formatTable(
          ['subscription', 'sends', 'every', 'last period', 'to'].map((name) => ({ name, type: 'VARCHAR' })),
          rows.map(({ subscription, sends, every, period, to }) => [
            ...[subscription, sends, every, period ?? 'none yet', to.join(', ')],
          ]),
          context.layout,
        )}\n`,
    );
    return 0;
  });
}

/** Throws UsageError that lists what the steps of subscriptions would reject, and reports that are not about its period. */
async function checkSubscriptions(subscriptions: readonly Subscription[], context: CommandContext): Promise<void> {
  const problems: string[] = [];
  for (const subscription of subscriptions) {
    const { name, step, options: given, every } = subscription;
    try {
      const command = step === 'statement' ? statementCommand : (await import('./report.ts')).reportCommand;
      await command.check?.(inputOf({ name: step, options: given }), context);
      const has = await parametersOfReport(subscription, context.dir);
      if ((every === 'day' || every === 'week') && has.includes('month') && !has.includes('from')) {
        const found = `the report ${given['name']} is about a month: expected every: month or every: close`;
        problems.push(`costbook.yaml: subscriptions.${name}: ${found}`);
      }
    } catch (error) {
      if (!(error instanceof UsageError)) throw error;
      problems.push(...error.mistakes.map(({ found }) => `costbook.yaml: subscriptions.${name}: ${found}`));
    }
  }
  if (problems.length > 0) throw new UsageError(problems);
}

async function writeStatement(step: Step, context: CommandContext): Promise<WrittenFiles> {
  const [published] = await statementsOf(inputOf(step), quiet(context));
  if (published === undefined) throw new Error('no statement was written');
  return { folder: published.folder, amount: published.billedCost };
}

async function writeReport(step: Step, context: CommandContext): Promise<WrittenFiles> {
  const folders: string[] = [];
  const { signal } = context;
  await runInChild('report', inputOf(step), context, {
    ...{ subject: commandLineOf(step), timeoutMs: hourMs, signal, write: quiet(context).write },
    onPublished: ({ folder }) => void folders.push(folder),
  });
  const [folder] = folders;
  if (folder === undefined) throw new Error('no report was written');
  return { folder, amount: null };
}

/** The same command without its answer: the files have it. */
function quiet(context: CommandContext): CommandContext {
  return { ...context, write: async () => undefined, count: undefined };
}
