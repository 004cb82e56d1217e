import { formatInstant, type Instant } from '../time/time.ts';
import type { EndedAlert, Evaluation, KnownAlert, RaisedAlert } from '../warehouse/watch/index.ts';
import type { BudgetAlertFact } from './budget-fact.ts';
import { commandSinks } from './command-sink.ts';
import { coveredForecasts } from './covered-forecasts.ts';
import { type AlertFact, parseFact } from './kinds/index.ts';

/** One change of an alert, to be sent to its sinks. */
export interface AlertEntry {
  readonly key: string;
  readonly occurrence: number;
  /**
   * reminded: its acknowledgement ended and it is still open. open: it was raised before this sink was added.
   */
  readonly transition: 'raised' | 'reminded' | 'open' | 'resolved';
  readonly fact: AlertFact;
  /** Whether nobody was notified of its earlier occurrences: another alert said what it says. */
  readonly isFirstMessage?: true;
  /** When it was raised; only for `open`. */
  readonly since?: string | undefined;
  /** What agents answered about it; only in a message on its way. */
  readonly answers?: readonly { readonly sink: string; readonly text: string }[] | undefined;
}

/** The result of an evaluation: changes of the ledger, and notifications. */
export interface Transitions {
  readonly raised: readonly RaisedAlert[];
  readonly ended: readonly EndedAlert[];
  readonly notified: Evaluation['notified'];
  readonly refreshed: Evaluation['refreshed'];
  readonly acknowledged: readonly string[];
  readonly entries: readonly { readonly entry: AlertEntry; readonly sinks: readonly string[] }[];
}

/** A budget alert lapses this long after its period ended: no later change would be reported. */
const lapseDays = 62;
/** It lapses this long after its period is complete: costs have settled by then, and its amount is out of date. */
const lapseCompleteDays = 3;
const dayMs = 86_400_000;

/** Whether a fact is about a period of a budget that is over, complete and settled. */
function isOfSettledPeriod(fact: AlertFact): boolean {
  if (fact.kind !== 'budget' || fact.completeThrough === null) return false;
  return Date.parse(fact.completeThrough) >= Date.parse(fact.periodEnd) + lapseCompleteDays * dayMs;
}

/**
 * Applies facts to the known alerts. Each sink is notified once when an alert is raised and once when it is resolved. An
 * open alert is reported again only if its revision differs. A sink that is added later gets the open alerts. A forecast
 * that the alert of an anomaly names already is raised without a notification. An open alert without a fact stays open,
 * because nothing is known. `everybody` are the default sinks. Pure.
 */
