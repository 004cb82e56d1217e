import { type Failure, storedFailures } from '../../base/failure.ts';
import { textOrNull } from '../../tables/optional-text.ts';
import { formatInstant, type Instant } from '../../time/time.ts';
import type { Recorder } from '../journal/journal.ts';
import { readSql } from '../sql/sql-files.ts';
import type { Connection } from '../store/connection.ts';
import {
  type JobHistory,
  jobHistories,
  recordMissed,
  recordStepBegan,
  recordStepEnd,
  type StepBegun,
  type StepEnd,
} from './jobs.ts';
import { type LastFetch, lastFetch } from './last-fetch.ts';

/** A running run, and how to end it. */
export interface Run {
  readonly number: number;
  /** `failures` begin with the one that decides the exit code; none means success. */
  end(exitCode: number, failures: readonly Failure[], endedAt: Instant): Promise<void>;
}

/** What the books say before a run begins. */
export interface BeforeRun extends LastFetch {
  readonly killed:
    | {
        readonly runNumber: number;
        readonly command: string;
        readonly startedAt: string;
        readonly step: string | null;
      }
    | undefined;
}

/** The runs of commands and jobs. */
export interface RunRecords {
  /** `commandLine` is what its user typed after costbook. */
  beginRun(command: string, startedAt: Instant, commandLine?: string): Promise<Run>;
  /** Starts a job run: for a slot of its schedule, or for none. */
  beginJob(job: string, slot: Instant | undefined, startedAt: Instant): Promise<Run>;
  jobHistories(): Promise<ReadonlyMap<string, JobHistory>>;
  /** What happened before this run: when one last began to fetch, and the run that was killed, if its row has no end. */
  beforeRun(): Promise<BeforeRun>;
  /** When a command failed first since its last success, RFC 3339; null if its last run succeeded. */
  failingSince(command: string): Promise<string | null>;
  /** Records missed slots. */
  missed(job: string, slots: readonly Instant[], reason: string, foundAt: Instant): Promise<void>;
  stepBegan(begun: StepBegun): Promise<void>;
  stepEnded(end: StepEnd): Promise<void>;
}

/** The writer's access to runs. */
export function runRecords(connection: Connection, recorder: Recorder): RunRecords {
  return {
    beginRun: (command, startedAt, commandLine = command) =>
      beginRun(connection, recorder, { event: 'run_began', command, commandLine }, startedAt),
    beginJob: (job, slot, startedAt) => beginRun(connection, recorder, { event: 'job_began', job, slot }, startedAt),
    jobHistories: () => jobHistories(connection),
    beforeRun: async () => {
      const [killed] = await connection.rows(await readSql('status', 'running_run'));
      return {
        ...(await lastFetch(connection)),
        killed: killed && {
          ...{ runNumber: Number(killed['run_number']), command: String(killed['command']) },
          ...{ startedAt: String(killed['started_at']), step: textOrNull(killed['step']) },
        },
      };
    },
    failingSince: async (command) => {
      const rows = await connection.rows(await readSql('alerts', 'last_runs'));
      const last = rows.find((row) => row['command'] === command && row['outcome'] !== 'done');
      return textOrNull(last?.['failing_since']);
    },
    missed: (job, slots, reason, foundAt) => recordMissed(connection, recorder, { job, slots, reason, foundAt }),
    stepBegan: (begun) => recordStepBegan(recorder, begun),
    stepEnded: (end) => recordStepEnd(recorder, end),
  };
}

async function beginRun(
  connection: Connection,
  recorder: Recorder,
  what:
    | { readonly event: 'run_began'; readonly command: string; readonly commandLine: string }
    | { readonly event: 'job_began'; readonly job: string; readonly slot: Instant | undefined },
  startedAt: Instant,
): Promise<Run> {
  const [row] = await connection.rows(await readSql('ledger', 'last_run'));
  const number = Number(row?.['run_number']) + 1;
  const own =
    what.event === 'run_began'
      ? { command: what.command, command_line: what.commandLine }
      : { job: what.job, slot: what.slot === undefined ? null : formatInstant(what.slot) };
  await recorder.record({
    event: what.event,
    values: { run_number: number, ...own, started_at: formatInstant(startedAt) },
  });
  return {
    number,
    end: (exitCode, failures, endedAt) =>
      recorder.record({
        event: 'run_ended',
        values: {
          run_number: number,
          exit_code: exitCode,
          failures: storedFailures(failures),
          ended_at: formatInstant(endedAt),
        },
      }),
  };
}
