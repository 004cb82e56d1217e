import { usd } from '../money/money.ts';
import { counted, listed } from '../text/counted.ts';
import { dayWords } from '../time/day-words.ts';
import type { AnomalyFact } from './fact.ts';
import { type AnomalyFeedback, type FeedbackKind, feedbackKinds } from './feedback.ts';
import type { AnomalyPart } from './one-cause.ts';

/** What a fact needs to tell its feedback. */
type Told = Pick<AnomalyFact, 'feedback' | 'parts' | 'lastDay' | 'isOver'>;

/** What people said that an anomaly was, and what follows from it, as sentences; none without feedback. Pure. */
export function feedbackSentences({ feedback = [], parts, lastDay, isOver }: Told): string[] {
  const [first] = feedback;
  if (first === undefined) return [];
  const said = new Set(feedback.map(({ as }) => as));
  const subject = partWords(feedback.length, parts?.length ?? 1);
  if (said.size > 1) return [`Somebody gave feedback on ${subject}: ${countsOf(feedback)}.`];
  const on = dayWords(first.givenAt.slice(0, 10), lastDay);
  const called = `Somebody called ${subject} ${first.as} on ${on}`;
  if (first.as === 'fixed') {
    if (isOver) return [`${called}.`];
    if (lastDay >= first.appliesFrom) return [`${called}, but it still costs more.`];
    return [
      `${called}. If it still costs more on ${dayWords(first.appliesFrom, lastDay)} or later, Costbook reports it again.`,
    ];
  }
  if (first.bar === null) return [`${called}.`];
  if (feedback.length === 1) return [`${called}. Costbook reports a day of it only above ${usd(first.bar)}.`];
  const bars = feedback.map(
    ({ key, bar }) => `${usd(bar ?? '0')} for ${nameOf(parts?.find((part) => part.key === key))}`,
  );
  const shown = bars.length > barsShown ? [...bars.slice(0, barsShown), `${bars.length - barsShown} more`] : bars;
  return [`${called}. Costbook reports a day of a part only above its limit: ${listed(shown)}.`];
}

const barsShown = 3;

/** `crawler`, or `agent_compute_runtime_gbs in research` where no resource is most of a part. */
function nameOf(part: AnomalyPart | undefined): string {
  const { driver, billingDimension, workspace } = part ?? {};
  return driver ?? `${billingDimension ?? 'costs'} in ${workspace ?? 'no workspace'}`;
}

function partWords(count: number, all: number): string {
  return count === all ? 'it' : `${count} of its ${counted(all, 'part')}`;
}

/** `2 parts are expected, 1 part is fixed`. */
function countsOf(feedback: readonly AnomalyFeedback[]): string {
  const count = (kind: FeedbackKind) => feedback.filter(({ as }) => as === kind).length;
  return feedbackKinds
    .filter((kind) => count(kind) > 0)
    .map((kind) => `${counted(count(kind), 'part')} ${count(kind) === 1 ? 'is' : 'are'} ${kind}`)
    .join(', ');
}
