import { hostname } from 'node:os';
import { basename, join } from 'node:path';
import { loadAnomalyRules } from '../anomalies/index.ts';
import type { HttpSend } from '../base/effects.ts';
import { asOneError, exitCodes, mistakenSettings, UsageError } from '../base/errors.ts';
import type { Failure } from '../base/failure.ts';
import { act } from '../base/next-step.ts';
import type { ProjectContext } from '../base/project-context.ts';
import { type Budget, budgetsFile, loadBudgets } from '../budgets/rules/index.ts';
import {
  type AccountConfig,
  alertSinksOf,
  clientFor,
  holidaysOf,
  type LocalConfig,
  loadReadable,
  withWorkspaceToken,
} from '../config/index.ts';
import { readRates } from '../currency/index.ts';
import type { AlertFactsOptions } from '../findings/index.ts';
import type { Client } from '../platform/index.ts';
import { runChecks } from '../query/index.ts';
import {
  type ActingSettings,
  answersToOf,
  isActing,
  type Origin,
  openSink,
  type SendMessage,
  type SinkEffects,
  secretsOf,
} from '../sinks/index.ts';
import { counted } from '../text/counted.ts';
import type { Warehouse } from '../warehouse/index.ts';
import { type ActingRules, type Delivery, deliver } from './deliver.ts';
import { openSubscriptions } from './subscriptions.ts';
import { openCommands } from './threshold-commands.ts';

/** What a command provides to send alerts: the outside world, the project folder, and how to write to a person. */
export interface AlertingContext extends ProjectContext {
  /** Mistakes in variables of the environment that were found before. */
  readonly mistakes?: UsageError | undefined;
  /** An HTTP client with this many sockets per origin; closed with the process. */
  openHttp(connections: number): HttpSend;
}

/** The configuration of a command that notifies sinks; from here on all output hides their secrets. */
export function loadAlertingConfig(context: AlertingContext): LocalConfig {
  const { config, mistakes } = readableAlertingConfig(context);
  if (mistakes !== undefined) throw mistakes;
  return config;
}

/** The same as far as it can be read, with its mistakes: the other sinks are notified of them. */
export function readableAlertingConfig({ dir, env, mistakes: given, effects, keepSecret }: AlertingContext): {
  readonly config: LocalConfig;
  readonly mistakes: UsageError | undefined;
  /** Whether all mistakes are in sinks, so that everything can be evaluated. */
  readonly areOfSinks: boolean;
} {
  const place = { dir, env, now: effects.now(), requireAccounts: false as const };
  const { config, mistakes: found } = loadReadable({ ...place, requireSinks: true });
  const all = [given, found].flatMap((each) => (each === undefined ? [] : [each]));
  const mistakes = all.length === 0 ? undefined : asOneError(all, { code: mistakenSettings });
  // Read again only if there is a mistake: in sinks alone if it is none without them.
  const areOfSinks = found !== undefined && given === undefined && loadReadable(place).mistakes === undefined;
  for (const { settings } of config.sinks) {
    if (settings !== undefined) for (const secret of secretsOf(settings)) keepSecret(secret);
  }
  return { config, mistakes, areOfSinks };
}

/** Project and machine, which distinguish messages of several projects. */
export function originOf(config: LocalConfig, { dir }: AlertingContext): Origin {
  return {
    project: config.alerts.project ?? (basename(dir) || dir),
    host: hostname(),
    ...(config.dashboardUrl === undefined ? {} : { dashboard: config.dashboardUrl }),
  };
}

/** Inputs of the facts besides the books, and mistakes: what they concern is left out. */
export function alertFactsOptions(
  {
    config,
    mistakes,
    areOfSinks = false,
  }: {
    readonly config: LocalConfig;
    readonly mistakes?: UsageError | undefined;
    readonly areOfSinks?: boolean;
  },
  { dir, effects, signal, progress }: AlertingContext,
): AlertFactsOptions & { readonly problem: UsageError | undefined } {
  const now = effects.now();
  const problems: UsageError[] = mistakes === undefined ? [] : [mistakes];
  // Budgets and anomalies need settings that cannot be read.
  const isEvaluated = mistakes === undefined || areOfSinks;
  // A mistake in one of them must not suppress the alerts that do not need it.
  function unlessWrong<T>(read: () => T): T | undefined {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof UsageError)) throw error;
      problems.push(error);
      return undefined;
    }
  }
  const sinks = alertSinksOf(config.sinks);
  const budgets = unlessWrong(() => loadBudgets(budgetsFile(dir), { now, sinks }) ?? []);
  const rules = unlessWrong(() => loadAnomalyRules(budgetsFile(dir), sinks));
  const { currency } = config;
  // Messages are in USD; people look for the other amounts, and the night has to say that there are none.
  if (currency !== undefined) unlessWrong(() => readRates(currency, dir));
  const holidays = unlessWrong(() => holidaysOf(config.calendar, dir)) ?? new Set();
  return {
    now,
    dir,
    isNowChosen: effects.isChosen,
    freshnessHours: config.freshnessHours,
    invoiceDays: config.invoiceDays,
    severities: config.alerts.severity,
    configured: config.accounts.flatMap(({ id }) => id ?? []),
    holidays,
    budgets: isEvaluated ? budgets : undefined,
    anomalyRules: isEvaluated ? rules && { ...rules, holidays } : undefined,
    overlay: join(dir, 'sql'),
    onProgress: progress,
    signal,
    runChecks: (checks, hours) =>
      runChecks(dir, checks, { signal, hours, onResult: ({ check }) => progress(`check ${check.name}`) }),
    problem: problems.length === 0 ? undefined : asOneError(problems),
  };
}

