import { resolve } from 'node:path';
import {
  alertFactsOptions,
  loadAlertingConfig,
  messageEntry,
  newMessage,
  originOf,
  readCostSummary,
  readPictures,
  readSummaryPicture,
  type SummaryPeriod,
  sinkEffects,
} from '../alerts/index.ts';
import { readFeedback, withFeedback } from '../anomalies/index.ts';
import { exitCodes, UsageError } from '../base/errors.ts';
import { readForecasts, withForecasts } from '../budgets/forecasts/index.ts';
import { budgetCalendar } from '../budgets/rules/index.ts';
import { evaluateBudgets, readSpends, withCarried } from '../budgets/spend/index.ts';
import type { LocalConfig } from '../config/index.ts';
import { type AlertEntry, type AlertFactsOptions, parseFact, withUnusualCosts } from '../findings/index.ts';
import { completenessOf } from '../reports/formats/index.ts';
import {
  type Message,
  type OutgoingMessage,
  openSink,
  type PreviewFormat,
  previewOf,
  showsPictures,
} from '../sinks/index.ts';
import { nearest } from '../text/choices.ts';
import { forTerminal } from '../text/safe-text.ts';
import { formatSecond } from '../time/time.ts';
import { openBooks } from '../warehouse/integrity/index.ts';
import type { Connection } from '../warehouse/store/index.ts';
import { answerCache } from '../warehouse/store/index.ts';
import { knownAlerts } from '../warehouse/watch/index.ts';
import type { CommandContext } from './command.ts';
import { checkOut, writeWhole } from './out-file.ts';

/** What a preview shows. */
export interface PreviewAsked {
  readonly sink: string;
  /** The newest open alert by default. */
  readonly key: string | undefined;
  /** A summary in place of an alert. */
  readonly period: SummaryPeriod | undefined;
  readonly format: PreviewFormat | undefined;
  /** stdout by default. */
  readonly out: string | undefined;
}

/** Writes what a sink would receive about an alert, or about a summary. Sends nothing. */
export async function preview(
  { sink: name, key, period, format, out }: PreviewAsked,
  context: CommandContext,
): Promise<number> {
  const config = loadAlertingConfig(context);
  const sink = sinkOf(name, config);
  const path = out === undefined ? undefined : await checkOut(resolve(context.folder, out), context.dir);
  const { message, about } = await readMessage(sink, config, context, (connection, asked) => {
    if (period !== undefined) return summaryMessage(connection, period, asked);
    return alertMessage(connection, key, name, asked);
  });
  const content = await previewOf(message, sink.settings, format, context.effects.log);
  if (path === undefined) {
    await context.write(content);
    return exitCodes.done;
  }
  await writeWhole(path, content);
  const bytes = Buffer.byteLength(content);
  await context.write(
    context.json
      ? `${JSON.stringify({ sink: name, about, path, bytes })}\n`
      : `${out} (${bytes} bytes) shows what ${name} would receive about ${about}. Nothing was sent.\n`,
  );
  return exitCodes.done;
}

/** Sends one sink a message with real numbers, marked as a test; writes nothing. */
export async function sendTest(name: string, context: CommandContext): Promise<number> {
  const config = loadAlertingConfig(context);
  const sink = sinkOf(name, config);
  const { message } = await readMessage(sink, config, context, async (connection, asked) => {
    if (sink.settings.type !== 'model') return exampleMessage(connection, asked);
    const { message: summary, about } = await summaryMessage(connection, 'weekly', asked);
    return { message: { ...summary, isTest: true }, about };
  });
  const send = openSink(sink.settings, sinkEffects(config, context));
  const attempt = await send(message);
  if (context.json) await context.write(`${context.redact(JSON.stringify({ sink: name, ...attempt }))}\n`);
  if (attempt.outcome !== 'delivered') {
    context.tell(`costbook: the sink ${name} rejected the test message: ${attempt.reason}`);
    return exitCodes.undelivered;
  }
  if (context.json) return exitCodes.done;
  await context.write(`The sink ${name} accepted a test message.\n`);
  if (attempt.reason !== undefined) context.tell(`costbook: warning: ${attempt.reason}`);
  if (attempt.answer !== undefined) {
    const lines = attempt.answer.split('\n').map((line) => `  ${forTerminal(context.redact(line))}`);
    await context.write(`It answered:\n${lines.join('\n')}\n`);
  }
  return exitCodes.done;
}

function sinkOf(name: string, { sinks }: LocalConfig) {
  const sink = sinks.find((candidate) => candidate.name === name);
  if (sink?.settings !== undefined) return { name, settings: sink.settings };
  const names = sinks.map((candidate) => candidate.name);
  const guess = nearest(name, names);
  const hint = guess === undefined ? '' : ` (did you mean ${guess}?)`;
  throw new UsageError(
    `costbook.yaml has no sink "${name}"${hint}: ${names.length === 0 ? 'add it under sinks' : `expected ${names.join(', ')}`}`,
  );
}

/** A message, and what it is about. */
interface Shown {
  readonly message: Omit<Message, 'entries'> & { readonly entries: readonly AlertEntry[]; readonly isTest: boolean };
  readonly about: string;
}

