import { type FSWatcher, watch } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { hashText, toUnit } from '../../src/emulator/random.ts';
import {
  askSnapshot,
  costsIn,
  ingest,
  ingestCommandLine,
  newProject,
  projectWithPlatform,
  runCli,
  type Started,
  startCli,
} from './project.ts';
import { expectedCosts, type Fact, type ScriptedPlatform, series } from './scripted-platform.ts';

const volume = { workspace: 'north', type: 'volume', name: 'data', uuid: null, dimension: 'volume_storage_gbs' };
const box = { workspace: 'south', type: 'sandbox', name: 'box', uuid: 'sbx-1', dimension: 'sandbox_image_storage_gbs' };
const hourMs = 3_600_000;
const firstDay = Date.parse('2026-09-01T00:00:00Z');

/** A moment that can be seen from outside; `arm` calls `strike` when it comes. */
interface Moment {
  readonly name: string;
  arm(run: Started, place: { dir: string; platform: ScriptedPlatform }, strike: () => unknown): FSWatcher | undefined;
}

/** Strikes when a name below the data folder was touched for the `times`th time. */
function onName(folder: string, name: RegExp, times: number): Moment['arm'] {
  return (_run, { dir }, strike) => {
    let seen = 0;
    return watch(join(dir, 'data', folder), (_event, touched) => {
      if (touched === null || !name.test(touched)) return;
      seen += 1;
      if (seen === times) strike();
    });
  };
}

function onRequest(number: number): Moment['arm'] {
  return (run, { platform }, strike) => {
    platform.onRequest = async (seen) => {
      if (seen.number !== number) return;
      strike();
      await run.ended;
    };
    return undefined;
  };
}

function onHalf(number: number): Moment['arm'] {
  return (run, { platform }, strike) => {
    platform.onHalf = async (seen) => {
      if (seen.number !== number) return;
      strike();
      await run.ended;
    };
    return undefined;
  };
}

function onAnswer(): Moment['arm'] {
  return (run, _place, strike) => {
    run.process.stdout?.once('data', strike);
    return undefined;
  };
}

/** The moments of an ingest from its first request to its snapshot, one drawn by a number from 0 up to 1. */
function momentOf(kind: number, detail: number): Moment {
  function upTo(most: number): number {
    return 1 + Math.floor(detail * most);
  }
  const moments: readonly (() => Moment)[] = [
    () => ({ name: `request ${upTo(7)} has come in`, arm: onRequest(upTo(7)) }),
    () => ({ name: `half of answer ${upTo(7)} is on its way`, arm: onHalf(upTo(7)) }),
    () => ({
      name: `load ${upTo(3)} is filed, within its transaction`,
      arm: onName('landing/acc_one', /^load-/, upTo(3)),
    }),
    () => ({ name: `the log of the warehouse grew ${upTo(12)} times`, arm: onName('.', /\.wal$/, upTo(12)) }),
    () => ({ name: `the journal grew ${upTo(8)} times`, arm: onName('journal', /^events-/, upTo(8)) }),
    () => ({ name: 'all loads are committed and nothing is published', arm: onAnswer() }),
    () => ({
      name: `the warehouse's file was touched ${upTo(4)} times`,
      arm: onName('.', /^warehouse\.duckdb$/, upTo(4)),
    }),
    () => ({ name: 'the snapshot is being copied', arm: onName('.', /\.part$/, upTo(3)) }),
    () => ({ name: 'the snapshot is published', arm: onName('.', /^costbook\.duckdb$/, 1) }),
  ];
  const moment = moments[Math.floor(kind * moments.length)];
  if (moment === undefined) throw new Error(`no moment for ${kind}`);
  return moment();
}

/** A history that grows by a day per round, and whose past changes in other rounds. */
export function factsOf(round: number): readonly Fact[] {
  const factor = 1 + (round % 3) / 10; // more than that, and the account would be asked about
  const hours = 30 * 24 + 24 * Math.floor(round / 5);
  return [
    ...series(volume, '2026-09-02T05', [1 * factor, 2, 0.1 * factor]),
    ...series({ ...volume, workspace: 'south' }, '2026-09-02T05', [3 * factor]),
    ...series(
      box,
      '2026-09-05T00',
      Array.from({ length: hours }, (_, hour) => 0.01 * factor * (1 + (hour % 7))),
    ),
  ];
}

export function toldBy(now: number, facts: readonly Fact[]): Fact[] {
  return facts.filter(({ hour }) => Date.parse(`${hour}:00:00Z`) + hourMs <= now);
}

