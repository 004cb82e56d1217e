import {
  alertFactsOptions,
  alertWithoutBooks,
  asRaised,
  type Delivery,
  deliverAll,
  type Evaluated,
  evaluateAlerts,
  exitCodeOfDeliveries,
  forgetUnstored,
  maxAlertsOfAgent,
  originOf,
  readableAlertingConfig,
  type UnstoredAlert,
  undeliveredIn,
  unstoredAlerts,
} from '../alerts/index.ts';
import { exitCodes, isForRepair, messageOf, UnprovenError, wordsOf, worstExitCode } from '../base/errors.ts';
import { failuresOf } from '../base/failure.ts';
import { forecastRow } from '../budgets/forecasts/index.ts';
import { type AlertFactsOptions, cardOf, type Transitions } from '../findings/index.ts';
import { faultsOfFiles } from '../health/index.ts';
import { read } from '../options/read.ts';
import { options } from '../options/table.ts';
import { forecastLevel } from '../outlook/index.ts';
import { describeCompleteness } from '../reports/formats/index.ts';
import { writingRun } from '../runs/index.ts';
import { type Message, type OutgoingMessage, readInSlack, slackMessage } from '../sinks/index.ts';
import { counted } from '../text/counted.ts';
import { forTerminal } from '../text/safe-text.ts';
import type { Instant } from '../time/time.ts';
import type { Warehouse } from '../warehouse/index.ts';
import { expectBooks, openBooks } from '../warehouse/integrity/index.ts';
import { type AnswerCache, answerCache, type MadeBy } from '../warehouse/store/index.ts';
import { knownAlerts } from '../warehouse/watch/index.ts';
import type { Command, CommandContext } from './command.ts';
import { openPublished } from './open-published.ts';

export const alertCommand: Command = {
  name: 'alert',
  summary: 'Evaluate budgets, anomalies and data problems, and send each new alert once.',
  tellsMistakes: true,
  examples: ['costbook alert', 'costbook alert --dry-run', 'costbook alert --json --wait 10m'],
  async run(input, context) {
    const { dryRun, wait: waitMs } = read(options.alert, input, context);
    if (dryRun) return showOnly(context);
    const settings = readableAlertingConfig(context);
    const { config } = settings;
    const origin = originOf(config, context);
    const { problem, ...before } = alertFactsOptions(settings, context);
    await expectBooks(context.dir); // nothing published: nothing to report, no file to make
    let problems = problem === undefined ? [] : [problem];
    const evaluate = () =>
      writingRun('alert', waitMs, context, async (warehouse, runNumber) => {
        const waiting = await unstoredAlerts(context, config.alerts.notify);
        // The run may have set the clock back, and a step before this one may have run the checks.
        const asked = { ...before, ...checksOfRun(context), now: context.effects.now() };
        const stored = await warehouse.knownAlerts();
        const books = await openPublished(warehouse, context);
        const cache = answerCache(books.connection);
        let found: Evaluated;
        try {
          const at = await warehouse.seenAt(asked.now);
          found = await evaluateAlerts(books.connection, {
            asked: { ...asked, problem, runNumber, cache, isForecastStored: true },
            ...{ stored, waiting, config, everybody: config.alerts.notify, origin, at, log: context.effects.log },
          });
          for (const sentence of found.missing) context.tell(`warning: no data: ${sentence}`);
          problems = [...problems, ...(found.problem === undefined ? [] : [found.problem])];
          tellOfAgents(found, context);
          // All is stored before it is sent, so that a kill between the two loses nothing; forecasts and anomalies before
          // alerts about them, so that no message names one that is not stored.
          await warehouse.recordAnomalies({ runNumber, at, ...found.anomalies });
          await warehouse.recordForecasts({
            runNumber,
            at,
            loadNumber: await warehouse.lastLoadNumber(),
            level: forecastLevel,
            forecasts: found.forecasts.flatMap((forecast) => forecastRow(forecast) ?? []),
          });
          await storeAlerts(found.unstored, warehouse, runNumber, at);
          await warehouse.recordEvaluation({ runNumber, at, ...found.transitions, messages: found.messages });
          await warehouse.rememberChecks();
          await forgetUnstored(context.dir);
          await storeAnswers(cache, { runNumber, at }, warehouse, context);
        } finally {
          books.close();
        }
        const { transitions, bug, spends, open } = found;
        if (config.sinks.length === 0 && open > 0) context.tell(nobodyNotified(open, settings));
        const deliveries = await deliverAll(warehouse, runNumber, config, context);
        context.count?.({
          raised: transitions.raised.length,
          ended: transitions.ended.length,
          messages: deliveries.length,
          delivered: deliveries.filter(({ outcome }) => outcome === 'delivered').length,
        });
        await answer(transitions, deliveries, describeCompleteness(found.state), context);
        for (const line of problems.flatMap(wordsOf)) context.tell(line);
        if (bug !== undefined) throw bug;
        const code = worstExitCode([exitCodeOfDeliveries(deliveries), ...problems.map((error) => error.exitCode)]);
        return { exitCode: code, failures: [...problems.flatMap(failuresOf), ...undeliveredIn(deliveries)], spends };
      });
    return evaluate().catch(async (error: unknown) => {
      // The run of a job notifies once, for all of its steps.
      if (context.run === undefined) {
        await alertWithoutBooks('alert', failuresOf(error), context, isForRepair(error) ? error : undefined);
      }
      throw error;
    });
  },
};

function nobodyNotified(
  open: number,
  { mistakes }: Pick<ReturnType<typeof readableAlertingConfig>, 'mistakes'>,
): string {
  const [why, step] =
    mistakes === undefined
      ? ['costbook.yaml has no sinks', 'Add a sink']
      : ['the sinks of costbook.yaml cannot be read', 'Correct the file'];
  return (
    `warning: ${counted(open, 'alert')} ${open === 1 ? 'is' : 'are'} open but ${why}, so nobody is notified. ` +
    `${step}: a sink gets every open alert. "costbook alerts --open" lists them.`
  );
}

