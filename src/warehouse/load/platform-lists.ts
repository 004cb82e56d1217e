import { formatInstant, type Instant } from '../../time/time.ts';
import type { Recorder } from '../journal/journal.ts';
import { readSql } from '../sql/sql-files.ts';
import type { Connection } from '../store/connection.ts';

/** What the platform listed as dimensions and resource types of an account's costs. */
export interface PlatformListsFacts {
  readonly account: string;
  readonly runNumber: number;
  readonly readAt: Instant;
  /** Undefined if the platform does not serve the list. */
  readonly dimensions: readonly string[] | undefined;
  readonly resourceTypes: readonly string[] | undefined;
}

/** Whether an account's lists were last read a week ago, or never since its first run a week ago. */
export async function arePlatformListsDue(connection: Connection, account: string, now: Instant): Promise<boolean> {
  const parameters = { account, now: formatInstant(now) };
  const [row] = await connection.rows(await readSql('inventory', 'platform_lists_due'), parameters);
  return row?.['is_due'] === true;
}

/** Records the lists. */
export async function recordPlatformLists(recorder: Recorder, facts: PlatformListsFacts): Promise<void> {
  const json = (names: readonly string[] | undefined) => (names === undefined ? null : JSON.stringify(names));
  await recorder.record({
    event: 'platform_lists_read',
    values: {
      account: facts.account,
      run_number: facts.runNumber,
      read_at: formatInstant(facts.readAt),
      dimensions: json(facts.dimensions),
      resource_types: json(facts.resourceTypes),
    },
  });
}
