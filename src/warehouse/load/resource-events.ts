import { formatInstant, type Instant } from '../../time/time.ts';
import type { Recorder } from '../journal/journal.ts';
import type { ListedDeployments } from '../page.ts';
import { readSql } from '../sql/sql-files.ts';
import type { Connection } from '../store/connection.ts';
import { type ListingKey, lastReading } from './inventory.ts';

/** Writes the deployments of one listing at a time, with at most one page in memory. */
export interface DeploymentsStage {
  /** Starts a listing, or restarts it: earlier pages are discarded. */
  begin(): Promise<void>;
  add(resources: readonly ListedDeployments[]): Promise<void>;
  /** Writes the events that are new, and the runtimes that changed. Call it before the listing is recorded as read. */
  write(reading: ListingKey & { readonly runNumber: number; readonly seenAt: Instant }): Promise<void>;
  close(): void;
}

/** Events or runtimes in one journal event, and in one transaction. */
const rowsAtOnce = 500;

/** Opens a stage on a connection of its own; it writes through the recorder. */
export async function openDeploymentsStage(connection: Connection, recorder: Recorder): Promise<DeploymentsStage> {
  const sql = {
    stage: await readSql('inventory', 'stage_deployments'),
    compare: await readSql('inventory', 'compare_deployments'),
    events: await readSql('inventory', 'new_events'),
    runtimes: await readSql('inventory', 'new_runtimes'),
  };
  let arrived = 0;
  return {
    async begin() {
      arrived = 0;
      await connection.run(sql.stage);
    },
    async add(resources) {
      await connection.appendRows(
        'staged_events',
        resources.flatMap(({ workspace, name, events }) =>
          events.map(({ time, type, status, message, revision, canaryRevision }) =>
            [workspace, name, time, type, status, message, revision, canaryRevision].map((value) => value ?? null),
          ),
        ),
      );
      await connection.appendRows(
        'staged_runtimes',
        resources.map(({ workspace, name, createdAt, updatedAt, runtime }) =>
          [
            ...[arrived++, workspace, name, createdAt, updatedAt, runtime.image, runtime.revision],
            ...[runtime.minScale, runtime.maxScale],
          ].map((value) => value ?? null),
        ),
      );
    },
    async write(reading) {
      const { account, resourceType, runNumber, seenAt } = reading;
      const key = { account, resource_type: resourceType };
      const readBefore = await lastReading(connection, reading);
      await connection.run(sql.compare, {
        ...key,
        read_at: formatInstant(seenAt),
        read_before: readBefore === undefined ? null : formatInstant(readBefore),
      });
      const values = { ...key, run_number: runNumber, seen_at: formatInstant(seenAt) };
      for await (const events of batches(connection, sql.events)) {
        await recorder.record({ event: 'resource_events_listed', values: { ...values, events } });
      }
      for await (const runtimes of batches(connection, sql.runtimes)) {
        await recorder.record({ event: 'resource_runtimes_changed', values: { ...values, runtimes } });
      }
    },
    close: () => connection.close(),
  };
}

type Values = Readonly<Record<string, string | number | boolean | null>>;

async function* batches(connection: Connection, sql: string): AsyncGenerator<Values[], void, undefined> {
  for (let from = 0; ; from += rowsAtOnce) {
    const rows = await connection.rows(sql, { from, to: from + rowsAtOnce });
    if (rows.length === 0) return;
    yield rows as Values[];
  }
}