/** Opens every configured sink, and those of the subscriptions. */
export function openSinks(config: LocalConfig, context: AlertingContext): ReadonlyMap<string, SendMessage> {
  const effects = sinkEffects(config, context);
  const opened = config.sinks.flatMap(({ name, settings }) =>
    settings === undefined ? [] : [[name, openSink(settings, effects)] as const],
  );
  return new Map(
    [...opened, ...openSubscriptions(config, effects)].map(([name, send]) => [name, withoutSecrets(send, context)]),
  );
}

/** An agent could repeat a secret that it knows; answers are stored and shown. */
function withoutSecrets(send: SendMessage, { redact }: AlertingContext): SendMessage {
  return async (message) => {
    const attempt = await send(message);
    if (attempt.outcome !== 'delivered') return { ...attempt, reason: redact(attempt.reason) };
    return attempt.answer === undefined ? attempt : { ...attempt, answer: redact(attempt.answer) };
  };
}

/** What sinks need from outside. */
export function sinkEffects(config: LocalConfig, context: AlertingContext): SinkEffects {
  const { effects, signal } = context;
  return { log: effects.log, signal, clientOf: (settings) => clientOf(settings, config, context) };
}

/**
 * The client of a sink that calls the platform, with its account's address and the token of its workspace. It sends a
 * request once: the outbox decides about another attempt. Throws UsageError if the account has no address or token.
 */
export function clientOf(settings: ActingSettings, config: LocalConfig, context: AlertingContext): Client {
  const { accounts } = config;
  const found = accounts.find(({ id }) => id === settings.account) ?? (accounts.length === 1 ? accounts[0] : undefined);
  if (found?.url === undefined || found.token === undefined) {
    const missing = found?.url === undefined ? 'url (COSTBOOK_URL)' : 'token (COSTBOOK_TOKEN)';
    throw new UsageError(`its account has no ${missing}, which a sink of type ${settings.type} needs`, {
      next: act('set it in costbook.yaml.'),
    });
  }
  const account = withWorkspaceToken(found as AccountConfig, settings.workspace);
  return clientFor(account, config, context.openHttp(config.concurrency), context, settings.workspace, {
    maxAttempts: 1,
    attemptTimeoutMs: settings.timeLimitSeconds * 1000,
  });
}

/** The rules of the configured sinks that call the platform. */
function actingRules({ sinks }: LocalConfig): ReadonlyMap<string, ActingRules> {
  return new Map(
    sinks.flatMap(({ name, settings }) =>
      isActing(settings)
        ? [
            [
              name,
              {
                isModel: settings.type === 'model',
                answersTo: answersToOf(settings),
                timeLimitMs: settings.timeLimitSeconds * 1000,
              },
            ],
          ]
        : [],
    ),
  );
}

/** Whether costbook.yaml has sinks, and not this one. Without any, it may have lost them. */
function isRemoved(name: string, { sinks }: LocalConfig): boolean {
  return sinks.length > 0 && sinks.every((sink) => sink.name !== name);
}

