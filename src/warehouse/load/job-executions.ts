import { formatInstant, type Instant } from '../../time/time.ts';
import type { Recorder } from '../journal/journal.ts';
import { readSql } from '../sql/sql-files.ts';
import type { Connection } from '../store/connection.ts';

/** A resource that was billed for a dimension. */
export interface BilledResource {
  readonly workspace: string;
  readonly name: string;
  /** Its memory in that time; undefined if no listing said so. */
  readonly memoryMb: number | undefined;
}

/** Who is billed for what, and when. */
export interface BilledQuestion {
  readonly account: string;
  /** Undefined for all. */
  readonly workspaces: readonly string[] | undefined;
  readonly billingDimension: string;
  readonly from: Instant;
  readonly to: Instant;
}

/** What the tasks of a job used on a day. */
export interface JobExecutions extends Pick<BilledResource, 'workspace' | 'name'> {
  readonly executions: number;
  readonly tasks: number;
  /** Memory in GB times seconds. */
  readonly gigabyteSeconds: number;
}

/** The resources that were billed, the dearest first. */
export async function billedResources(
  connection: Connection,
  { account, workspaces, billingDimension, from, to }: BilledQuestion,
): Promise<readonly BilledResource[]> {
  const rows = await connection.rows(await readSql('inventory', 'billed_resources'), {
    ...{ account, billing_dimension: billingDimension, from: formatInstant(from), to: formatInstant(to) },
    workspaces: workspaces === undefined ? null : JSON.stringify(workspaces),
  });
  return rows.map((row) => ({
    ...{ workspace: String(row['workspace']), name: String(row['resource_name']) },
    memoryMb: row['memory_mb'] === null ? undefined : Number(row['memory_mb']),
  }));
}

/** Records what the tasks of jobs used on a day. */
export async function recordJobExecutions(
  recorder: Recorder,
  facts: { account: string; day: Instant; runNumber: number; readAt: Instant; jobs: readonly JobExecutions[] },
): Promise<void> {
  const jobs = facts.jobs.map(({ workspace, name, executions, tasks, gigabyteSeconds }) => ({
    ...{ workspace, resource_name: name, executions, tasks, task_usage: gigabyteSeconds.toFixed(6) },
  }));
  const { account, runNumber, day, readAt } = facts;
  await recorder.record({
    event: 'job_executions_read',
    values: {
      account,
      ...{ run_number: runNumber, day_start: formatInstant(day), read_at: formatInstant(readAt), jobs },
    },
  });
}
