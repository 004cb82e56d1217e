import type { AccountConfig, Config } from '../config/index.ts';
import type { Effects } from '../effects.ts';
import type { LandingWriter } from '../fetch/index.ts';
import type { Client } from '../platform/index.ts';
import type { Instant } from '../time.ts';
import type { Warehouse } from '../warehouse/index.ts';

/** What an ingest is asked to do. */
export interface IngestRequest {
  readonly config: Config;
  /** Restricts the hours that are looked at; both ends optional, whole hours. */
  readonly from: Instant | undefined;
  readonly to: Instant | undefined;
  /** Fetch everything in the range again, also what is there and settled. */
  readonly refetch: boolean;
  /** A token that sees less than before is meant to. */
  readonly acceptReducedAccess: boolean;
  readonly runNumber: number;
}

/** Where an ingest works and what it may touch. */
export interface IngestTools {
  readonly warehouse: Warehouse;
  readonly landing: LandingWriter;
  openClient(account: AccountConfig): Client;
  readonly effects: Effects;
  readonly signal: AbortSignal;
  /** Takes secrets out of words that are kept in the books: the platform may have said our own token. */
  redact(words: string): string;
  /** Called as work proceeds; cheap to ignore. */
  onProgress(progress: IngestProgress): void;
}

export interface IngestProgress {
  readonly account: string;
  readonly windowsDone: number;
  readonly windows: number;
  readonly pages: number;
  readonly rows: number;
}

/** How many requests were made, by why; every page asked for counts once, retries apart. */
export interface RequestCounts {
  /** Hours never loaded, and finding out where history begins. */
  new: number;
  /** Young hours asked again. */
  settle: number;
  /** Checking the past against the platform. */
  verify: number;
  /** Windows asked again, because they did not prove or because they were to be fetched again. */
  repair: number;
}

/** The same client with each call counted. */
export function countingClient(client: Client, count: () => void): Client {
  return {
    counters: client.counters,
    apiVersion: client.apiVersion,
    clocks: () => client.clocks(),
    call(...asked) {
      count();
      return client.call(...asked);
    },
  };
}
