// Second tier: Drawn listings in DuckDB.

import { join } from 'node:path';
import { expect, test } from 'vitest';
import { eventWriter, type Recorder } from '../../src/warehouse/journal/journal.ts';
import { readChecks, runCheck } from '../../src/warehouse/ledger/checks.ts';
import { nightsShrunk, openInventoryStage, recordListing } from '../../src/warehouse/load/inventory.ts';
import type { ListedResource } from '../../src/warehouse/page.ts';
import type { Connection } from '../../src/warehouse/store/connection.ts';
import { openDatabase } from '../../src/warehouse/store/database.ts';
import { migrate } from '../../src/warehouse/store/migrate.ts';
import fc from '../support/fast-check.ts';
import { newProject } from '../support/project.ts';
import { casesOf } from '../support/rounds.ts';

/** One listing of one workspace's sandboxes, some time after the one before. */
interface Sync {
  readonly hoursLater: number;
  readonly isWhole: boolean;
  readonly acceptShrunk: boolean;
  readonly listed: readonly {
    readonly workspace: string;
    readonly name: string;
    readonly made: number | null;
    readonly updated: number | null;
    readonly label: string | null;
  }[];
}

const start = Date.UTC(2026, 8, 1);
const hourMs = 3_600_000;
function instantAt(hours: number | null): string | undefined {
  return hours === null ? undefined : new Date(start + hours * hourMs).toISOString();
}

const syncs = fc.array(
  fc.record({
    hoursLater: fc.integer({ min: 1, max: 40 }),
    isWhole: fc.boolean(),
    acceptShrunk: fc.boolean(),
    listed: fc.array(
      fc.record({
        workspace: fc.constantFrom('north', 'south'),
        name: fc.constantFrom('a', 'b', 'c'),
        made: fc.option(fc.integer({ min: -10, max: 200 })),
        updated: fc.option(fc.integer({ min: -10, max: 200 })),
        label: fc.option(fc.constantFrom('x', 'y')),
      }),
      { maxLength: 8 },
    ),
  }),
  { maxLength: 6 },
);

const unused = {
  runtimeState: undefined,
  expiresAt: undefined,
  timeToLive: undefined,
  expirationPolicies: undefined,
  minScale: undefined,
};

function toListed({ workspace, name, made, updated, label }: Sync['listed'][number]): ListedResource {
  const absent = { uuid: undefined, displayName: undefined, externalId: undefined, region: undefined } as const;
  const others = { memoryMb: undefined, generation: undefined, status: undefined, isEnabled: undefined } as const;
  return {
    ...{ ...absent, ...others, plan: undefined, createdBy: undefined, integrationConnections: undefined },
    ...{ workspace, name, createdAt: instantAt(made), updatedAt: instantAt(updated) },
    labels: label === null ? undefined : JSON.stringify({ label }),
    volumes: label === null ? '[]' : JSON.stringify([label]),
    provider: undefined,
    sizeBytes: undefined,
    attachedTo: undefined,
    use: { ...unused, lastUsedAt: instantAt(updated) },
  };
}

/** Writes events into the ledger without a journal. */
async function recorderOf(connection: Connection): Promise<Recorder> {
  const apply = await eventWriter(connection);
  let number = 0;
  return {
    async record(event) {
      number += 1;
      await apply([{ number, ...event }]);
    },
  };
}

async function offenders(connection: Connection): Promise<unknown[]> {
  const found: unknown[] = [];
  for (const check of await readChecks('/nowhere')) {
    if (!['resources_have_one_state_at_a_time', 'costs_match_one_resource'].includes(check.name)) continue;
    const { rows, error } = await runCheck(connection, check);
    found.push(...rows, ...(error === undefined ? [] : [error]));
  }
  return found;
}

