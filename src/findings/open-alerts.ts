import type { AnomalyFact } from '../anomalies/index.ts';
import { asSentence } from '../base/next-step.ts';
import type { Severity } from '../base/severity.ts';
import type { Instant } from '../time/time.ts';
import { readSql } from '../warehouse/sql/index.ts';
import type { Connection } from '../warehouse/store/index.ts';
import { cardOf } from './card.ts';
import { currentCauses, type ProjectOfChecks } from './current.ts';
import { type AlertFact, type DataFact, dataKindOf, parseFact, stepOf, wordsOfKind } from './kinds/index.ts';
import { shownWithOthers } from './same-budget.ts';

/** An open alert, in words for people. */
export interface OpenAlert {
  readonly key: string;
  readonly severity: Severity;
  /** When it was raised, UTC. */
  readonly since: string;
  readonly icon: string;
  /** What is wrong, in a line. */
  readonly title: string;
  /** The amount and its date, or the finding; undefined if the title says everything. */
  readonly detail: string | undefined;
  /** What to do. */
  readonly next: string | undefined;
  /** Through when the costs of its amounts were complete; undefined if it has none. */
  readonly asOf?: string | undefined;
  /** A check that cannot run: nobody knows what it would find. */
  readonly cannotRun?: true;
  /** The exclusion that kept it quiet, and has ended. */
  readonly formerlyExcluded?: AnomalyFact['formerlyExcluded'];
  /** Whether nobody has to act. */
  readonly needsNothing?: true;
  /** The key of the open alert that says why: of the anomaly that goes on, or of a budget's threshold shown in full. */
  readonly cause?: string;
}

/** The open alerts whose cause is not gone, most severe first, then newest. Runs the checks of open alerts again. */
export async function openAlerts(
  connection: Connection,
  now: Instant,
  project?: ProjectOfChecks,
): Promise<OpenAlert[]> {
  const rows = await connection.rows(await readSql('alerts', 'open'));
  const facts = rows.map((row) => parseFact(String(row['fact'])));
  const { ended, facts: current } = await currentCauses(connection, facts, now, project);
  const open = rows.flatMap((row, place) => {
    const key = String(row['alert_key']);
    const fact = current.get(key) ?? facts[place];
    return fact === undefined || ended.has(key) ? [] : [{ row, key, fact }];
  });
  const shown = shownWithOthers(open.map(({ fact }) => fact));
  const keys = new Set(open.map(({ key }) => key));
  return open.map(({ row, key, fact }) => {
    const severity = String(row['severity']) as Severity;
    const asOf = wordsOfKind(fact).isDated === true ? (fact.completeThrough ?? undefined) : undefined;
    const cannotRun = fact.kind === 'check' && fact.offenders === null ? { cannotRun: true as const } : {};
    const isData = fact.kind !== 'budget' && fact.kind !== 'anomaly';
    const needsNothing = isData && stepOf(fact).who === 'No action needed' ? { needsNothing: true as const } : {};
    const causes = fact.kind === 'budget' ? (fact.unusual ?? []).flatMap((one) => (one.isOver ? [] : [one.key])) : [];
    const cause = causes.find((each) => keys.has(each)) ?? shown.get(key);
    return {
      ...{ key, severity, since: String(row['since']), ...wordsOf(fact), asOf, ...cannotRun, ...needsNothing },
      ...(cause === undefined ? {} : { cause }),
      ...(fact.kind === 'anomaly' && fact.formerlyExcluded ? { formerlyExcluded: fact.formerlyExcluded } : {}),
    };
  });
}

/** The words of an open alert for lists: what is wrong, the amount with its date, and what to do. Pure. */
export function wordsOf(fact: AlertFact): Pick<OpenAlert, 'icon' | 'title' | 'detail' | 'next'> {
  const { icon, title, sentences, next, fields } = cardOf({ key: fact.key, occurrence: 1, transition: 'raised', fact });
  const deployed = fields.flatMap(({ label, value }) => (label === 'Deployments' ? [value] : []));
  // What an anomaly does to budgets, and why it raised no alert before, is half of what to decide.
  const reason =
    fact.kind === 'anomaly' ? [...sentences, ...deployed, ...exclusionSentences(fact)].join(' ') : sentences[0];
  return { icon, title, detail: withDate(dataKindOf(fact)?.detail?.(fact as DataFact) ?? reason, fact), next };
}

/** That an exclusion kept it quiet before, and why; empty if none did. */
function exclusionSentences(fact: AlertFact): string[] {
  if (fact.kind !== 'anomaly' || fact.formerlyExcluded === undefined) return [];
  const { until, reason } = fact.formerlyExcluded;
  return [asSentence(`It was excluded from alerts through ${until}: ${reason}`)];
}

/** Adds the date of the amounts: they are those of the last evaluation. */
function withDate(sentence: string | undefined, fact: AlertFact): string | undefined {
  const { completeThrough } = fact;
  if (wordsOfKind(fact).isDated !== true || completeThrough === null) return sentence;
  if (fact.kind === 'budget' && fact.shownIn !== undefined) return sentence;
  const date = `Amounts as of ${completeThrough}.`;
  return sentence === undefined ? date : `${sentence} ${date}`;
}
