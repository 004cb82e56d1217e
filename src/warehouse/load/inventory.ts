import type { NextStep } from '../../base/next-step.ts';
import { dayMs, formatInstant, type Instant } from '../../time/time.ts';
import type { Recorder } from '../journal/journal.ts';
import type { EventScalar } from '../journal/journal-events.ts';
import type { ListedResource } from '../page.ts';
import { readSql, readSqlFolder } from '../sql/sql-files.ts';
import type { Connection, SqlRow } from '../store/connection.ts';

/** Identifies a listing: its account, and the workspace that it was asked for; undefined for all that the token reaches. */
export interface ListingKey {
  readonly account: string;
  readonly workspace: string | undefined;
  readonly resourceType: string;
}

/**
 * The outcome of reading a listing. `read`: to its last page. `partial`: not to its last page. `shrunk`: more than half
 * of the known resources are missing, so they were kept. `refused`: the platform does not serve it to this token.
 * `failed`: it could not be read.
 */
export type ListingOutcome = 'read' | 'partial' | 'shrunk' | 'refused' | 'failed';

export interface ListingFacts extends ListingKey {
  readonly runNumber: number;
  readonly outcome: ListingOutcome;
  readonly reason: string | undefined;
  /** What to do; undefined if the listing was read. */
  readonly next: NextStep | undefined;
  /** How many items fewer it has than its total says; undefined if none, or if that is not known. */
  readonly shortfall: number | undefined;
  readonly resources: number;
  readonly opened: number;
  readonly ended: number;
  readonly requests: number;
  readonly readAt: Instant;
}

/** How to write a listing. */
export interface ListingReading extends ListingKey {
  /** Workspaces that are listed by name or with a token of their own: a listing for no workspace does not speak for them. */
  readonly workspacesElsewhere: readonly string[];
  readonly runNumber: number;
  /** When it was read; after every earlier listing. */
  readonly seenAt: Instant;
  /** Whether it was read to its last page: then resources that are missing from it are gone. */
  readonly isWhole: boolean;
  /** Whether missing resources are gone, even if they are more than half. */
  readonly acceptShrunk: boolean;
  /** Whether something else says that a listing of so few resources is whole; asked only if more than half are missing. */
  isBelieved(resources: number): Promise<boolean>;
}

/** What writing a listing changed. */
export interface ListingWritten {
  readonly resources: number;
  /** The number of resources if none were missing: known in the workspaces that occur in it, or listed before. */
  readonly known: number;
  /** States that were written, and states that ended. */
  readonly opened: number;
  readonly ended: number;
  /** Whether it was complete but so short that the missing resources were kept. */
  readonly isShrunk: boolean;
}

/** Writes listings to the books one at a time, with at most one page in memory. */
export interface InventoryStage {
  /** Starts a listing, or restarts it: earlier pages are discarded. */
  begin(): Promise<void>;
  add(resources: readonly ListedResource[]): Promise<void>;
  /** The items so far that have to be read one by one, the dearest first, at most so many. */
  detailsDue(key: ListingKey & { readonly now: Instant }, most: number): Promise<readonly LiteItem[]>;
  /**
   * Writes only what differs from the known states: each resource's states end and start in one transaction. A listing
   * speaks for the workspace that it was asked for, and for those that occur in it.
   */
  write(reading: ListingReading): Promise<ListingWritten>;
  close(): void;
}

/** An item whose listing lacks columns, and that is new or was updated since it was read in full. */
export interface LiteItem extends Pick<ListedResource, 'workspace' | 'name' | 'uuid' | 'createdAt' | 'sizeBytes'> {
  readonly updatedAt: string;
}

/** Changes in one journal event, and in one transaction. */
const changesAtOnce = 500;

