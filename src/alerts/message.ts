import { createHash } from 'node:crypto';
import { anomalyOverWords, anomalyWords } from '../anomalies/index.ts';
import { fullDiskWords, mistakenSettings } from '../base/errors.ts';
import { nextWords } from '../base/next-step.ts';
import { ordinal } from '../budgets/index.ts';
import type { Picture } from '../charts/index.ts';
import { decimalOfWhole, usd, usdDecimals, wholeOfDecimal } from '../money/money.ts';
import { counted } from '../text/counted.ts';
import { forTerminal, maxNameLength, maxSentenceLength, oneLine } from '../text/safe-text.ts';
import { describeSpan } from '../time/time.ts';
import type { NewMessage, StoredAnswer } from '../warehouse/index.ts';
import type {
  AlertFact,
  BooksFact,
  CheckFact,
  ClosedMonthFact,
  DataFact,
  InterfaceFact,
  ListingsFact,
  OutOfDate,
  RunFact,
} from './alert-fact.ts';
import {
  type BudgetWords,
  budgetFields,
  driverList,
  forecastOverWords,
  forecastWords,
  shareOf,
  spentBudgetWords,
  spentWords,
} from './budget-words.ts';
import type { Card, SinkAnswer, SpentShare, Words } from './card.ts';
import { dashboardLink } from './dashboard-link.ts';
import { alertKey, diskKey, isBilled, nextStepOf } from './next-step.ts';
import type { CostSummary } from './summary.ts';
import type { AlertEntry, Transitions } from './transitions.ts';
import { differenceWords, firstComparison, monthWords } from './unproven-words.ts';

/** The content of a message, before a sink formats it. Stored in the outbox as JSON. */
export interface Message {
  readonly kind: 'alerts' | 'summary';
  /** When it was made. */
  readonly at: string;
  readonly completeThrough: string | null;
  readonly settledThrough: string | null;
  /** At least one in a message of alerts; none in a summary. */
  readonly entries: readonly AlertEntry[];
  readonly summary: CostSummary | null;
  /** Which project the books belong to, and on which host; missing without a project. */
  readonly origin?: Origin | undefined;
  /** Charts of the first entries, or of the summary; left out if no sink shows them. */
  readonly pictures?: readonly MessagePicture[] | undefined;
  /** Anomalies that are not among the entries: one night may have hundreds. Left out if there are none. */
  readonly left?: LeftOut | undefined;
}

/** A chart of a message, as its numbers: it is drawn when it is sent. */
export interface MessagePicture {
  /** The key of its alert; null if it belongs to the summary. */
  readonly key: string | null;
  readonly picture: Picture;
}

/** Identifies the project that a message comes from. */
export interface Origin {
  readonly project: string;
  readonly host: string;
  /** Where people open the dashboard; left out if it is not configured. */
  readonly dashboard?: string | undefined;
}

interface LeftOut {
  /** Open ones. */
  readonly anomalies: number;
  /** Total difference of the open ones: USD, decimal text. */
  readonly impact: string;
  /** Ended ones. */
  readonly resolved: number;
  /** Alerts of other kinds beyond the most urgent ones. */
  readonly alerts?: number;
}

/** A message lists this many anomalies, largest impact first, and counts the rest. */
const anomaliesShown = 20;

/** A message on its way to a sink. */
export interface OutgoingMessage extends Message {
  /** The same in every attempt. */
  readonly id: string;
  /** Whether the sink may have received it before. */
  readonly mayBeRepeat: boolean;
  /** Sent only to test the sink: nothing happened. */
  readonly isTest: boolean;
}

