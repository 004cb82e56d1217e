import { textOrUndefined } from '../../tables/optional-text.ts';
import { formatInstant, type Instant } from '../../time/time.ts';
import type { Recorder } from '../journal/journal.ts';
import { readSql } from '../sql/sql-files.ts';
import type { Connection } from '../store/connection.ts';

/** The last time that a key was raised. Facts are JSON that only their authors parse. */
export interface KnownAlert {
  readonly key: string;
  /** 1 for the first time that it was raised, 2 for the second, and so on. */
  readonly occurrence: number;
  readonly isOpen: boolean;
  /** Whether it ended without a notification because its period or its cause was over. */
  readonly hasLapsed?: boolean;
  /** Whether it ended because its cause is no longer looked for, or is excluded. */
  readonly isWithdrawn?: boolean;
  readonly raisedAt: Instant;
  /** False if nobody was notified: its key was acknowledged when it was raised, or the alert of an anomaly says the same. */
  readonly isNotified: boolean;
  readonly fact: string;
  /** Names of the sinks that were notified. */
  readonly sinks: readonly string[];
  /** No notification before this instant; undefined without a current acknowledgement. */
  readonly acknowledgedUntil: Instant | undefined;
}

/** An alert that is raised. */
export interface RaisedAlert {
  readonly key: string;
  readonly occurrence: number;
  readonly kind: string;
  readonly account: string | null;
  readonly severity: string;
  readonly fact: string;
  readonly sinks: readonly string[];
  readonly isNotified: boolean;
}

/** An open alert that ends. */
export interface EndedAlert {
  readonly key: string;
  readonly occurrence: number;
  readonly ending: 'resolved' | 'superseded' | 'withdrawn' | 'lapsed' | 'reached';
  /** The fact that ended it. */
  readonly fact: string;
}

/** A message to one sink, before it has a number. */
export interface NewMessage {
  readonly id: string;
  readonly sink: string;
  readonly kind: 'alerts' | 'summary';
  /** Name of the summary; undefined for alerts. */
  readonly summary: string | undefined;
  /** Content, as JSON. */
  readonly message: string;
}

/** Everything that an evaluation changes, written in one transaction. */
export interface Evaluation {
  readonly raised: readonly RaisedAlert[];
  readonly ended: readonly EndedAlert[];
  /** Alerts raised earlier whose sink is notified only now, with all notified sinks. */
  readonly notified: readonly {
    readonly key: string;
    readonly occurrence: number;
    readonly sinks: readonly string[];
  }[];
  /** Open alerts about which nobody is notified, and what they would report now. */
  readonly refreshed: readonly Pick<RaisedAlert, 'key' | 'occurrence' | 'severity' | 'fact'>[];
  /** Keys whose acknowledgement has ended. */
  readonly acknowledged: readonly string[];
  readonly messages: readonly NewMessage[];
}

/** What a run stores of an evaluation; a list that is left out is empty. */
export type RecordedEvaluation = Partial<Evaluation> & { readonly runNumber: number; readonly at: Instant };

/** A message that is not delivered yet. */
export interface PendingMessage extends NewMessage {
  readonly number: number;
  readonly queuedAt: Instant;
  /** When a run tried to send it last, and since when runs have sent to its sink without a long gap; undefined if none did. */
  readonly tried: { readonly since: Instant; readonly last: Instant } | undefined;
  /** Whether an earlier run may have sent it: that run was killed, or the sink's answer was lost. */
  readonly mayBeRepeat: boolean;
}

/** The outcome of a run's attempt to deliver a message. */
export interface DeliveryEnd {
  readonly number: number;
  readonly runNumber: number;
  readonly tries: number;
  readonly outcome: 'delivered' | 'refused' | 'unknown';
  readonly reason: string | undefined;
  /** Whether Costbook gives the message up. */
  readonly isDead: boolean;
}

/** The last time that each key was raised, ordered by key. */
export async function knownAlerts(connection: Connection): Promise<KnownAlert[]> {
  const rows = await connection.rows(await readSql('alerts', 'last_occurrences'));
  return rows.map((row) => ({
    key: String(row['alert_key']),
    occurrence: Number(row['occurrence']),
    isOpen: row['is_open'] === true,
    hasLapsed: row['ending'] === 'lapsed',
    isWithdrawn: row['ending'] === 'withdrawn',
    raisedAt: Number(row['raised_at']),
    isNotified: row['is_notified'] === true,
    fact: String(row['fact']),
    sinks: JSON.parse(String(row['sinks'])) as string[],
    acknowledgedUntil: row['acknowledged_until'] === null ? undefined : Number(row['acknowledged_until']),
  }));
}

/** Messages that are not delivered yet, in order. A gap of so many days between two attempts at a sink begins anew. */
export async function pendingMessages(connection: Connection, gapDays: number): Promise<PendingMessage[]> {
  const rows = await connection.rows(await readSql('alerts', 'pending'), { gap_days: gapDays });
  return rows.map((row) => ({
    number: Number(row['message_number']),
    id: String(row['message_id']),
    sink: String(row['sink']),
    kind: row['kind'] === 'summary' ? 'summary' : 'alerts',
    summary: textOrUndefined(row['summary']),
    message: String(row['message']),
    queuedAt: Number(row['queued_at']),
    tried:
      row['last_tried_at'] === null
        ? undefined
        : { since: Number(row['tried_since']), last: Number(row['last_tried_at']) },
    mayBeRepeat: row['may_be_repeat'] === true,
  }));
}

/** The sinks that received a summary, or are to receive it, each with the last run that queued it. */
export async function sinksOfSummary(connection: Connection, summary: string): Promise<ReadonlyMap<string, number>> {
  const rows = await connection.rows(await readSql('alerts', 'sinks_of_summary'), { summary });
  return new Map(rows.map((row) => [String(row['sink']), Number(row['run_number'])]));
}