/** Opens a stage on a connection of its own; it writes through the recorder. */
export async function openInventoryStage(connection: Connection, recorder: Recorder): Promise<InventoryStage> {
  const files = new Map((await readSqlFolder('inventory')).map((file) => [file.name, file.text]));
  function sql(name: string): string {
    const text = files.get(name);
    if (text === undefined) throw new Error(`sql/inventory/${name}.sql is missing`);
    return text;
  }
  async function inBatches(name: string, write: (changes: Readonly<Record<string, EventScalar>>[]) => Promise<void>) {
    for (let from = 0; ; from += changesAtOnce) {
      const changes = await connection.rows(sql(name), { from, to: from + changesAtOnce });
      if (changes.length === 0) return;
      await write(changes as Readonly<Record<string, EventScalar>>[]);
    }
  }
  let arrived = 0;
  return {
    async begin() {
      arrived = 0;
      await connection.run(sql('stage'));
    },
    async add(resources) {
      await connection.appendRows(
        'staged_resources',
        resources.map((resource) => stagedRow(resource, arrived++)),
      );
    },
    async detailsDue({ account, resourceType, now }, most) {
      const asked = { account, resource_type: resourceType, now: formatInstant(now), most };
      return (await connection.rows(sql('details_due'), asked)).map((row) => ({
        workspace: String(row['workspace']),
        name: String(row['resource_name']),
        uuid: textOf(row['resource_uuid']),
        createdAt: textOf(row['created_at']),
        updatedAt: String(row['updated_at']),
        sizeBytes: row['size_bytes'] === null ? undefined : Number(row['size_bytes']),
      }));
    },
    async write(reading) {
      const { account, workspace, resourceType, runNumber, seenAt, isWhole, acceptShrunk } = reading;
      const key = { account, resource_type: resourceType };
      const before = await lastReading(connection, reading);
      await connection.run(sql('listed'), { ...key, workspace: workspace ?? null });
      const [counts] = await connection.rows(sql('counts'), {
        ...key,
        token_workspace: workspace ?? null,
        now: formatInstant(seenAt),
        workspaces_elsewhere: JSON.stringify(reading.workspacesElsewhere),
      });
      const resources = Number(counts?.['listed']);
      // A workspace that is missing completely ends no state, but it counts as missing. What was kept when the listing had
      // shrunk before does not count: it would make every later listing too short.
      const listedBefore = await lastListed(connection, reading);
      const known =
        listedBefore === 0 ? Number(counts?.['known']) : Math.min(listedBefore, Number(counts?.['known_of_kind']));
      const isShort = isWhole && !acceptShrunk && resources * 2 < known;
      const isShrunk = isShort && !(await reading.isBelieved(resources));
      await connection.run(sql('compare'), {
        ...key,
        read_at: formatInstant(seenAt),
        read_before: before === undefined ? null : formatInstant(before),
        ends_absent: isWhole && !isShrunk,
      });
      await connection.run(sql('use_changes'), { ...key, ends_absent: isWhole && !isShrunk });
      const about = { ...key, run_number: runNumber, seen_at: formatInstant(seenAt) };
      let [opened, ended] = [0, 0];
      await inBatches('changes', async (changes) => {
        await recorder.record({ event: 'resources_changed', values: { ...about, changes } });
        opened += changes.filter((change) => change['valid_from'] !== null).length;
        ended += changes.filter((change) => change['old_valid_from'] !== null).length;
      });
      await inBatches('next_use_changes', (changes) =>
        recorder.record({ event: 'resource_use_changed', values: { ...about, changes } }),
      );
      return { resources, known, opened, ended, isShrunk };
    },
    close: () => connection.close(),
  };
}

/** A listed resource as a row of `sql/inventory/stage.sql`. */
function stagedRow(resource: ListedResource, arrival: number): (string | number | null)[] {
  const { use } = resource;
  const values = [
    ...[arrival, resource.workspace, resource.name, resource.uuid, resource.createdAt, resource.updatedAt],
    ...[resource.displayName, resource.externalId, resource.labels, resource.region, resource.memoryMb],
    ...[resource.generation, resource.status],
    ...[resource.isEnabled === undefined ? null : String(resource.isEnabled), resource.plan],
    ...[resource.createdBy, resource.integrationConnections, resource.volumes, resource.provider],
    ...[use.runtimeState, use.lastUsedAt, use.expiresAt, use.timeToLive, use.expirationPolicies],
    ...[use.minScale, resource.sizeBytes?.toString(), resource.attachedTo, String(resource.isLite ?? false)],
    ...[resource.detailsOf],
  ];
  return values.map((value) => value ?? null);
}

function textOf(value: unknown): string | undefined {
  return value === null ? undefined : String(value);
}

/** Records the outcome of reading a listing. */
export async function recordListing(recorder: Recorder, facts: ListingFacts): Promise<void> {
  await recorder.record({
    event: 'listing_read',
    values: {
      run_number: facts.runNumber,
      account: facts.account,
      token_workspace: facts.workspace ?? null,
      resource_type: facts.resourceType,
      outcome: facts.outcome,
      reason: facts.reason ?? null,
      next_step: facts.next === undefined ? null : JSON.stringify(facts.next),
      shortfall: facts.shortfall ?? null,
      resources: facts.resources,
      opened: facts.opened,
      ended: facts.ended,
      requests: facts.requests,
      read_at: formatInstant(facts.readAt),
    },
  });
}

/** The outcome of a listing at its last attempt; undefined if there was none. */
export async function lastListingOutcome(connection: Connection, key: ListingKey): Promise<ListingOutcome | undefined> {
  const row = await lastListing(connection, key, ['read', 'partial', 'shrunk', 'refused', 'failed']);
  return row?.['outcome'] as ListingOutcome | undefined;
}