/** Warns if an agent does not get all alerts of an evaluation. */
function tellOfAgents({ beyondAgents }: Evaluated, { tell }: CommandContext): void {
  for (const { agent, count } of beyondAgents) {
    tell(
      `warning: the sink ${agent} gets the ${maxAlertsOfAgent} most urgent of ${count} alerts: each is a call of its agent`,
    );
  }
}

/** Stores what the run computed for later commands. They only take longer without it, so a failure is no failure of the run. */
async function storeAnswers(
  cache: AnswerCache,
  madeBy: MadeBy,
  warehouse: Warehouse,
  { effects, signal }: CommandContext,
): Promise<void> {
  try {
    await warehouse.storeAnswers(cache, madeBy);
  } catch (error) {
    signal.throwIfAborted();
    effects.log.warn('answers.not_stored', 'What this run computed is not stored: the next commands take longer', {
      reason: messageOf(error),
    });
  }
}

/** Stores alerts that were sent without the books, so that they can end. */
async function storeAlerts(
  unstored: readonly UnstoredAlert[],
  warehouse: Warehouse,
  runNumber: number,
  at: Instant,
): Promise<void> {
  if (unstored.length === 0) return;
  await warehouse.recordEvaluation({ runNumber, at, raised: unstored.map(asRaised) });
}

async function answer(
  { entries, ended }: Transitions,
  deliveries: readonly Delivery[],
  completeness: string,
  context: CommandContext,
): Promise<void> {
  if (context.json) {
    const value = {
      alerts: entries.map(({ entry: { key, occurrence, transition, fact }, sinks }) => ({
        key,
        occurrence,
        transition,
        severity: fact.severity,
        sinks,
      })),
      ended: ended.map(({ key, occurrence, ending }) => ({ key, occurrence, ending })),
      messages: deliveries.map(({ message, outcome, tries, reason }) => ({
        id: message.id,
        sink: message.sink,
        outcome,
        tries,
        mayBeRepeat: message.mayBeRepeat,
        reason: reason ?? null,
      })),
    };
    await context.write(`${JSON.stringify(value)}\n`);
    return;
  }
  const lines = entries.flatMap(({ entry, sinks }) => {
    const { icon, title } = cardOf(entry);
    return [
      `${icon} ${title}`,
      `   ${entry.transition}  ${forTerminal(entry.key)}${sinks.length === 0 ? '' : `  → ${sinks.join(', ')}`}`,
    ];
  });
  const delivered = deliveries.filter(({ outcome }) => outcome === 'delivered').length;
  const unsent = entries.length === 0 ? 'Nothing new.' : 'Nobody was notified.';
  const summary =
    deliveries.length === 0
      ? unsent
      : `${delivered} of ${deliveries.length} message${deliveries.length === 1 ? '' : 's'} delivered.`;
  await context.write(`${[...lines, summary, completeness].join('\n')}\n`);
}

/** Prints what the next `alert` would send, from the snapshot; writes and sends nothing. */
async function showOnly(context: CommandContext): Promise<number> {
  const { messages, problem, fault } = await readOnly(context);
  if (problem !== undefined) throw problem;
  if (fault !== undefined) {
    throw new UnprovenError(`${fault.found}. An alert would only say that the books cannot be written`, {
      next: fault.next,
    });
  }
  const outgoing = messages.map(
    ({ id, message }): OutgoingMessage => ({
      ...(JSON.parse(message) as Message),
      id,
      mayBeRepeat: false,
      isTest: false,
    }),
  );
  const shown = messages.map(({ sink }, index) => {
    const message = outgoing[index];
    return { sink, slack: message === undefined ? undefined : slackMessage(message) };
  });
  if (context.json) await context.write(`${JSON.stringify(shown)}\n`);
  else {
    const texts = shown.map(({ sink, slack }) => `to ${sink}:\n${slack === undefined ? '' : readInSlack(slack)}`);
    await context.write(texts.length === 0 ? 'Nothing new.\n' : `${texts.join('\n\n')}\n`);
  }
  return exitCodes.done;
}

/** How the alerts of a run get the results of its step `check`, if they are of the present books. */
function checksOfRun({ run }: CommandContext): Pick<AlertFactsOptions, 'runChecks' | 'areChecksRun'> {
  const found = run?.checksFound();
  return found === undefined ? {} : { runChecks: async () => found, areChecksRun: true };
}

/** What the next `alert` would send to each sink. Without sinks, all of it goes to a placeholder. */
async function readOnly(context: CommandContext) {
  const asRead = readableAlertingConfig(context);
  const { config } = asRead;
  const { problem, ...asked } = alertFactsOptions(asRead, context);
  const books = await openBooks(context.dir, { lockedDown: true, signal: context.signal });
  try {
    const { messages, missing, bug, ...found } = await evaluateAlerts(books.connection, {
      asked: { ...asked, problem, cache: answerCache(books.connection) },
      stored: await knownAlerts(books.connection),
      waiting: await unstoredAlerts(context, config.alerts.notify),
      everybody: config.sinks.length === 0 ? ['(no sink yet)'] : config.alerts.notify,
      ...{ config, origin: originOf(config, context), at: asked.now, log: context.effects.log },
    });
    for (const sentence of missing) context.tell(`warning: no data: ${sentence}`);
    if (bug !== undefined) throw bug;
    const [fault] = await faultsOfFiles(context.dir, books, context.signal);
    return { messages, problem: problem ?? found.problem, fault };
  } finally {
    books.close();
  }
}