/** A message with what agents answered to it, and the paragraph of a model. Pure. */
export function withAnswers(
  message: OutgoingMessage,
  answers: readonly (Pick<StoredAnswer, 'sink' | 'alert' | 'text'> & { readonly isOpening: boolean })[],
): OutgoingMessage {
  if (answers.length === 0) return message;
  const { entries, summary } = message;
  const toSummary = answers.filter(({ alert, isOpening }) => alert === undefined && !isOpening);
  const opening = answers.find(({ isOpening }) => isOpening)?.text;
  return {
    ...message,
    entries: entries.map((entry) => {
      const own = answers.filter(
        ({ alert }) =>
          alert?.key === entry.key && alert.occurrence === entry.occurrence && alert.transition === entry.transition,
      );
      return own.length === 0 ? entry : { ...entry, answers: own.map(answerOf) };
    }),
    summary: summary && {
      ...summary,
      ...(opening === undefined ? {} : { opening }),
      ...(toSummary.length === 0 ? {} : { answers: toSummary.map(answerOf) }),
    },
  };
}

function answerOf({ sink, text }: SinkAnswer): SinkAnswer {
  return { sink, text };
}

/** An answer for people: whose it is, then its lines. */
export function answerLines({ sink, text }: SinkAnswer): readonly string[] {
  return [`${sink} answered:`, ...text.split('\n')];
}

/**
 * The messages of an evaluation: one for each sink, most urgent alerts first; for each of `agents` one per alert. The id
 * is a hash of sink and content, so the same evaluation always makes the same message. Pure.
 */
export function messagesOf(
  entries: Transitions['entries'],
  state: Pick<Message, 'at' | 'completeThrough' | 'settledThrough' | 'origin'>,
  picturesFor: (sink: string) => readonly MessagePicture[] = () => [],
  agents: readonly string[] = [],
): NewMessage[] {
  const sinks = [...new Set(entries.flatMap((entry) => entry.sinks))].sort();
  return sinks.flatMap((sink) => {
    const ordered = inOrder(entries, sink);
    if (agents.includes(sink)) {
      // A thread is about one alert.
      return ordered
        .slice(0, maxAlertsOfAgent)
        .map((entry) => newMessage(sink, { kind: 'alerts', ...state, entries: [entry], summary: null }, undefined));
    }
    const anomalies = new Set(ordered.filter(({ fact }) => fact.kind === 'anomaly').slice(anomaliesShown));
    const others = ordered.filter((entry) => !anomalies.has(entry));
    const shown = others.slice(0, entriesShown);
    const left = [...anomalies, ...others.slice(entriesShown)];
    const own = picturesFor(sink).filter(({ key }) => shown.some((entry) => entry.key === key));
    const message: Message = {
      kind: 'alerts',
      ...state,
      entries: shown,
      summary: null,
      ...(own.length === 0 ? {} : { pictures: own }),
      ...(left.length === 0 ? {} : { left: leftOut(left) }),
    };
    return [newMessage(sink, message, undefined)];
  });
}

/** A message has this many entries, far more than any sink shows, and counts the others: a night may raise thousands. */
const entriesShown = 100;

/** An agent gets this many alerts of one evaluation, the most urgent ones: each is a call that costs money. */
export const maxAlertsOfAgent = 20;

/** The entries of a sink, most urgent first. */
export function inOrder(entries: Transitions['entries'], sink: string): readonly AlertEntry[] {
  return entries
    .filter(({ sinks }) => sinks.includes(sink))
    .map(({ entry }) => entry)
    .toSorted(compareEntries);
}

export function newMessage(sink: string, message: Message, summary: string | undefined): NewMessage {
  const text = JSON.stringify(message);
  const id = createHash('sha256')
    .update(JSON.stringify([sink, summary ?? null, text]))
    .digest('hex')
    .slice(0, 32);
  return { id, sink, kind: message.kind, summary, message: text };
}

const urgency = { critical: 0, warning: 1, info: 2 } as const;

function compareEntries(a: AlertEntry, b: AlertEntry): number {
  const end = Number(a.transition === 'resolved') - Number(b.transition === 'resolved');
  return (
    end ||
    urgency[a.fact.severity] - urgency[b.fact.severity] ||
    sizeOf(b.fact) - sizeOf(a.fact) ||
    (a.key < b.key ? -1 : a.key > b.key ? 1 : 0)
  );
}

