import type { AnomalyFact, PressedBudget } from '../anomalies/index.ts';
import { moreSevere } from '../base/severity.ts';
import { moneyOf } from '../money/money.ts';
import type { Instant } from '../time/time.ts';
import type { KnownAlert } from '../warehouse/watch/index.ts';
import type { BudgetAlertFact } from './budget-fact.ts';
import { holdsIfStopped } from './budget-outlook.ts';
import { type AlertFact, parseFact } from './kinds/index.ts';

/** What the alert of an anomaly says, and to whom. */
interface Reported {
  readonly fact: AnomalyFact;
  /** The budgets that it names as they are now. */
  readonly present: AnomalyFact['budgets'];
  readonly sinks: readonly string[];
}

/**
 * The keys of forecast alerts that say nothing new: the alert of an anomaly that goes on has notified the same sinks, at
 * least as severely, that the budget ends above this threshold, and what it said of an end of the anomaly still holds. One
 * cause is one alert. Spend that reaches a threshold is reported in any case; so are a threshold with a command, and a
 * forecast beside an anomaly that somebody called intended. Pure.
 */
export function coveredForecasts(
  known: readonly KnownAlert[],
  facts: readonly AlertFact[],
  { now, everybody }: { readonly now: Instant; readonly everybody: readonly string[] },
): ReadonlySet<string> {
  const sinksOf = ({ notify }: AlertFact) => (notify.length > 0 ? notify : everybody);
  const byKey = new Map(known.map((alert) => [alert.key, alert]));
  const reported = facts.flatMap((fact): Reported[] => {
    if (fact.kind !== 'anomaly' || fact.state !== 'raised' || fact.isOver || isIntended(fact)) return [];
    const before = byKey.get(fact.key);
    const open = before?.isOpen === true ? before : undefined;
    const isQuiet = before?.acknowledgedUntil !== undefined && before.acknowledgedUntil > now;
    const last = open === undefined ? undefined : parseFact(open.fact);
    if (!isQuiet && (last === undefined || last.kind !== 'anomaly' || last.revision !== fact.revision)) {
      return [{ fact, present: fact.budgets, sinks: sinksOf(fact) }];
    }
    if (open?.isNotified !== true || last?.kind !== 'anomaly') return [];
    return [{ fact: last, present: fact.budgets, sinks: open.sinks }];
  });
  const covered = facts.filter(
    (fact) =>
      fact.kind === 'budget' &&
      fact.of === 'forecast' &&
      fact.run !== true &&
      reported.some((one) => names(one, fact) && sinksOf(fact).every((sink) => one.sinks.includes(sink))),
  );
  return new Set(covered.map(({ key }) => key));
}

/** Whether the alert of an unusual cost that goes on may be the reason why a forecast alert has notified nobody. Pure. */
export function isExplainedByAnomaly(fact: AlertFact): boolean {
  return fact.kind === 'budget' && fact.of === 'forecast' && (fact.unusual ?? []).some(({ isOver }) => !isOver);
}

function isIntended({ feedback = [] }: AnomalyFact): boolean {
  return feedback.some(({ as }) => as !== 'fixed');
}

function names({ fact: { budgets, severity }, present }: Reported, fact: BudgetAlertFact): boolean {
  const named = budgetIn(budgets, fact);
  if (named === undefined || moreSevere(fact.severity, severity)) return false;
  const now = budgetIn(present, fact) ?? named;
  if (holdsIfStopped(named.stopped, named.amount) && !holdsIfStopped(now.stopped, now.amount)) return false;
  return moneyOf(named.expected) >= moneyOf(fact.limit);
}

function budgetIn(budgets: AnomalyFact['budgets'], { budget, period }: BudgetAlertFact): PressedBudget | undefined {
  return budgets?.find((one) => one.name === budget && one.period === period);
}
