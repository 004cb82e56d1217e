import type { StoredEvent } from '../../base/former-formats.ts';

/**
 * The events of the journal, each with what it stores. The SQL file of the same name in sql/journal writes it into the
 * ledger.
 */
export type EventName =
  /** A run starts; a run that is still recorded as running was killed. */
  | 'run_began'
  /** A run ends, with its exit code and error. */
  | 'run_ended'
  /** A job run starts; a job run that is still recorded as running was killed. */
  | 'job_began'
  /** A scheduled job run did not happen. */
  | 'slot_missed'
  /** A step of a job run starts. */
  | 'step_began'
  /** A step of a job run ends, with its exit code. */
  | 'step_ended'
  /** The facts of an account change. */
  | 'account_changed'
  /** Accounts without any load are no longer configured. */
  | 'accounts_forgotten'
  /** What a run did for one account. */
  | 'account_run'
  /** The complete hours of loads that were fetched under a fast clock are fewer. */
  | 'claims_corrected'
  /** How far this machine's clock was ahead of the platform's. */
  | 'clock_read'
  /** Instants that a fast clock wrote move back. */
  | 'instants_corrected'
  /** Whether a window passed reconciliation at its last attempt, or why it is unproven. */
  | 'window_read'
  /** The contradictions that a verification of past totals found. */
  | 'past_verified'
  /** A month is closed: what it billed to each account, and its units. */
  | 'month_closed'
  /** A closed month is open again, and the reason. */
  | 'month_reopened'
  /** The allocation rules from now on. */
  | 'allocation_changed'
  /** Comparisons with the platform's totals that belong to no load: of failed attempts, and of past totals. */
  | 'window_reconciled'
  /** States of resources that end, and the states that follow. */
  | 'resources_changed'
  /** The newest values of resources that changed without a new state. */
  | 'resource_use_changed'
  /** Entries of deployment histories that were not listed before. */
  | 'resource_events_listed'
  /** What resources run from now on: image, revision and scale. */
  | 'resource_runtimes_changed'
  /** What the tasks of jobs used on a day, by their executions. */
  | 'job_executions_read'
  /** The outcome of fetching a listing. */
  | 'listing_read'
  /** The dimensions and resource types that the platform lists. */
  | 'platform_lists_read'
  /** Alerts that ended or were raised, acknowledgements that ended, and the messages about them. */
  | 'alerts_evaluated'
  /** Anomalies as they are now, and through when each account was evaluated. */
  | 'anomalies_evaluated'
  /** Somebody acknowledged an alert, until an instant. */
  | 'alert_acknowledged'
  /** Somebody said what an anomaly was. */
  | 'alert_feedback_given'
  /** A run starts to send a message to a sink. */
  | 'delivery_began'
  /** The sink's receipt of a message, or why there is none. */
  | 'delivery_ended'
  /** Forecasts as they were made. */
  | 'forecasts_made'
  | RepairEvent;

/** What a repair of the journal writes. These events change no books that are in use, and have no SQL file. */
type RepairEvent =
  /** The events from this number to `through` are lost; the next event follows `through`. */
  | 'events_lost'
  /** Some rows of a table as they were after all events before; the first part replaces the table's rows. */
  | 'rows_restored'
  /** All tables are restored, from the event `from` on: a rebuild skips everything before that. */
  | 'books_restored';

/** Whether an event is from a repair of the journal. */
export function isOfRepair(event: string): event is RepairEvent {
  return event === 'events_lost' || event === 'rows_restored' || event === 'books_restored';
}

export type EventScalar = string | number | boolean | null;

/** An event that the landing folder cannot restore. Its values are already free of secrets. */
export interface JournalEvent {
  readonly event: EventName;
  /** The parameters of its SQL file; lists become JSON. */
  readonly values: Readonly<Record<string, EventScalar | readonly (string | Readonly<Record<string, EventScalar>>)[]>>;
}

/** An event with its number: 1, 2, 3, … without gaps; `events_lost` has all numbers up to `through`. */
export interface NumberedEvent extends JournalEvent {
  readonly number: number;
}

/** The last number that an event has. */
export function lastNumberOf({ number, event, values }: StoredEvent): number {
  return event === 'events_lost' ? Number(values['through']) : number;
}