/** The amount of an alert, USD as decimal text: spend, forecast, or difference. Undefined if it has none. */
export function amountOf(fact: AlertFact): string | undefined {
  switch (fact.kind) {
    case 'anomaly':
      return fact.impact;
    case 'budget':
      return fact.unit === undefined ? expectedOrSpent(fact) : undefined;
    case 'closed_month':
    case 'dimension':
      return fact.cost;
    case 'unproven':
      return fact.difference ?? undefined;
    default:
      return undefined;
  }
}

function expectedOrSpent({ of, forecast, value }: BudgetWords): string {
  return of === 'forecast' && forecast ? forecast.value : value;
}

/** The size of an alert for sorting, USD without sign: a difference, or the excess over a budget. 0 if it has none. */
function sizeOf(fact: AlertFact): number {
  switch (fact.kind) {
    case 'anomaly':
      return Math.abs(Number(fact.impact));
    case 'budget':
      return fact.unit === undefined ? Math.max(0, Number(expectedOrSpent(fact)) - Number(fact.limit)) : 0;
    case 'closed_month':
    case 'dimension':
      return Math.abs(Number(fact.cost));
    default:
      return 0;
  }
}

function leftOut(left: readonly AlertEntry[]): LeftOut {
  const held = left.filter(({ transition }) => transition !== 'resolved');
  const anomalies = held.filter(({ fact }) => fact.kind === 'anomaly');
  const alerts = held.length - anomalies.length;
  return {
    ...{ anomalies: anomalies.length, impact: impactOf(anomalies), resolved: left.length - held.length },
    ...(alerts === 0 ? {} : { alerts }),
  };
}

function impactOf(entries: readonly AlertEntry[]): string {
  const wholes = entries.map(({ fact }) => (fact.kind === 'anomaly' ? wholeOfDecimal(fact.impact, usdDecimals) : 0n));
  return decimalOfWhole(
    wholes.reduce((sum, whole) => sum + whole, 0n),
    usdDecimals,
  );
}

/** The line that counts the alerts that a message does not show; undefined if it shows all. */
export function moreWords(message: OutgoingMessage, shown: number): string | undefined {
  const hidden = message.summary === null ? message.entries.length - shown : 0;
  const { anomalies = 0, resolved = 0, alerts = 0 } = message.left ?? {};
  if (hidden + alerts === 0) return leftWords(message);
  const all = hidden + anomalies + resolved + alerts;
  return `and ${all} more; "costbook alerts --open" lists them`;
}

/** The line that counts the anomalies that are not among the entries; undefined if there are none. */
function leftWords({ left }: Pick<Message, 'left'>): string | undefined {
  if (left === undefined) return undefined;
  const { anomalies, impact, resolved } = left;
  const parts = [
    ...(anomalies === 0
      ? []
      : [`and ${counted(anomalies, 'smaller anomaly', 'smaller anomalies')}, ${usd(impact, true)} together`]),
    ...(resolved === 0 ? [] : [`and ${resolved} more that ${resolved === 1 ? 'has' : 'have'} ended`]),
  ];
  return `${parts.join(', ')}; "costbook report anomalies" lists them`;
}

const icons = { critical: '🔴', warning: '🟠', info: '🔵' } as const;

