import {
  alertFactsOptions,
  alertWithoutBooks,
  asKnown,
  asRaised,
  type Delivery,
  deliverAll,
  exitCodeOf,
  forgetUnstored,
  type Message,
  maxAlertsOfAgent,
  messagesOf,
  type OutgoingMessage,
  originOf,
  readableAlertingConfig,
  readInSlack,
  readPictures,
  slackMessage,
  type UnstoredAlert,
  unstoredAlerts,
} from '../alerts/index.ts';
import { exitCodes, isForRepair, messageOf, UnprovenError, worstExitCode } from '../base/errors.ts';
import { act } from '../base/next-step.ts';
import { forecastLevel, forecastRow } from '../budgets/index.ts';
import type { LocalConfig } from '../config/index.ts';
import { type AlertFactsOptions, cardOf, readAlertFacts, type Transitions, transitionsOf } from '../findings/index.ts';
import { completenessOf, describeCompleteness } from '../reports/index.ts';
import { counted } from '../text/counted.ts';
import { forTerminal } from '../text/safe-text.ts';
import { formatSecond, type Instant } from '../time/time.ts';
import {
  type AnswerCache,
  answerCache,
  expectBooks,
  type KnownAlert,
  knownAlerts,
  type MadeBy,
  type NewMessage,
  openBooks,
  type Warehouse,
} from '../warehouse/index.ts';
import type { Command, CommandContext } from './command.ts';
import { faultsOfFiles } from './files-of-books.ts';
import { openPublished } from './open-published.ts';
import { optionReader } from './options.ts';
import { waitOption } from './wait.ts';
import { type Outcome, writingRun } from './writing-run.ts';

