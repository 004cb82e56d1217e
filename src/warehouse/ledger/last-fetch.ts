import { textOrNull } from '../../tables/optional-text.ts';
import { readSql } from '../sql/sql-files.ts';
import type { Connection } from '../store/connection.ts';

/** What the books say about fetching. */
export interface LastFetch {
  /** The command that fetches everything that is missing, as `run nightly`. */
  readonly command: string;
  /** When a run last began to fetch, RFC 3339; null if there was none. */
  readonly fetchedAt: string | null;
}

/** When a run last began to fetch, and the command that fetches what is missing. */
export async function lastFetch(connection: Connection): Promise<LastFetch> {
  const [row] = await connection.rows(await readSql('alerts', 'catch_up'));
  return { command: String(row?.['command'] ?? 'ingest'), fetchedAt: textOrNull(row?.['fetched_at']) };
}