/** An alert as text. Names from outside are cut to a safe length and to one line. */
export function cardOf({ key, occurrence, transition, since, fact: unsafe, answers = [] }: AlertEntry): Card {
  const isOver = transition === 'resolved';
  const fact = withSafeTexts(unsafe);
  const words = isOver ? overWords(fact) : heldWords(fact);
  // Each message about a continuing anomaly, or a new cause, counts as an occurrence.
  const isOneStory = fact.kind === 'anomaly' || ('causes' in fact && fact.revision !== undefined);
  const noun = !isOneStory ? 'time' : isOver ? undefined : 'message';
  const times = occurrence > 1 && noun !== undefined ? ` (${ordinal(occurrence)} ${noun})` : '';
  const isUsual = isOver && fact.kind === 'anomaly' && fact.isUsual === true;
  const { list } = words;
  return {
    icon: isOver && !isUsual ? '✅' : icons[isUsual ? 'info' : fact.severity],
    title: `${isUsual ? '' : prefixOf(transition, since)}${words.title}`,
    share: words.share,
    sentences: words.sentences,
    next: words.next ?? (isOver ? 'No action is needed.' : isOfData(fact) ? nextWords(nextStepOf(fact)) : undefined),
    fields: words.fields ?? [],
    list: isOver ? undefined : list,
    warnings: fact.kind === 'budget' ? fact.gaps.map((sentence) => `Not complete: ${sentence}`) : [],
    notes: [
      ...(isUnreadable(fact) ? [] : [throughWords(fact.completeThrough)]),
      `key ${oneLine(key, maxSentenceLength)}${times}`,
    ],
    answers,
  };
}

function isOfData(fact: AlertFact): fact is DataFact {
  return fact.kind !== 'budget' && fact.kind !== 'anomaly';
}

/** Whether "complete through" is unknown because nothing can be read. */
function isUnreadable(fact: AlertFact): boolean {
  return fact.kind === 'books' && fact.snapshot === null;
}

function prefixOf(transition: AlertEntry['transition'], since: string | undefined): string {
  if (transition === 'resolved') return 'Resolved: ';
  if (transition === 'reminded') return 'Still open: ';
  return transition === 'open' && since !== undefined ? `Open since ${since.slice(0, 10)}: ` : '';
}

/** Keys of a fact that hold sentences. All other texts are names. */
const sentenceKeys: readonly string[] = ['key', 'error', 'about', 'reason', 'gaps', 'changedFrom', 'nextStep'];

/** A fact with every text cut to one line and a bounded length. */
function withSafeTexts<T>(value: T, key = ''): T {
  if (typeof value === 'string') {
    const line = key === 'error' || key === 'reason' ? joinedLines(value) : value;
    return oneLine(line, sentenceKeys.includes(key) ? maxSentenceLength : maxNameLength) as T;
  }
  if (Array.isArray(value)) return value.map((item) => withSafeTexts(item, key)) as T;
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, withSafeTexts(item, name)])) as T;
}

/** The lines of an error as one, so that each mistake can still be told from the next. */
function joinedLines(error: string): string {
  const [first = '', ...more] = error.split('\n').flatMap((line) => (line.trim() === '' ? [] : [line.trim()]));
  return more.reduce((text, line) => `${text}${/[.:;!?…]$/.test(text) ? '' : ';'} ${line}`, first);
}

/** `complete through 2026-10-01T00:00:00Z`. */
export function throughWords(completeThrough: string | null): string {
  return completeThrough === null ? 'no complete hour yet' : `complete through ${completeThrough}`;
}