export function transitionsOf(
  known: readonly KnownAlert[],
  facts: readonly AlertFact[],
  { now, everybody }: { readonly now: Instant; readonly everybody: readonly string[] },
): Transitions {
  const raised: RaisedAlert[] = [];
  const ended: EndedAlert[] = [];
  const notified = new Map<string, Evaluation['notified'][number]>();
  const refreshed: Evaluation['refreshed'][number][] = [];
  const entries: { entry: AlertEntry; sinks: readonly string[] }[] = [];
  const byKey = new Map(known.map((alert) => [alert.key, alert]));
  const factsByKey = new Map(facts.map((fact) => [fact.key, fact]));
  const acknowledged = known.flatMap(({ key, acknowledgedUntil }) =>
    acknowledgedUntil !== undefined && acknowledgedUntil <= now ? [key] : [],
  );

  const covered = coveredForecasts(known, facts, { now, everybody });

  function sinksOf({ notify }: AlertFact): string[] {
    return [...new Set(notify.length > 0 ? notify : everybody)];
  }
  function raise(fact: AlertFact, before: KnownAlert | undefined): void {
    const isAcknowledged = before?.acknowledgedUntil !== undefined && before.acknowledgedUntil > now;
    const isSilent = isAcknowledged || covered.has(fact.key);
    const occurrence = (before?.occurrence ?? 0) + 1;
    const { key, kind, account, severity } = fact;
    const sinks = sinksOf(fact);
    raised.push({ key, occurrence, kind, account, severity, fact: JSON.stringify(fact), sinks, isNotified: !isSilent });
    if (!isSilent) {
      const first = before?.isOpen === true && !before.isNotified ? { isFirstMessage: true as const } : {};
      entries.push({
        entry: { key, occurrence, transition: 'raised', fact, ...first },
        // What runs a command once has run it, if this alert was open and told.
        sinks: before?.isOpen === true && before.isNotified ? sinks : [...sinks, ...commandSinks(fact)],
      });
    }
  }
  function end(alert: KnownAlert, ending: EndedAlert['ending'], fact: AlertFact): void {
    ended.push({ key: alert.key, occurrence: alert.occurrence, ending, fact: JSON.stringify(fact) });
  }

  /** Notifies sinks that were added since the alert was raised, unless it is acknowledged. */
  function share({ key, occurrence, sinks, acknowledgedUntil, raisedAt }: KnownAlert, fact: AlertFact): void {
    const added = sinksOf(fact).filter((sink) => !sinks.includes(sink));
    if (added.length === 0 || covered.has(key) || (acknowledgedUntil !== undefined && acknowledgedUntil > now)) return;
    notified.set(key, { key, occurrence, sinks: [...sinks, ...added] });
    const since = formatInstant(raisedAt);
    entries.push({ entry: { key, occurrence, transition: 'open', fact, since }, sinks: added });
  }

  for (const fact of factsByKey.values()) {
    const before = byKey.get(fact.key);
    const open = before?.isOpen === true ? before : undefined;
    if (fact.state === 'raised') {
      if (open === undefined) {
        // An alert that lapsed with its period is not raised again.
        const hasLapsed = before?.hasLapsed === true && isOfSettledPeriod(fact);
        if (!hasLapsed) raise(fact, before);
        continue;
      }
      if (isOfSettledPeriod(fact)) {
        end(open, 'lapsed', fact);
        continue;
      }
      if (fact.revision !== parseFact(open.fact).revision) {
        // An acknowledged alert does not change, so that its end is still reported.
        if (open.acknowledgedUntil !== undefined && open.acknowledgedUntil > now) continue;
        end(open, 'superseded', fact);
        raise(fact, open);
        continue;
      }
      const isDue = acknowledged.includes(open.key) || (!open.isNotified && open.acknowledgedUntil === undefined);
      if (isDue && (open.isNotified || !covered.has(open.key))) {
        const { key, occurrence, sinks, isNotified } = open;
        if (!isNotified) notified.set(key, { key, occurrence, sinks });
        const all = isNotified ? sinks : [...sinks, ...commandSinks(fact)];
        const transition = isNotified ? 'reminded' : 'raised';
        entries.push({ entry: { key, occurrence, transition, fact }, sinks: all });
      }
      share(open, fact);
      refreshed.push(...refreshedBy(open, fact));
    } else if (open !== undefined) {
      end(open, fact.state, fact);
      // Only sinks that were notified of the start are notified of the end.
      if (fact.state === 'resolved' && open.isNotified) {
        const { key, occurrence, sinks } = open;
        entries.push({ entry: { key, occurrence, transition: 'resolved', fact }, sinks });
      }
    }
  }
  for (const alert of known) {
    if (!alert.isOpen || ended.some(({ key }) => key === alert.key)) continue;
    const fact = factsByKey.get(alert.key) ?? parseFact(alert.fact);
    if (fact.kind === 'budget' && Date.parse(fact.periodEnd) + lapseDays * dayMs < now) end(alert, 'lapsed', fact);
    else if (!factsByKey.has(alert.key)) share(alert, fact);
  }
  return { raised, ended, notified: [...notified.values()], refreshed, acknowledged, entries };
}

/** An alert that stays open, with its present amounts; empty if they are those of the ledger. */
function refreshedBy({ key, occurrence, fact: stored }: KnownAlert, fact: AlertFact): Evaluation['refreshed'] {
  // An anomaly is compared with its last message, and lists take its amounts from the days in the books.
  if (fact.kind === 'anomaly') return [];
  const present = JSON.stringify(fact);
  return present === stored ? [] : [{ key, occurrence, severity: fact.severity, fact: present }];
}

/**
 * Adds a withdrawn fact for every open alert whose budget or threshold was changed or removed. Pure.
 */
export function withWithdrawn(
  facts: readonly BudgetAlertFact[],
  known: readonly KnownAlert[],
  isAsked: (fact: BudgetAlertFact) => boolean,
): BudgetAlertFact[] {
  const withdrawn = known.flatMap((alert): BudgetAlertFact[] => {
    const fact = alert.isOpen ? parseFact(alert.fact) : undefined;
    if (fact?.kind !== 'budget' || isAsked(fact)) return [];
    return [{ ...fact, state: 'withdrawn' }];
  });
  const gone = new Set(withdrawn.map(({ key }) => key));
  return [...facts.filter(({ key }) => !gone.has(key)), ...withdrawn];
}