/** Reads a message from the books, with its pictures if the sink shows pictures. */
async function readMessage(
  sink: ReturnType<typeof sinkOf>,
  config: LocalConfig,
  context: CommandContext,
  read: (connection: Connection, asked: AlertFactsOptions) => Promise<Shown>,
): Promise<{ readonly message: OutgoingMessage; readonly about: string }> {
  const { problem, ...asked } = alertFactsOptions({ config }, context);
  if (problem !== undefined) throw problem;
  const books = await openBooks(context.dir, { lockedDown: true, signal: context.signal });
  try {
    const { message, about } = await read(books.connection, { ...asked, cache: answerCache(books.connection) });
    const pictures = showsPictures(sink.settings)
      ? await picturesOf(books.connection, message, sink, asked, context)
      : [];
    const origin = originOf(config, context);
    const entries = message.entries.map((entry) => messageEntry(entry, origin));
    const whole = { ...message, entries, pictures, origin };
    return { message: { ...whole, id: newMessage('test', whole, undefined).id, mayBeRepeat: false }, about };
  } finally {
    books.close();
  }
}

async function picturesOf(
  connection: Connection,
  { entries, summary }: Shown['message'],
  sink: ReturnType<typeof sinkOf>,
  asked: AlertFactsOptions,
  { effects: { log } }: CommandContext,
) {
  if (summary !== null) {
    const period = summary.name.startsWith('monthly') ? 'monthly' : 'weekly';
    return readSummaryPicture(connection, period, asked.now, log);
  }
  const named = new Set(entries.flatMap(({ fact }) => (fact.kind === 'budget' ? [fact.budget] : [])));
  const budgets = (asked.budgets ?? []).filter(({ name }) => named.has(name));
  const forecasts =
    budgets.length === 0 ? [] : await readForecasts(connection, { ...asked, budgets, withWorkspaces: false });
  const own = entries.map((entry) => ({ entry, sinks: [sink.name] }));
  return (await readPictures(connection, own, [sink], { ...asked, forecasts, log }))(sink.name);
}

async function headOf(connection: Connection, { now }: AlertFactsOptions) {
  return { at: formatSecond(now), ...(await completenessOf(connection)) };
}

/** The newest open alert, or the one with the key; an example if no alert is open. */
async function alertMessage(
  connection: Connection,
  key: string | undefined,
  sink: string,
  asked: AlertFactsOptions,
): Promise<Shown> {
  const known = await knownAlerts(connection);
  const open = known.filter(({ isOpen }) => isOpen).toSorted((a, b) => b.raisedAt - a.raisedAt);
  const alert =
    key === undefined
      ? (open.find(({ sinks }) => sinks.includes(sink)) ?? open[0])
      : known.find((candidate) => candidate.key === key);
  if (alert === undefined) {
    if (key !== undefined) throw new UsageError(noSuchKey(key, false, known));
    return exampleMessage(connection, asked);
  }
  const { occurrence, isOpen, fact } = alert;
  const transition = isOpen ? 'raised' : 'resolved';
  const parsed = parseFact(fact);
  const present = parsed.kind === 'anomaly' ? withFeedback(parsed, await readFeedback(connection)) : parsed;
  const entries = [{ key: alert.key, occurrence, transition, fact: present } as const];
  const head = await headOf(connection, asked);
  return { message: { ...head, kind: 'alerts', entries, summary: null, isTest: false }, about: alert.key };
}

async function summaryMessage(connection: Connection, period: SummaryPeriod, asked: AlertFactsOptions): Promise<Shown> {
  const summary = await readCostSummary(connection, period, { ...asked, budgets: asked.budgets ?? [] });
  const head = await headOf(connection, asked);
  return { message: { ...head, kind: 'summary', entries: [], summary, isTest: false }, about: summary.name };
}

/** An alert about the budget with the highest share spent; a summary of last week if there is no budget. */
async function exampleMessage(connection: Connection, asked: AlertFactsOptions): Promise<Shown> {
  const budgets = await withCarried(connection, asked.budgets ?? [], asked);
  const asks = budgets.map((budget) => ({ budget, period: budgetCalendar(budget).periodAt(asked.now) }));
  const forecasts = await readForecasts(connection, { ...asked, budgets, withWorkspaces: false });
  const spends = withForecasts(await readSpends(connection, asks, asked), forecasts);
  const facts = withUnusualCosts(evaluateBudgets(budgets, spends), budgets, spends, { named: [] });
  const [fullest] = facts.toSorted((a, b) => Number(b.value) / Number(b.amount) - Number(a.value) / Number(a.amount));
  if (fullest === undefined) {
    const { message } = await summaryMessage(connection, 'weekly', asked);
    return { message: { ...message, isTest: true }, about: 'an example: no alert is open' };
  }
  const entries = [
    { key: fullest.key, occurrence: 1, transition: 'raised', fact: { ...fullest, state: 'raised' } } as const,
  ];
  const head = await headOf(connection, asked);
  return {
    message: { ...head, kind: 'alerts', entries, summary: null, isTest: true },
    about: 'an example: no alert is open',
  };
}

/** Why a key names no open alert, with the key that was probably meant. */
export function noSuchKey(key: string, isOver: boolean, among: readonly { readonly key: string }[]): string {
  const keys = among.map((alert) => alert.key);
  const guess = nearest(key, keys);
  const hint = guess === undefined ? '' : ` (did you mean ${guess}?)`;
  const what = isOver ? `alert ${key} is no longer open` : `there is no alert ${key}${hint}`;
  return `${what}: "costbook alerts --open" lists open alerts`;
}