function heldWords(fact: AlertFact): Words {
  switch (fact.kind) {
    case 'budget':
      if (fact.of === 'forecast' && fact.forecast) return forecastWords(fact, fact.forecast);
      return spentBudgetWords(fact);
    case 'anomaly':
      return anomalyWords(fact);
    case 'stale':
      return {
        title: `The books of ${fact.account} are out of date`,
        sentences: [
          fact.completeThrough === null
            ? 'They have no complete hour yet.'
            : `They are ${throughWords(fact.completeThrough)}, which is more than ${fact.freshnessHours} hours ago.`,
          'Costs after that are missing, not zero.',
        ],
      };
    case 'clock':
      return {
        title: `This machine's clock is ${describeSpan(Math.abs(fact.aheadSeconds) * 1000)} ${fact.aheadSeconds > 0 ? 'ahead of' : 'behind'} the platform's`,
        sentences: [
          `This machine showed ${fact.localAt} when the platform of ${fact.account} showed ${fact.platformAt}.`,
          fact.aheadSeconds > 0
            ? "Costbook uses the platform's clock, so the books need no repair."
            : 'Until it is correct, newer hours are not fetched, and budgets and anomalies are not those of today.',
        ],
      };
    case 'unproven':
      return {
        title: `Costs of ${fact.account} ${differenceWords(fact.difference ?? undefined, fact.count, fact.months)}${fact.outOfDate.length === 0 ? '' : ', and its books are out of date'}`,
        sentences: [
          `The hours of ${counted(fact.count, 'window')} do not add up to the platform's own totals.`,
          ...changeWords(fact),
          ...outOfDateWords(fact),
        ],
        list: {
          label: 'Windows',
          items: [
            ...fact.windows.map(({ start, end, reason }) => `${start}/${end}: ${firstComparison(reason)}`),
            ...(fact.count > fact.windows.length ? [`and ${fact.count - fact.windows.length} more`] : []),
          ],
        },
      };
    case 'check':
      return {
        title: `Check ${fact.check} ${checkOutcome(fact)}`,
        sentences: [
          ...(fact.about === '' ? [] : [`Expected: ${fact.about}`]),
          ...(fact.offenders === null ? [`Error: ${fact.error ?? 'its SQL is wrong'}`] : []),
          ...changeWords(fact),
        ],
      };
    case 'run':
      return {
        title: runTitle(fact),
        sentences: [
          ...(fact.error === null ? [] : [asSentence(fact.error)]),
          ...changeWords(fact),
          `${fact.runNumber === 0 ? 'It' : `Run ${fact.runNumber}`}${fact.endedAt === null ? '' : ` ended at ${fact.endedAt}`}${fact.exitCode === null ? '' : ` with exit code ${fact.exitCode}`}.`,
          ...outOfDateWords(fact),
          ...(fact.outOfDate.length === 0
            ? []
            : ['Costs after that are missing, not zero. Nothing is lost: the next run that succeeds fetches them.']),
        ],
      };
    case 'books':
      return booksWords(fact);
    case 'listings':
      return listingsWords(fact);
    case 'closed_month':
      return closedMonthWords(fact);
    case 'dimension':
      return {
        title: `New billing dimension ${fact.dimension}: ${usd(fact.cost)} so far`,
        sentences: [
          `${fact.account} has been charged for it since ${fact.firstHour}. The platform does not list it, so its unit is unknown.`,
        ],
      };
    case 'interface':
      return interfaceWords(fact);
  }
}

/** `2026-10 (closed), 2026-11 (open)`: the months that bill the corrections. */
function billedIn(fact: ClosedMonthFact): string {
  const { billed = [], deliveredIn } = fact;
  const state = (month: string) => (isBilled(fact, month) ? 'closed' : 'open');
  return billed.length > 1
    ? billed.map(({ month, cost }) => `${usd(cost, true)} in ${month} (${state(month)})`).join(', ')
    : `billed in ${deliveredIn.map((month) => `${month} (${state(month)})`).join(', ')}`;
}

/** `has changed by +8.01 USD since it was closed`; what closed months have billed is apart from what an open one will bill. */
function changedBy(fact: ClosedMonthFact): string {
  const { billed = [], cost } = fact;
  const sumOf = (parts: typeof billed) =>
    decimalOfWhole(
      parts.reduce((sum, part) => sum + wholeOfDecimal(part.cost, usdDecimals), 0n),
      usdDecimals,
    );
  const before = billed.filter(({ month }) => isBilled(fact, month));
  const later = billed.filter(({ month }) => !isBilled(fact, month));
  return before.length > 0 && later.length > 0
    ? `has changed since it was closed: ${usd(sumOf(before), true)} billed, ${usd(sumOf(later), true)} to come`
    : `has changed by ${usd(cost, true)} since it was closed`;
}

function interfaceWords({ account, list, name, isMissing }: InterfaceFact): Words {
  if (isMissing) return { title: `The platform no longer groups the costs of ${account} by ${name}`, sentences: [] };
  return list === 'dimensions'
    ? {
        title: `New dimension ${name} in the costs of ${account}`,
        sentences: ['This version of Costbook does not store it.'],
      }
    : {
        title: `New resource type ${name} in the costs of ${account}`,
        sentences: ['This version of Costbook does not know it.'],
      };
}