export const alertCommand: Command = {
  name: 'alert',
  summary: 'Evaluate budgets, anomalies and data problems, and send each new alert once.',
  options: [
    { flags: '--dry-run', summary: 'print what would be sent, as it looks in Slack; send nothing' },
    waitOption,
  ],
  tellsMistakes: true,
  examples: ['costbook alert', 'costbook alert --dry-run', 'costbook alert --json --wait 10m'],
  async run(input, context) {
    const options = optionReader(input, context.effects.now());
    const waitMs = options.duration('wait') ?? 0;
    options.check();
    if (options.flag('dryRun')) return showOnly(context);
    const read = readableAlertingConfig(context);
    const { config } = read;
    const origin = originOf(config, context);
    const { problem, ...before } = alertFactsOptions(read, context);
    await expectBooks(context.dir); // nothing published: nothing to report, no file to make
    let problems = problem === undefined ? [] : [problem];
    const evaluate = () =>
      writingRun('alert', waitMs, context, async (warehouse, runNumber) => {
        const waiting = await unstoredAlerts(context, config.alerts.notify);
        // The run may have set the clock back, and a step before this one may have run the checks.
        const asked = { ...before, ...checksOfRun(context), now: context.effects.now() };
        const stored = await warehouse.knownAlerts();
        const unstored = waiting.flatMap((alert) => notStored(alert, stored) ?? []);
        const known = withUnstored(stored, unstored);
        const books = await openPublished(warehouse, context);
        const cache = answerCache(books.connection);
        let transitions: Transitions;
        let messages: NewMessage[];
        let completeness: string;
        let bug: unknown;
        let spends: Outcome['spends'];
        try {
          const asking = { ...asked, problem, runNumber, cache, isForecastStored: true };
          const found = await readAlertFacts(books.connection, known, asking);
          const { facts, problem: further, missing, forecasts, anomalies } = found;
          ({ bug, spends } = found);
          for (const sentence of missing) context.tell(`warning: no data: ${sentence}`);
          problems = [...problems, ...(further === undefined ? [] : [further])];
          const state = await completenessOf(books.connection);
          completeness = describeCompleteness(state);
          const at = await warehouse.seenAt(asked.now);
          // Stored before they are sent, so that a kill between the two loses nothing.
          await warehouse.recordAnomalies({ runNumber, at, ...anomalies });
          transitions = transitionsOf(known, facts, { now: at, everybody: config.alerts.notify });
          const pictures = await readPictures(books.connection, transitions.entries, config.sinks, {
            ...asked,
            forecasts,
            log: context.effects.log,
          });
          const [agents, incidents] = [agentsOf(config), incidentSinksOf(config)];
          messages = messagesOf(transitions.entries, { ...state, at: formatSecond(at), origin }, pictures, {
            agents,
            incidents,
          });
          tellOfAgents(transitions.entries, agents, context);
          // Stored before alerts about them, so that no message names a forecast that is not stored.
          await warehouse.recordForecasts({
            runNumber,
            at,
            loadNumber: await warehouse.lastLoadNumber(),
            level: forecastLevel,
            forecasts: forecasts.flatMap((forecast) => forecastRow(forecast) ?? []),
          });
          await storeAlerts(unstored, warehouse, runNumber, at);
          await warehouse.recordEvaluation({ runNumber, at, ...transitions, messages });
          await warehouse.rememberChecks();
          await forgetUnstored(context.dir);
          await storeAnswers(cache, { runNumber, at }, warehouse, context);
        } finally {
          books.close();
        }
        const open = openAfter(known, transitions);
        if (config.sinks.length === 0 && open > 0) context.tell(nobodyNotified(open, read));
        const deliveries = await deliverAll(warehouse, runNumber, config, context);
        context.count?.({
          raised: transitions.raised.length,
          ended: transitions.ended.length,
          messages: deliveries.length,
          delivered: deliveries.filter(({ outcome }) => outcome === 'delivered').length,
        });
        await answer(transitions, deliveries, completeness, context);
        for (const error of problems) for (const line of error.message.split('\n')) context.tell(`costbook: ${line}`);
        if (bug !== undefined) throw bug;
        const code = worstExitCode([exitCodeOf(deliveries), ...problems.map((error) => error.exitCode)]);
        return { exitCode: code, error: code === exitCodes.done ? undefined : failureOf(deliveries, problems), spends };
      });
    return evaluate().catch(async (error: unknown) => {
      // The run of a job notifies once, for all of its steps.
      if (context.run === undefined) {
        await alertWithoutBooks('alert', error, context, { isOfBooks: isForRepair(error) });
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

/** The sinks that get a message for each alert. */
function agentsOf({ sinks }: LocalConfig): readonly string[] {
  return sinks.flatMap(({ name, type }) => (type === 'agent' ? [name] : []));
}

/** The sinks that open an incident for each alert. */
function incidentSinksOf({ sinks }: LocalConfig): readonly string[] {
  return sinks.flatMap(({ name, type }) => (type === 'pagerduty' ? [name] : []));
}

/** Warns if an agent does not get all alerts of an evaluation. */
function tellOfAgents(entries: Transitions['entries'], agents: readonly string[], { tell }: CommandContext): void {
  for (const agent of agents) {
    const count = entries.filter(({ sinks }) => sinks.includes(agent)).length;
    if (count <= maxAlertsOfAgent) continue;
    tell(
      `warning: the sink ${agent} gets the ${maxAlertsOfAgent} most urgent of ${count} alerts: each is a call of its agent`,
    );
  }
}

/** An alert that was sent without the books, as it will be stored; undefined if a killed run already stored it. */
function notStored(alert: UnstoredAlert, known: readonly KnownAlert[]): UnstoredAlert | undefined {
  const stored = known.find(({ key }) => key === alert.fact.key);
  if (stored === undefined) return { ...alert, occurrence: Math.max(1, alert.occurrence) };
  // An empty file does not say which occurrence it is.
  if (alert.occurrence === 0) return stored.isOpen ? undefined : { ...alert, occurrence: stored.occurrence + 1 };
  return stored.occurrence >= alert.occurrence ? undefined : alert;
}

function withUnstored(known: readonly KnownAlert[], unstored: readonly UnstoredAlert[]): readonly KnownAlert[] {
  const sent = unstored.map(asKnown);
  return [...known.filter(({ key }) => !sent.some((alert) => alert.key === key)), ...sent];
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
  const nothing = { ended: [], notified: [], acknowledged: [], messages: [] };
  await warehouse.recordEvaluation({ runNumber, at, raised: unstored.map(asRaised), ...nothing });
}

/** How many alerts are open after an evaluation. */
function openAfter(known: readonly KnownAlert[], { raised, ended }: Transitions): number {
  const keys = new Set(known.flatMap(({ isOpen, key }) => (isOpen ? [key] : [])));
  for (const { key } of ended) keys.delete(key);
  for (const { key } of raised) keys.add(key);
  return keys.size;
}

function failureOf(deliveries: readonly Delivery[], problems: readonly Error[]): string {
  const failed = deliveries.filter(({ outcome }) => outcome !== 'delivered');
  return [
    ...problems.map(({ message }) => message),
    ...failed.map(
      ({ message, outcome, reason }) => `message ${message.id} to ${message.sink} ${outcome}: ${reason ?? 'order'}`,
    ),
  ].join('\n');
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
      next: act(`${fault.remedy}.`),
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
    const known = await knownAlerts(books.connection);
    const read = await readAlertFacts(books.connection, known, {
      ...{ ...asked, problem },
      cache: answerCache(books.connection),
    });
    for (const sentence of read.missing) context.tell(`warning: no data: ${sentence}`);
    const everybody = config.sinks.length === 0 ? ['(no sink yet)'] : config.alerts.notify;
    const { entries } = transitionsOf(known, read.facts, { now: asked.now, everybody });
    const state = await completenessOf(books.connection);
    const head = { ...state, at: formatSecond(asked.now), origin: originOf(config, context) };
    const messages = messagesOf(entries, head, undefined, {
      agents: agentsOf(config),
      incidents: incidentSinksOf(config),
    });
    if (read.bug !== undefined) throw read.bug;
    const [fault] = await faultsOfFiles(context.dir, books, context.signal);
    return { messages, problem: problem ?? read.problem, fault };
  } finally {
    books.close();
  }
}