/** On how many days before `now` a listing had this shortfall, since it last had another one or none. */
export async function nightsWithShortfall(
  connection: Connection,
  { account, workspace, resourceType }: ListingKey,
  shortfall: number,
  now: Instant,
): Promise<number> {
  const [row] = await connection.rows(await readSql('inventory', 'nights_with_shortfall'), {
    account,
    token_workspace: workspace ?? null,
    resource_type: resourceType,
    shortfall,
    now: formatInstant(now),
  });
  return Number(row?.['days'] ?? 0);
}

/** On how many days in a row before `now` a listing had shrunk. */
export async function nightsShrunk(connection: Connection, key: ListingKey, now: Instant): Promise<number> {
  const [row] = await connection.rows(await readSql('inventory', 'nights_shrunk'), {
    account: key.account,
    token_workspace: key.workspace ?? null,
    resource_type: key.resourceType,
    now: formatInstant(now),
  });
  return Number(row?.['days'] ?? 0);
}

/** When a listing was last read to its end. */
export async function lastReading(connection: Connection, key: ListingKey): Promise<Instant | undefined> {
  const row = await lastListing(connection, key, ['read', 'shrunk']);
  return row === undefined ? undefined : Number(row['read_at']);
}

/** How many resources a listing had when it was last read and had not shrunk; 0 if it never was. */
async function lastListed(connection: Connection, key: ListingKey): Promise<number> {
  const row = await lastListing(connection, key, ['read', 'partial']);
  return Number(row?.['resources'] ?? 0);
}

/** Every how many days a listing is asked for; listings of every night are left out. */
export interface ListingPeriod {
  readonly resource_type: string;
  readonly days: number;
}

/**
 * The listings of an account that are not due at `now`, as keys of `listingName`: those that were read within their days, and
 * those that the platform refused within a week and has never served. No refused one while it refuses every listing.
 */
export async function listingsNotDue(
  connection: Connection,
  account: string,
  every: readonly ListingPeriod[],
  now: Instant,
): Promise<ReadonlySet<string>> {
  const rows = await connection.rows(await readSql('inventory', 'not_due'), {
    account,
    every: JSON.stringify(every),
    now: formatInstant(now),
  });
  return new Set(
    rows.map((row) =>
      listingName({
        account,
        workspace: row['token_workspace'] === null ? undefined : String(row['token_workspace']),
        resourceType: String(row['resource_type']),
      }),
    ),
  );
}

/** The requests that the listings of an account took when they were last asked for, of those that are due at `now`. */
export async function listingRequests(
  connection: Connection,
  account: string,
  every: readonly ListingPeriod[],
  now: Instant,
): Promise<number> {
  const notDue = await listingsNotDue(connection, account, every, now);
  const rows = await connection.rows(await readSql('inventory', 'last_requests'), { account });
  return rows
    .filter((row) => {
      const workspace = row['token_workspace'] === null ? undefined : String(row['token_workspace']);
      return !notDue.has(listingName({ account, workspace, resourceType: String(row['resource_type']) }));
    })
    .reduce((sum, row) => sum + Number(row['requests']), 0);
}

/** For so many days a workspace that the platform no longer names must have cost nothing before its resources end. */
const daysWithoutCosts = 3;

/** The workspaces of an account that have listed resources and no costs of late, each with their types. */
export async function workspacesAlive(
  connection: Connection,
  account: string,
  now: Instant,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const since = formatInstant(now - daysWithoutCosts * dayMs);
  const alive = new Map<string, string[]>();
  for (const row of await connection.rows(await readSql('inventory', 'workspaces_alive'), { account, since })) {
    const workspace = String(row['workspace']);
    alive.set(workspace, [...(alive.get(workspace) ?? []), String(row['resource_type'])]);
  }
  return alive;
}

/** A text that names a listing among those of its account. */
export function listingName({ workspace, resourceType }: ListingKey): string {
  return JSON.stringify([workspace ?? null, resourceType]);
}

/** The workspaces that the costs of an account name, or that have listed resources. */
export async function knownWorkspaces(connection: Connection, account: string): Promise<readonly string[]> {
  const rows = await connection.rows(await readSql('inventory', 'known_workspaces'), { account });
  return rows.map((row) => String(row['workspace']));
}

async function lastListing(
  connection: Connection,
  { account, workspace, resourceType }: ListingKey,
  outcomes: readonly ListingOutcome[],
): Promise<SqlRow | undefined> {
  const [row] = await connection.rows(await readSql('inventory', 'last_listing'), {
    account,
    token_workspace: workspace ?? null,
    resource_type: resourceType,
    outcomes: JSON.stringify(outcomes),
  });
  return row;
}