function closedMonthWords({ differs, ...fact }: ClosedMonthFact): Words {
  if (differs !== undefined) {
    return {
      title: `${fact.month} of ${fact.account} no longer matches its close: closed with ${usd(differs.closedCost)}, now ${usd(differs.cost)}`,
      sentences: [
        `Do not use its costs, or corrections in later months, until ${differs.reopen.length === 0 ? 'its missing hours are fetched' : 'the month is closed'} again.`,
      ],
    };
  }
  return {
    title: `${fact.month} of ${fact.account} ${changedBy(fact)}`,
    sentences: [
      `${counted(fact.corrections, 'correction')}, ${billedIn(fact)}. The exports of ${fact.month} do not change.`,
    ],
    list: driverList('Largest changes', fact.drivers, { isSigned: true }),
  };
}

/** An error with a full stop, so that the next sentence can follow. */
function asSentence(error: string): string {
  return /[.!?…]$/.test(error) ? error : `${error}.`;
}

/** What is affected, and the first reason; the list has all. */
function listingsWords({ account, listings, ...fact }: ListingsFact): Words {
  const [first] = listings;
  const reason = first?.reason ?? undefined;
  return {
    title: `${counted(listings.length, 'resource listing')} of ${account} ${listings.length === 1 ? 'is' : 'are'} not up to date`,
    sentences: [
      // The title names the account.
      ...(reason === undefined
        ? []
        : [asSentence(`${first?.resourceType}: ${reason.replace(/^account [^,:]+[:,] /, '')}`)]),
      'Names, owners and states of resources may be out of date. Costs are complete.',
      ...changeWords(fact),
    ],
    list: {
      label: 'Listings',
      items: listings.map(
        ({ resourceType, workspace, outcome }) =>
          `${resourceType}${workspace === null ? '' : ` of workspace ${workspace}`}: ${outcome}`,
      ),
    },
  };
}

/** Says first which numbers can still be trusted, then what failed. */
function booksWords(fact: BooksFact): Words {
  const { command, error, snapshot, completeThrough } = fact;
  const until = 'Until this is fixed, Costbook loads no new costs and evaluates no other alerts.';
  return {
    title: `${snapshot === null ? 'The books cannot be read or written' : 'The books cannot be written: no new costs are loaded'}${fact.changedFrom === undefined ? '' : ', now for another reason'}`,
    sentences: [
      snapshot === null
        ? `Neither the warehouse nor the published snapshot can be used. ${until}`
        : `The published numbers are still correct: ${usd(snapshot.cost)}, ${throughWords(completeThrough)}. ${until}`,
      `${command} failed: ${error}`,
      ...changeWords(fact),
    ],
  };
}

function checkOutcome({ offenders, error, severity }: CheckFact): string {
  if (offenders === null || error !== null) return 'cannot run';
  return `${severity === 'critical' ? 'fails' : 'warns'}: ${counted(offenders, 'row')} found, none expected`;
}

