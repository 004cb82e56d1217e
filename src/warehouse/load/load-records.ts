import { formatInstant, type Instant } from '../../time/time.ts';
import type { Recorder } from '../journal/journal.ts';
import { readSql } from '../sql/sql-files.ts';
import type { Connection } from '../store/connection.ts';
import {
  type InventoryStage,
  knownWorkspaces,
  type ListingFacts,
  type ListingKey,
  type ListingOutcome,
  type ListingPeriod,
  lastListingOutcome,
  listingsNotDue,
  nightsShrunk,
  nightsWithShortfall,
  openInventoryStage,
  recordListing,
  workspacesAlive,
} from './inventory.ts';
import { type BilledQuestion, type BilledResource, billedResources, recordJobExecutions } from './job-executions.ts';
import { arePlatformListsDue, type PlatformListsFacts, recordPlatformLists } from './platform-lists.ts';
import type { TotalsKnown } from './reconciliation.ts';
import { type DeploymentsStage, openDeploymentsStage } from './resource-events.ts';
import { openStage, type Stage } from './stage.ts';
import { openVerification, type Verification } from './verified-past.ts';

/** Loads, listings and verifications; each stage has its own connection. */
export interface LoadRecords {
  lastLoadNumber(): Promise<number>;
  /** Landing folders of loads that are some days older than the newest one, and than now. */
  landingFoldersOlderThan(days: number, now: Instant): Promise<string[]>;
  openStage(): Promise<Stage>;
  openInventory(): Promise<InventoryStage>;
  openDeployments(): Promise<DeploymentsStage>;
  /** The outcome of a listing at its last attempt; undefined if there was none. */
  lastListingOutcome(key: ListingKey): Promise<ListingOutcome | undefined>;
  /** On how many days before `now` a listing had this shortfall, since it last had another one or none. */
  nightsWithShortfall(key: ListingKey, shortfall: number, now: Instant): Promise<number>;
  /** On how many days in a row before `now` a listing had shrunk. */
  nightsShrunk(key: ListingKey, now: Instant): Promise<number>;
  /** The listings that are not due, by `listingName`: refused ones, and those that were read within their days. */
  listingsNotDue(account: string, every: readonly ListingPeriod[], now: Instant): Promise<ReadonlySet<string>>;
  /** The workspaces that have listed resources and no costs of late, each with their types. */
  workspacesAlive(account: string, now: Instant): Promise<ReadonlyMap<string, readonly string[]>>;
  /** The workspaces that the costs of an account name, or that have listed resources. */
  knownWorkspaces(account: string): Promise<readonly string[]>;
  recordListing(facts: ListingFacts): Promise<void>;
  /** The resources that were billed, the dearest first. */
  billedResources(asked: BilledQuestion): Promise<readonly BilledResource[]>;
  recordJobExecutions(facts: Parameters<typeof recordJobExecutions>[1]): Promise<void>;
  /** Whether the platform's lists of values are due for an account. */
  arePlatformListsDue(account: string, now: Instant): Promise<boolean>;
  recordPlatformLists(facts: PlatformListsFacts): Promise<void>;
  openVerification(account: string, known: TotalsKnown): Promise<Verification>;
}

/** The writer's access to loads; `connect` opens a connection that a signal can interrupt. */
export function loadRecords(
  connection: Connection,
  recorder: Recorder,
  connect: () => Promise<Connection>,
): LoadRecords {
  return {
    async lastLoadNumber() {
      const [row] = await connection.rows(await readSql('ledger', 'last_load'));
      return Number(row?.['load_number']);
    },
    async landingFoldersOlderThan(days, now) {
      const asked = { days, now: formatInstant(now) };
      const rows = await connection.rows(await readSql('ledger', 'landings_older_than'), asked);
      return rows.map((row) => String(row['landing']));
    },
    openStage: async () => openStage(await connect(), recorder),
    openInventory: async () => openInventoryStage(await connect(), recorder),
    openDeployments: async () => openDeploymentsStage(await connect(), recorder),
    lastListingOutcome: (key) => lastListingOutcome(connection, key),
    nightsWithShortfall: (key, shortfall, now) => nightsWithShortfall(connection, key, shortfall, now),
    nightsShrunk: (key, now) => nightsShrunk(connection, key, now),
    listingsNotDue: (account, every, now) => listingsNotDue(connection, account, every, now),
    workspacesAlive: (account, now) => workspacesAlive(connection, account, now),
    knownWorkspaces: (account) => knownWorkspaces(connection, account),
    recordListing: (facts) => recordListing(recorder, facts),
    billedResources: (asked) => billedResources(connection, asked),
    recordJobExecutions: (facts) => recordJobExecutions(recorder, facts),
    arePlatformListsDue: (account, now) => arePlatformListsDue(connection, account, now),
    recordPlatformLists: (facts) => recordPlatformLists(recorder, facts),
    openVerification: async (account, known) => openVerification(await connect(), recorder, account, known),
  };
}