/** An answer is stored as the receipt of its message, after these words. */
export const answerPrefix = 'answered: ';

/** What an agent, job or model answered to a message. */
export interface StoredAnswer {
  readonly sink: string;
  /** The name of the summary; undefined for an alert. */
  readonly summary: string | undefined;
  /** The alert; undefined for a summary. */
  readonly alert: { readonly key: string; readonly occurrence: number; readonly transition: string } | undefined;
  /** When the message was queued: messages to other sinks about the same have the same time. */
  readonly queuedAt: Instant;
  readonly answeredAt: string;
  /** Untrusted text of bounded length. */
  readonly text: string;
}

/** What was answered to messages that were queued at an instant or later, oldest first. */
export async function storedAnswers(connection: Connection, since: Instant): Promise<StoredAnswer[]> {
  const rows = await connection.rows(await readSql('alerts', 'answers'), { since, prefix: answerPrefix });
  return rows.map((row) => ({
    sink: String(row['sink']),
    summary: textOrUndefined(row['summary']),
    alert:
      row['alert_key'] === null
        ? undefined
        : {
            key: String(row['alert_key']),
            occurrence: Number(row['occurrence']),
            transition: String(row['transition']),
          },
    queuedAt: Number(row['queued_at']),
    answeredAt: String(row['answered_at']),
    text: String(row['answer']),
  }));
}

/** A message as the ledger stores it. */
export interface StoredMessage {
  readonly sink: string;
  readonly message: string;
}

/** The last message to each sink about a key, oldest first. */
export async function lastMessagesAbout(connection: Connection, key: string): Promise<StoredMessage[]> {
  const rows = await connection.rows(await readSql('alerts', 'last_messages'), { key });
  return rows.map((row) => ({ sink: String(row['sink']), message: String(row['message']) }));
}

/** An event of an evaluation has about this many bytes at most: thousands of alerts may be raised at once. */
const bytesAtOnce = 4 * 1024 * 1024;

/**
 * Lists in parts of a few megabytes, item by item in their order. What a list has is in the first part that has room, so that a
 * kill between two parts repeats a message rather than loses it.
 */
function inParts(lists: Readonly<Record<string, readonly (string | object)[]>>): Record<string, (string | object)[]>[] {
  const empty = () => Object.fromEntries(Object.keys(lists).map((name): [string, (string | object)[]] => [name, []]));
  let part = empty();
  const parts = [part];
  let bytes = 0;
  for (const [name, items] of Object.entries(lists)) {
    for (const item of items) {
      const size = JSON.stringify(item).length;
      if (bytes > 0 && bytes + size > bytesAtOnce) {
        part = empty();
        parts.push(part);
        bytes = 0;
      }
      part[name]?.push(item);
      bytes += size;
    }
  }
  return parts;
}

/** Writes an evaluation to journal and ledger; does nothing if it changes nothing. */
export async function recordEvaluation(
  connection: Connection,
  recorder: Recorder,
  evaluation: RecordedEvaluation,
): Promise<void> {
  const { raised = [], ended = [], notified = [], refreshed = [], acknowledged = [], messages = [] } = evaluation;
  if ([raised, ended, notified, refreshed, acknowledged, messages].every((list) => list.length === 0)) return;
  const [row] = await connection.rows(await readSql('alerts', 'last_message'));
  const last = Number(row?.['last']);
  // Messages first.
  const parts = inParts({
    messages: messages.map(({ id, summary, ...message }, index) => ({
      message_number: last + 1 + index,
      message_id: id,
      summary: summary ?? null,
      ...message,
    })),
    raised: raised.map(({ key, sinks, isNotified, ...alert }) => ({
      alert_key: key,
      ...alert,
      sinks: JSON.stringify(sinks),
      is_notified: isNotified,
    })),
    ended: ended.map(({ key, ...alert }) => ({ alert_key: key, ...alert })),
    notified: notified.map(({ key, occurrence, sinks }) => ({
      alert_key: key,
      occurrence,
      sinks: JSON.stringify(sinks),
    })),
    acknowledged,
    refreshed: refreshed.map(({ key, ...alert }) => ({ alert_key: key, ...alert })),
  });
  for (const part of parts) {
    await recorder.record({
      event: 'alerts_evaluated',
      values: { run_number: evaluation.runNumber, at: formatInstant(evaluation.at), ...part },
    });
  }
}

export function recordAcknowledgement(
  recorder: Recorder,
  { key, until, runNumber, at }: { key: string; until: Instant; runNumber: number; at: Instant },
): Promise<void> {
  return recorder.record({
    event: 'alert_acknowledged',
    values: {
      alert_key: key,
      until: formatInstant(until),
      run_number: runNumber,
      acknowledged_at: formatInstant(at),
    },
  });
}

export function recordDeliveryBegan(
  recorder: Recorder,
  { number, runNumber, at }: { number: number; runNumber: number; at: Instant },
): Promise<void> {
  return recorder.record({
    event: 'delivery_began',
    values: { message_number: number, run_number: runNumber, began_at: formatInstant(at) },
  });
}

export function recordDeliveryEnd(recorder: Recorder, delivery: DeliveryEnd, at: Instant): Promise<void> {
  return recorder.record({
    event: 'delivery_ended',
    values: {
      message_number: delivery.number,
      run_number: delivery.runNumber,
      tries: delivery.tries,
      outcome: delivery.outcome,
      reason: delivery.reason ?? null,
      is_dead: delivery.isDead,
      ended_at: formatInstant(at),
    },
  });
}