function sentenceCase(text: string): string {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`;
}

/** `ingest failed`; if it was reported before, what is new. */
function runTitle({ key, command, outcome, error, errorCode, changedFrom, outOfDate, revision }: RunFact): string {
  if (key === diskKey) return `${sentenceCase(fullDiskWords(error ?? '').found)}: no new costs can be loaded`;
  if (key === alertKey && errorCode === mistakenSettings)
    return 'The configuration has mistakes: some alerts are missing';
  if (key === alertKey) return 'jobs/budgets.yaml has mistakes: its budgets are not evaluated';
  const accounts = outOfDate.map(({ account }) => account).join(', ');
  const behind = accounts === '' ? '' : `: the books of ${accounts} are out of date`;
  if (changedFrom !== undefined) return `${command} still fails, now for another reason${behind}`;
  if (outcome === 'interrupted') return `${command} was interrupted${behind}`;
  return `${command} ${revision === undefined ? 'failed' : 'still fails'}${behind}`;
}

/** What the open alert reported before its cause changed. */
function changeWords({ changedFrom }: { readonly changedFrom?: string | undefined }): string[] {
  return changedFrom === undefined ? [] : [`Reported before: ${changedFrom}${/[.…]$/.test(changedFrom) ? '' : '.'}`];
}

function overWords(fact: AlertFact): Words {
  switch (fact.kind) {
    case 'budget':
      if (fact.of === 'forecast') return forecastOverWords(fact);
      return {
        title: `budget ${fact.budget} is below ${fact.threshold} again: ${spentWords(fact)}`,
        share: shareOf(fact),
        sentences: [],
        fields: budgetFields(fact),
      };
    case 'anomaly':
      return anomalyOverWords(fact);
    case 'stale':
      return { title: `the books of ${fact.account} are up to date again`, sentences: [] };
    case 'clock':
      return { title: `this machine's clock matches the platform of ${fact.account} again`, sentences: [] };
    case 'unproven':
      return {
        title: `costs of ${fact.account} in ${monthWords(fact.months)} match the platform's totals again`,
        sentences: [],
      };
    case 'check':
      return { title: `check ${fact.check} passes again`, sentences: fact.about === '' ? [] : [fact.about] };
    case 'run':
      return {
        title: fact.key === diskKey ? fullDiskWords(fact.error ?? '').over : `${fact.command} succeeds again`,
        sentences:
          fact.command === 'ingest' && fact.completeThrough !== null
            ? [`All costs before ${fact.completeThrough} are in the books again.`]
            : [],
      };
    case 'books':
      return {
        title: 'the books can be written again',
        sentences: ['Costbook loads costs and evaluates alerts again.'],
      };
    case 'listings':
      return { title: `no resource listing of ${fact.account} fails now`, sentences: [] };
    case 'closed_month':
      return { title: `${fact.month} of ${fact.account} matches its closing total again`, sentences: [] };
    case 'dimension':
      return { title: `the platform now lists the billing dimension ${fact.dimension}`, sentences: [] };
    case 'interface':
      return {
        title: `the platform's lists of ${fact.account} match its interface again: ${fact.name}`,
        sentences: [],
      };
  }
}

function outOfDateWords({ outOfDate }: { readonly outOfDate: OutOfDate }): string[] {
  return outOfDate.map(
    ({ account, completeThrough }) => `The books of ${account} are out of date: ${throughWords(completeThrough)}.`,
  );
}

const barLength = 20;

/** `████████████████░░░░ 82.4 % spent`; it is full only from 100 % on. */
export function bar({ percent, word }: SpentShare): string {
  const filled = Math.max(0, Math.min(barLength, Math.floor((percent / 100) * barLength)));
  return `${'█'.repeat(filled)}${'░'.repeat(barLength - filled)} ${percent.toFixed(1)} %${word === '' ? '' : ` ${word}`}`;
}

/** The subject of a message, in one line. */
export function subjectOf(message: OutgoingMessage): string {
  const project = message.origin === undefined ? '' : `[${oneLine(message.origin.project, maxNameLength)}] `;
  const prefix = `${message.isTest ? '[test] ' : ''}${project}`;
  if (message.summary !== null) return `${prefix}${message.summary.title}`;
  const [first] = message.entries;
  if (first === undefined) return `${prefix}Costbook`;
  if (message.entries.length === 1) {
    const { icon, title } = cardOf(first);
    return `${prefix}${icon} ${title}`;
  }
  const { icon, title } = cardOf(first);
  // A long title must leave room for the count.
  return `${prefix}${icon} ${oneLine(title, maxTitleBesideCount)}, and ${countWords(message, 1, first.transition === 'resolved')}`;
}

const maxTitleBesideCount = 120;

/**
 * `5 more alerts, 2 resolved`: counts all alerts of a message after the first `without`, including those not shown.
 * `isAfterResolved`: the words before it are of a resolved alert.
 */