/** Delivers the messages in the outbox, and reports those that could not be delivered. */
export async function deliverAll(
  warehouse: Warehouse,
  runNumber: number,
  config: LocalConfig,
  context: AlertingContext,
): Promise<readonly Delivery[]> {
  const { effects, signal } = context;
  context.progress('notifying sinks');
  const { giveUpDays } = config.alerts;
  const commands = openCommands(await warehouse.pendingMessages(giveUpDays), budgetsNow(config, context), context);
  const sinks = new Map([...openSinks(config, context), ...commands.sinks]);
  const deliveries = await deliver({
    outbox: warehouse,
    runNumber,
    tellOf: (name) => sinks.get(name) ?? (isRemoved(name, config) ? 'removed' : undefined),
    acting: new Map([...actingRules(config), ...commands.rules]),
    giveUpDays,
    now: effects.now,
    random: effects.random,
    sleep: effects.sleep,
    signal,
  });
  for (const delivery of deliveries) {
    const { message, outcome, reason, tries, acting } = delivery;
    const what = `message ${message.id} to the sink ${message.sink}`;
    if (acting?.isModel === true) continue; // it has written to the log
    if (acting?.isCommand === true) {
      const words = commandWords(delivery);
      if (words !== undefined) context.tell(`warning: the command of ${message.sink.slice('run:'.length)} ${words}`);
      continue;
    }
    if (outcome === 'dead' && acting !== undefined) {
      context.tell(
        `warning: ${what} may have been received, so it is not sent again: ${reason}; "costbook alerts resend" sends an alert again`,
      );
    } else if (outcome === 'dead') {
      context.tell(
        `${what} is given up${isRemoved(message.sink, config) ? '' : ` after ${giveUpDays} days`}: ${reason}; "costbook alerts" shows its content`,
      );
    } else if (outcome === 'failed') {
      context.tell(
        `warning: ${what} ${tries === 0 ? 'was not sent' : `could not be delivered in ${counted(tries, 'attempt')}`}: ${reason}; the next run tries again`,
      );
    } else if (outcome === 'postponed') {
      context.tell(`warning: ${what} waits for an earlier message`);
    } else if (reason !== undefined) context.tell(`warning: ${what}: ${reason}`);
  }
  return deliveries;
}

/** What a person should know about the command of a threshold; undefined if it ended with exit code 0. */
function commandWords({ outcome, reason, isUnknown }: Delivery): string | undefined {
  if (outcome === 'delivered')
    return reason === undefined ? undefined : `ran, but failed: ${reason}; it is not run again`;
  if (isUnknown === true) return `may have run, so it is not run again: ${reason}`;
  if (outcome === 'dead') return `did not run, and is given up: ${reason}`;
  return `did not run: ${reason ?? 'it waits'}; the next run tries again`;
}

/** The budgets of the project; none if their file has mistakes, which are reported elsewhere. */
function budgetsNow(config: LocalConfig, { dir, effects }: AlertingContext): readonly Budget[] {
  try {
    return loadBudgets(budgetsFile(dir), { now: effects.now(), sinks: alertSinksOf(config.sinks) }) ?? [];
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    return [];
  }
}

/**
 * 8 if a message was given up, or if no sink accepted a notification. One of several sinks is enough; for a sink that
 * calls the platform, another one is enough also if its message was given up.
 */
export function exitCodeOfDeliveries(all: readonly Delivery[]): number {
  // Nobody waits at a sink that was removed, and no step could mend it.
  const deliveries = all.filter(({ isRemoved }) => isRemoved !== true);
  if (deliveries.some(({ outcome, acting }) => outcome === 'dead' && acting === undefined))
    return exitCodes.undelivered;
  const delivered = new Set<string>();
  const waiting = new Set<string>();
  for (const { message, outcome, acting, isUnknown } of deliveries) {
    if (acting?.isModel === true) continue; // it only adds to the messages of others
    if (acting?.isCommand === true) {
      // A command that ran notifies nobody; one that could not be started needs a person.
      if (outcome !== 'delivered' && isUnknown !== true) waiting.add(message.sink);
      continue;
    }
    for (const subject of subjectsOf(message.message, message.summary)) {
      (outcome === 'delivered' ? delivered : waiting).add(subject);
    }
  }
  return [...waiting].some((subject) => !delivered.has(subject)) ? exitCodes.undelivered : exitCodes.done;
}

/** The notifications in a message, to find the same ones in messages to other sinks. */
function subjectsOf(message: string, summary: string | undefined): readonly string[] {
  if (summary !== undefined) return [summary];
  const { entries } = JSON.parse(message) as { entries: { key: string; occurrence: number; transition: string }[] };
  return entries.map(({ key, occurrence, transition }) => `${key} ${occurrence} ${transition}`);
}

/** What a command that sent messages reports as failed: the messages that nobody got in their place. */
export function undeliveredIn(deliveries: readonly Delivery[]): readonly Failure[] {
  if (exitCodeOfDeliveries(deliveries) === exitCodes.done) return [];
  return deliveries
    .filter(({ outcome }) => outcome !== 'delivered')
    .map(({ message: { id, sink }, outcome, reason = 'order' }) => {
      return {
        code: 'undelivered',
        subject: sink,
        found: `message ${id} to ${sink} ${outcome}: ${reason}`,
        next: null,
      };
    });
}