/** What must hold after any deaths and a run that lived: the truth, each hour once, and no remains. */
async function expectTruth(dir: string, facts: readonly Fact[], now: number, story: string): Promise<void> {
  expect(await costsIn(dir), story).toEqual(expectedCosts(facts, 'admin'));
  const [held] = await askSnapshot(
    dir,
    `select
      (select count(*) - count(distinct (series_id, bucket_start)) from ledger.hourly_costs) as repeated,
      (
        select count(*) from coverage as a join coverage as b
        on a.window_start < b.window_start and a.window_end > b.window_start
      ) as overlapping,
      (select sum(date_diff('hour', window_start, window_end)) from coverage) as hours,
      (select count(*) from reconciliation where load_number is not null and not proven) as unproven,
      (select count(*) from runs where ended_at is null and outcome <> 'interrupted') as unended`,
  );
  const hours = Math.floor(now / hourMs) - firstDay / hourMs;
  expect(held, story).toEqual({ repeated: '0', overlapping: '0', hours: String(hours), unproven: '0', unended: '0' });
  const landing = join(dir, 'data', 'landing');
  const filed = await askSnapshot(dir, 'select landing from ledger.loads order by 1');
  const folders = (await readdir(join(landing, 'acc_one'))).map((name) => ({ landing: `acc_one/${name}` }));
  expect(folders, story).toEqual(filed);
  const arriving = (await readdir(landing, { recursive: true })).filter((name) => !name.startsWith('acc_one'));
  expect(
    arriving.filter((name) => name.includes('/')),
    story,
  ).toEqual([]);
  expect((await readdir(join(dir, 'data'))).sort(), story).toEqual([
    'costbook.duckdb',
    'journal',
    'landing',
    'metrics.prom',
    'warehouse.duckdb',
  ]);
}

/**
 * A project that lives through a round for each seed. In a round runs are killed at moments drawn by the seed, and one
 * run lives; the books must then be the truth. In the end they must come out the same from a rebuild. Returns the names
 * of the moments at which a run was killed: a run may be over before its moment comes.
 */
export async function liveThroughKills(seeds: readonly number[]): Promise<readonly string[]> {
  const { dir, platform } = await projectWithPlatform(factsOf(0));
  // One window after another, so that a request's number is a place in the run.
  const env = { COSTBOOK_CONCURRENCY: '1' };
  let now = Date.parse('2026-09-22T00:30:00Z');
  platform.facts = toldBy(now, factsOf(0));
  expect((await ingest(dir, platform, { now: new Date(now).toISOString() })).exitCode).toBe(0);
  let published = expectedCosts(platform.facts, 'admin');
  const struck: string[] = [];

  for (const [round, seed] of seeds.entries()) {
    const chance = (name: string) => toUnit(hashText(seed, name));
    now += hourMs;
    const at = new Date(now).toISOString();
    platform.facts = toldBy(now, factsOf(round + 1));
    const truth = expectedCosts(platform.facts, 'admin');
    // A later night finds the change on its own, or is forced to check.
    const args = chance('refetch') < 0.5 ? ['--refetch'] : [];
    const deaths = chance('twice') < 0.2 ? 2 : 1;
    let story = `seed ${seed}`;
    for (let death = 1; death <= deaths; death += 1) {
      const moment = momentOf(chance(`moment ${death}`), chance(`detail ${death}`));
      story += `, killed as ${moment.name}`;
      platform.requests.length = 0;
      const run = startCli(...ingestCommandLine(dir, platform, { now: at, args, env }));
      const watcher = moment.arm(run, { dir, platform }, () => run.process.kill('SIGKILL'));
      const { exitCode, stderr } = await run.ended;
      watcher?.close();
      platform.onRequest = () => undefined;
      platform.onHalf = undefined;
      // A run may be over before its moment comes; then it has to be right.
      expect([0, 137], `${story}: ${stderr}`).toContain(exitCode);
      if (exitCode === 137) struck.push(moment.name);
      // Readers have the books of the last run that published, whole.
      expect([published, truth], story).toContainEqual(await costsIn(dir));
    }
    const healed = await ingest(dir, platform, { now: at, args, env });
    expect({ exitCode: healed.exitCode, unproven: healed.accounts[0]?.unproven }, `${story}: ${healed.stderr}`).toEqual(
      {
        exitCode: 0,
        unproven: [],
      },
    );
    await expectTruth(dir, platform.facts, now, story);
    published = truth;
  }
  const again = await runCli(['rebuild', '--dir', dir, '--into', join(await newProject(), 'rebuilt.duckdb')]);
  expect(again).toMatchObject({
    exitCode: 0,
    stdout: expect.stringContaining('identical to the current warehouse'),
  });
  expect((await runCli(['check', '--dir', dir])).exitCode).toBe(0);
  return struck;
}