function countWords({ entries, left }: OutgoingMessage, without: number, isAfterResolved = false): string {
  const isOver = (entry: AlertEntry) => entry.transition === 'resolved';
  const rest = entries.slice(without);
  const over = rest.filter(isOver).length + (left?.resolved ?? 0);
  const held = rest.filter((entry) => !isOver(entry)).length + (left?.anomalies ?? 0) + (left?.alerts ?? 0);
  const more = without === 0 ? '' : ' more';
  return [
    ...(held === 0 ? [] : [`${held}${more} ${held === 1 ? 'alert' : 'alerts'}`]),
    ...(over === 0 ? [] : [`${over}${held === 0 && isAfterResolved ? more : ''} resolved`]),
  ].join(', ');
}

/** The last line of every message. */
export function footOf(message: OutgoingMessage): string {
  return [
    `Costbook ${message.at}`,
    ...(message.origin === undefined ? [] : [originWords(message.origin)]),
    `${throughWords(message.completeThrough)}, ${message.settledThrough === null ? 'no settled hour yet' : `settled (no more changes expected) through ${message.settledThrough}`}`,
    `message ${message.id}`,
    ...(message.mayBeRepeat ? ['may have been sent before'] : []),
    ...(message.isTest ? ['test message: nothing happened'] : []),
  ].join(' · ');
}

function originWords({ project, host }: Origin): string {
  return `project ${oneLine(project, maxNameLength)} on ${oneLine(host, maxNameLength)}`;
}

/** The longest plain text, in characters. Mail servers accept it, and nobody reads more. */
export const maxPlainText = 30_000;

/**
 * A message as plain text of bounded length, for mail and terminals. `safe` escapes each line for its medium. Alerts
 * that do not fit are counted.
 */
export function plainText(message: OutgoingMessage, safe: (line: string) => string = forTerminal): string {
  const all = (
    message.summary === null
      ? message.entries.map((entry) => [plainCard(cardOf(entry)), ...linesOfLink(message, entry)].join('\n'))
      : [
          [
            ...(message.summary.opening === undefined ? [] : [message.summary.opening, '']),
            message.summary.text,
            ...(message.summary.answers ?? []).flatMap((answer) => ['', ...answerLines(answer)]),
            ...(message.origin?.dashboard === undefined ? [] : [`${message.origin.dashboard}/`]),
          ].join('\n'),
        ]
  ).map((part) =>
    part
      .split('\n')
      .map((line) => safe(line))
      .join('\n'),
  );
  let length = 0;
  const shown = all.filter((part, index) => {
    length += part.length + 2;
    return index === 0 || length <= maxPlainText;
  });
  const head = message.entries.length > 1 ? [safe(countWords(message, 0))] : [];
  const more = moreWords(message, shown.length);
  const parts = [...head, ...shown.map(cutToLines), ...(more === undefined ? [] : [more]), safe(footOf(message))];
  return `${parts.join('\n\n')}\n`;
}

/** The address of the alert's page; empty without a dashboard. */
function linesOfLink({ origin }: OutgoingMessage, { key, fact }: AlertEntry): string[] {
  const link = dashboardLink(origin?.dashboard, key, fact);
  return link === undefined ? [] : [link];
}

/** Drops the lines that exceed the length. */
function cutToLines(text: string): string {
  if (text.length <= maxPlainText) return text;
  const end = text.lastIndexOf('\n', maxPlainText);
  return `${text.slice(0, end === -1 ? maxPlainText : end)}\n…`;
}

function plainCard(card: Card): string {
  return [
    `${card.icon} ${card.title}`,
    ...(card.share === undefined ? [] : [bar(card.share)]),
    ...card.sentences,
    ...(card.next === undefined ? [] : [card.next]),
    ...card.warnings.map((warning) => `⚠ ${warning}`),
    ...card.fields.map(({ label, value }) => `${label}: ${value}`),
    ...(card.list === undefined ? [] : [`${card.list.label}:`, ...card.list.items.map((item) => `  - ${item}`)]),
    ...card.answers.flatMap(answerLines),
    card.notes.join(' · '),
  ].join('\n');
}