test('for any listing, states of a resource do not overlap, the last one is as listed, and each cost has one', async () => {
  const database = await openDatabase(join(await newProject(), 'given.duckdb'), { readOnly: false });
  try {
    const connection = await database.connect();
    await migrate(connection);
    await connection.run(`insert into ledger.series
      select row_number() over (), 'acc_one', workspace, 'sandbox', name, null, 'x'
      from (values ('north'), ('south'), (null)) as workspaces (workspace), (values ('a'), ('b')) as names (name)`);
    await connection.run(`insert into ledger.hourly_costs
      select series_id, cast('2026-08-31' as timestamp) + to_hours(cast(hour as integer)), 1, 1, 1
      from ledger.series, range(0, 240) as hours (hour)`);
    const recorder = await recorderOf(connection);
    const stage = await openInventoryStage(await database.connect(), recorder);
    await fc.assert(
      fc.asyncProperty(syncs, async (nights) => {
        await connection.run(
          'delete from ledger.resources; delete from ledger.resource_use; delete from ledger.listings',
        );
        let now = start;
        for (const night of nights) {
          now += night.hoursLater * hourMs;
          await stage.begin();
          for (const one of night.listed) await stage.add([toListed(one)]); // a page each
          const key = { account: 'acc_one', workspace: undefined, resourceType: 'sandbox' };
          const how = {
            workspacesElsewhere: [],
            runNumber: 1,
            seenAt: now,
            isWhole: night.isWhole,
            isBelieved: async () => false,
            acceptShrunk: night.acceptShrunk,
          };
          const written = await stage.write({ ...key, ...how });
          await recordListing(recorder, {
            ...key,
            ...written,
            ...{ runNumber: 1, requests: 1, readAt: now, reason: undefined, next: undefined, shortfall: undefined },
            outcome: night.isWhole ? 'read' : 'partial',
          });
          const last = new Map(
            night.listed.map((one) => [`${one.workspace}/${one.name}/${one.made}`, toListed(one).labels ?? null]),
          );
          const present = await connection.rows(
            `select workspace || '/' || resource_name || '/' || coalesce(
                cast(date_diff('hour', cast('2026-09-01' as timestamp), created_at) as varchar), 'null'
              ) as key, labels
            from resources where valid_to is null`,
          );
          const known = new Map(present.map((row) => [row['key'], row['labels']]));
          expect(known.size).toBe(present.length);
          for (const [name, labels] of last) expect(known.get(name), name).toBe(labels);
          if (night.isWhole && night.acceptShrunk) {
            const spokenFor = new Set<string>(night.listed.map(({ workspace }) => workspace));
            const left = [...known.keys()].filter((name) => spokenFor.has(String(name).split('/')[0] ?? ''));
            expect(left.sort()).toEqual([...last.keys()].sort());
          }
        }
        expect(await offenders(connection)).toEqual([]);
      }),
      { numRuns: casesOf({ fixed: 8, fresh: 20 }) },
    );
  } finally {
    database.close();
  }
}, 600_000);

test.each([
  ['have a lifetime', { timeToLive: '2h' }],
  ['are counted by the platform', {}],
  ['are seven days old at most', {}],
])(
  'a season of short-lived sandboxes that %s leaves nobody alive who is gone, without an acceptance',
  async (what, use) => {
    const database = await openDatabase(join(await newProject(), 'given.duckdb'), { readOnly: false });
    try {
      const connection = await database.connect();
      await migrate(connection);
      const recorder = await recorderOf(connection);
      const stage = await openInventoryStage(await database.connect(), recorder);
      const random = drawing(20_261_126);
      const key = { account: 'acc_one', workspace: 'north', resourceType: 'sandbox' };
      let lives: { name: string; born: number; until: number }[] = [];
      const days = casesOf({ fixed: 91, fresh: 365 });
      for (let day = 0; day < days; day += 1) {
        // Many on working days, few at weekends; each lives for minutes to three days.
        const born = Math.round((day % 7 < 5 ? 40 : 2) * random());
        lives = lives.filter(({ until }) => until > day);
        for (let number = 0; number < born; number += 1)
          lives.push({ name: `s-${day}-${number}`, born: day, until: day + 3 * random() });
        const seenAt = start + day * 24 * hourMs;
        await stage.begin();
        const isDated = what.includes('old');
        const listed = lives.map(({ name, born }) =>
          toListed({
            updated: null,
            label: 'x',
            workspace: 'north',
            made: isDated ? born * 24 : null,
            name: name as 'a',
          }),
        );
        await stage.add(listed.map((one) => ({ ...one, use: { ...one.use, ...use } })));
        const written = await stage.write({
          ...key,
          ...{ workspacesElsewhere: [], runNumber: day, seenAt, isWhole: true, acceptShrunk: false },
          isBelieved: async () => what.includes('counted') || (await nightsShrunk(connection, key, seenAt)) >= 2,
        });
        await recordListing(recorder, {
          ...{ ...key, ...written, runNumber: day, requests: 1, readAt: seenAt },
          ...{
            reason: undefined,
            next: undefined,
            shortfall: undefined,
            outcome: written.isShrunk ? 'shrunk' : 'read',
          },
        });
        const alive = await connection.rows('select resource_name from ledger.resources where valid_to is null');
        expect(alive.length, `night ${day}`).toBe(lives.length);
      }
    } finally {
      database.close();
    }
  },
  600_000,
);

/** Numbers from 0 to 1, the same for a seed (mulberry32). */
function drawing(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
