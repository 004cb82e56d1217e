import { nextWords, noAction } from '../base/next-step.ts';
import { ordinal } from '../budgets/forecasts/index.ts';
import type { Card } from '../sinks/index.ts';
import { maxNameLength, maxSentenceLength, oneLine } from '../text/safe-text.ts';
import { throughWords } from '../text/through.ts';
import { type AlertFact, type DataFact, stepOf, wordsOfKind } from './kinds/index.ts';
import type { AlertEntry } from './transitions.ts';

const icons = { critical: '🔴', warning: '🟠', info: '🔵' } as const;

/** An alert as text. Names from outside are cut to a safe length and to one line. */
export function cardOf(entry: AlertEntry): Card {
  const { key, occurrence, transition, since, fact: unsafe, isFirstMessage, answers = [] } = entry;
  const isOver = transition === 'resolved';
  const fact = withSafeTexts(unsafe);
  const kind = wordsOfKind(fact);
  const words = isOver ? kind.over(fact) : kind.words(fact);
  const isStory = isOneStory(fact);
  const isCounted = occurrence > 1 && isFirstMessage !== true && !(isStory && isOver);
  const times = !isCounted
    ? ''
    : isStory
      ? ` (${ordinal(occurrence)} message about it)`
      : ` (raised for the ${ordinal(occurrence)} time)`;
  const step = words.next ?? (isOver ? noAction() : isOfData(fact) ? stepOf(fact) : undefined);
  const isUsual = isOver && words.isNeutral === true;
  return {
    icon: isOver && !isUsual ? '✅' : icons[isUsual ? 'info' : fact.severity],
    title: `${isUsual ? '' : prefixOf(transition, since)}${words.title}`,
    share: words.share,
    sentences: words.sentences,
    next: step && nextWords(step),
    fields: words.fields ?? [],
    list: isOver ? undefined : words.list,
    warnings: words.warnings ?? [],
    notes: [
      ...(words.hasNoHours === true ? [] : [datedWords(fact, kind.isDated)]),
      `key ${oneLine(key, maxSentenceLength)}${times}`,
      ...(fact.kind === 'budget' ? (fact.also ?? []).map((other) => `key ${other.key}`) : []),
    ],
    answers,
  };
}

/** Whether each message about it counts as an occurrence: a continuing anomaly, or a new cause. */
function isOneStory(fact: AlertFact): boolean {
  return fact.kind === 'anomaly' || ((fact.kind === 'budget' || 'causes' in fact) && fact.revision !== undefined);
}

function isOfData(fact: AlertFact): fact is DataFact {
  return fact.kind !== 'budget' && fact.kind !== 'anomaly';
}

/** `amounts as of 2026-10-14T00:00:00Z`, which lists call them too: what a message calls "now" is then. */
function datedWords({ completeThrough }: AlertFact, isDated: true | undefined): string {
  return isDated === true && completeThrough !== null
    ? `amounts as of ${completeThrough}`
    : throughWords(completeThrough);
}

function prefixOf(transition: AlertEntry['transition'], since: string | undefined): string {
  if (transition === 'resolved') return 'Resolved: ';
  if (transition === 'reminded') return 'Still open: ';
  return transition === 'open' && since !== undefined ? `Open since ${since.slice(0, 10)}: ` : '';
}

/** Keys of a fact that hold sentences. All other texts are names. */
const sentenceKeys: readonly string[] = [
  ...['key', 'error', 'found', 'words', 'about', 'reason', 'gaps', 'changedFrom', 'nextStep'],
];

/** A fact with every text cut to one line and a bounded length. */
function withSafeTexts<T>(value: T, key = ''): T {
  if (typeof value === 'string') {
    return oneLine(value, sentenceKeys.includes(key) ? maxSentenceLength : maxNameLength) as T;
  }
  if (Array.isArray(value)) return value.map((item) => withSafeTexts(item, key)) as T;
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, withSafeTexts(item, name)])) as T;
}
