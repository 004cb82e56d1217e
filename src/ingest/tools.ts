import type { Effects } from '../base/effects.ts';
import type { AccountConfig, Config } from '../config/index.ts';
import type { LandingWriter } from '../fetch/index.ts';
import type { Client } from '../platform/index.ts';
import type { Instant } from '../time/time.ts';
import type { Warehouse } from '../warehouse/index.ts';

/** What an ingest is asked to do. */
export interface IngestRequest {
  readonly config: Config;
  /** Limits the hours to look at; both ends optional, whole hours. */
  readonly from: Instant | undefined;
  readonly to: Instant | undefined;
  /** Fetch everything in the range again, even if it is loaded and settled. */
  readonly refetch: boolean;
  /** The user confirms that a token sees less than the one before it. */
  readonly acceptReducedAccess: boolean;
  /** The user confirms that workspaces have the new names under which the platform reports their costs. */
  readonly acceptRenamedWorkspaces: boolean;
  /** The user confirms that listings are whole that have fewer than half of the known resources. */
  readonly acceptShrunkListings: boolean;
  readonly runNumber: number;
}

/** Where an ingest works, and what it may use. */
export interface IngestTools {
  readonly warehouse: Warehouse;
  readonly landing: LandingWriter;
  /** A client with the account's token; `workspace` is the one that this token is for, if it is for one. */
  openClient(account: AccountConfig, workspace?: string): Client;
  readonly effects: Effects;
  readonly signal: AbortSignal;
  /** Removes secrets from text that is stored in the books: the platform may have repeated our token. */
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

/** Number of requests by purpose; every fetched page counts once, without retries. */
export interface RequestCounts {
  /** Hours never loaded, and finding where history starts. */
  new: number;
  /** Young hours fetched again. */
  settle: number;
  /** Checking the past against the platform. */
  verify: number;
  /** Windows fetched again because they are unproven, or because a user asked for it. */
  repair: number;
}

/** The same client, with each call counted. */
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
