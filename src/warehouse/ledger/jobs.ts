import { type Failure, storedFailures } from '../../base/failure.ts';
import { formatInstant, type Instant } from '../../time/time.ts';
import type { Recorder } from '../journal/journal.ts';
import { readSql } from '../sql/sql-files.ts';
import type { Connection } from '../store/connection.ts';

/** What the books record about a job's runs and slots. */
export interface JobHistory {
  /** How long its last successful run took; undefined if there is none. */
  readonly lastDoneMs?: number | undefined;
  /**
   * Slots up to this instant need no run: the last slot that ended, was missed or was tried too often, or the last
   * start by hand. Undefined if there is none.
   */
  readonly doneThrough: Instant | undefined;
  /** Later slots whose runs were killed. */
  readonly interrupted: readonly Instant[];
}

/** Stop retrying a slot whose runs were all killed: the run itself may be the cause. */
const maxTries = 3;

/** The slot history of each job that ever ran, by name. */
export async function jobHistories(connection: Connection): Promise<ReadonlyMap<string, JobHistory>> {
  const rows = await connection.rows(await readSql('jobs', 'histories'), { max_tries: maxTries });
  return new Map(
    rows.map((row) => [
      String(row['job']),
      {
        lastDoneMs: row['last_done_ms'] === null ? undefined : Number(row['last_done_ms']),
        doneThrough: row['done_through'] === null ? undefined : Number(row['done_through']),
        interrupted: row['interrupted'] === null ? [] : String(row['interrupted']).split(',').map(Number),
      },
    ]),
  );
}

/** A step that its run has started. */
export interface StepBegun {
  readonly runNumber: number;
  /** From 1. */
  readonly position: number;
  readonly step: string;
  readonly commandLine: string;
  readonly startedAt: Instant;
}

/** How a step ended. */
export interface StepEnd {
  readonly runNumber: number;
  readonly position: number;
  readonly outcome: 'done' | 'failed' | 'left_out';
  readonly endedAt: Instant;
  readonly seconds: number | undefined;
  readonly exitCode: number | undefined;
  /** Why it failed or was left out; empty if it succeeded. */
  readonly failures: readonly Failure[];
  readonly figures: Readonly<Record<string, unknown>> | undefined;
}

export function recordStepBegan(recorder: Recorder, begun: StepBegun): Promise<void> {
  return recorder.record({
    event: 'step_began',
    values: {
      run_number: begun.runNumber,
      position: begun.position,
      step: begun.step,
      command_line: begun.commandLine,
      started_at: formatInstant(begun.startedAt),
    },
  });
}

export function recordStepEnd(recorder: Recorder, end: StepEnd): Promise<void> {
  return recorder.record({
    event: 'step_ended',
    values: {
      run_number: end.runNumber,
      position: end.position,
      outcome: end.outcome,
      ended_at: formatInstant(end.endedAt),
      seconds: end.seconds === undefined ? null : end.seconds.toFixed(3),
      exit_code: end.exitCode ?? null,
      failures: storedFailures(end.failures),
      figures: end.figures === undefined ? null : JSON.stringify(end.figures),
    },
  });
}

/** Records missed slots, in order. */
export async function recordMissed(
  connection: Connection,
  recorder: Recorder,
  missed: {
    readonly job: string;
    readonly slots: readonly Instant[];
    readonly reason: string;
    readonly foundAt: Instant;
  },
): Promise<void> {
  const [row] = await connection.rows(await readSql('ledger', 'last_run'));
  for (const [index, slot] of missed.slots.entries()) {
    await recorder.record({
      event: 'slot_missed',
      values: {
        run_number: Number(row?.['run_number']) + 1 + index,
        job: missed.job,
        slot: formatInstant(slot),
        found_at: formatInstant(missed.foundAt),
        failures: storedFailures([{ code: 'missed', subject: missed.job, found: missed.reason, next: null }]),
      },
    });
  }
}
