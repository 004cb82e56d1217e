import { cardOf, parseFact } from '../alerts/index.ts';
import type { Severity } from '../severity.ts';
import { type Connection, readSql } from '../warehouse/index.ts';

/** An alert that holds, in words for a person. */
export interface OpenAlert {
  readonly key: string;
  readonly severity: Severity;
  /** When it was raised, UTC. */
  readonly since: string;
  readonly icon: string;
  /** What is wrong, in a line. */
  readonly title: string;
  /** The amount, or what was found; undefined where the title says all. */
  readonly detail: string | undefined;
  /** Whether to act or to wait; undefined of budgets and anomalies. */
  readonly next: string | undefined;
}

/** The open alerts, the most severe first, then the newest. */
export async function openAlerts(connection: Connection): Promise<OpenAlert[]> {
  const rows = await connection.rows(await readSql('alerts', 'open'));
  return rows.map((row) => ({
    key: String(row['alert_key']),
    severity: String(row['severity']) as Severity,
    since: String(row['since']),
    ...alertWords({ key: String(row['alert_key']), fact: String(row['fact']) }),
  }));
}

/** What an alert of the ledger says, by its fact. */
export function alertWords({
  key,
  fact,
}: {
  readonly key: string;
  readonly fact: string;
}): Pick<OpenAlert, 'icon' | 'title' | 'detail' | 'next'> {
  const { icon, title, sentences, next } = cardOf({ key, occurrence: 1, transition: 'raised', fact: parseFact(fact) });
  return { icon, title, detail: sentences[0], next };
}
