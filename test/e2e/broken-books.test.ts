import { chmod, chown, cp, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { breakages, snapshotOf, warehouseOf, writeAsForeigner } from '../support/breakages.ts';
import { askSnapshot, costsIn, ingest, newProject, runCli, startCli } from '../support/project.ts';
import { expectedCosts, type ScriptedPlatform, series, startScriptedPlatform } from '../support/scripted-platform.ts';

const box = { workspace: 'north', type: 'sandbox', name: 'box', uuid: 'sbx-1', dimension: 'sandbox_image_storage_gbs' };
const first = series(box, '2026-09-02T05', [1, 2]);
const facts = [...first, ...series(box, '2026-09-09T05', [4, 8])];
const now = '2026-09-12T12:30:00Z';
const total = '15.00';

let platform: ScriptedPlatform;
/** A project before and after its second night. */
let older = '';
let whole = '';
beforeAll(async () => {
  platform = await startScriptedPlatform(first);
  older = await newProject();
  expect((await ingest(older, platform, { now: '2026-09-05T12:30:00Z' })).exitCode).toBe(0);
  whole = await newProject();
  await cp(older, whole, { recursive: true });
  platform.facts = facts;
  expect((await ingest(whole, platform, { now })).exitCode).toBe(0);
});

async function broken(name: string): Promise<string> {
  const dir = await newProject();
  await cp(whole, dir, { recursive: true });
  await breakages[name]?.(dir, older);
  return dir;
}

const sum = 'select cast(sum(cost) as decimal(9, 2)) as cost from costs';

/** A reader says the right number, or none and what to do. */
async function expectNoWrongNumber(dir: string): Promise<'right' | 'refused'> {
  const { exitCode, stdout, stderr } = await runCli(['sql', sum, '--json', '--dir', dir]);
  expect(stderr).not.toMatch(/bug in Costbook|\n {4}at /);
  if (exitCode === 0) {
    expect(JSON.parse(stdout).rows).toEqual([{ cost: total }]);
    return 'right';
  }
  expect([2, 4, 7], stderr).toContain(exitCode);
  expect(stdout).toBe('');
  expect(stderr).toContain('costbook repair');
  return 'refused';
}

async function expectWhole(dir: string): Promise<void> {
  expect(await expectNoWrongNumber(dir)).toBe('right');
  expect(await costsIn(dir)).toEqual(expectedCosts(facts, 'admin')); // DuckDB itself, without our guards
  const status = await runCli(['status', '--exit-code', '--now', now, '--dir', dir]);
  expect({ exitCode: status.exitCode, out: status.stdout.split('\n')[0] }, status.stderr).toEqual({
    exitCode: 0,
    out: 'YES: everything in the books is proven and fresh.',
  });
}

test.concurrent.each(Object.keys(breakages))(
  '%s makes no published number wrong; an ingest heals it, or refuses before it changes anything and repair heals it',
  async (name) => {
    const dir = await broken(name);
    await expectNoWrongNumber(dir);
    // What can be seen without opening the warehouse, status says; doctor opens it.
    const told = await runCli(['doctor', '--offline', '--now', now, '--dir', dir]);
    expect(told.stdout, told.stderr).toContain('costbook repair');
    const before = await readdir(join(dir, 'data', 'journal'));
    const { exitCode, stderr } = await ingest(dir, platform, { now });
    expect([0, 4, 7], stderr).toContain(exitCode);
    if (exitCode !== 0) {
      expect(stderr).toContain('costbook repair');
      expect(await readdir(join(dir, 'data', 'journal'))).toEqual(before);
      await expectNoWrongNumber(dir);
      const repair = await runCli(['repair', '--dir', dir]);
      expect(repair, repair.stderr).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('is published') });
    }
    await expectWhole(dir);
    const names = (await readdir(join(dir, 'data'))).filter((each) => !each.includes('.damaged-'));
    expect(names.filter((each) => /\.(wal|part)$/.test(each))).toEqual([]);
  },
);

test.concurrent.each([
  'a client killed while it wrote to the snapshot',
  'a snapshot of junk',
  'no snapshot',
  'an older warehouse',
])('%s is healed by repair alone, and what it published can be rebuilt', async (name) => {
  const dir = await broken(name);
  expect((await runCli(['repair', '--dir', dir])).exitCode).toBe(0);
  await expectWhole(dir);
  expect((await runCli(['rebuild', '--into', join(dir, 'rebuilt.duckdb'), '--dir', dir])).exitCode).toBe(0);
  expect((await ingest(dir, platform, { now })).exitCode).toBe(0);
});

test.concurrent.each([
  'a client killed while it wrote to the snapshot',
  'a snapshot of junk',
  'no warehouse',
  'an empty warehouse',
])('status says NO, or nothing, of %s, and names repair', async (name) => {
  const dir = await broken(name);
  const { exitCode, stdout, stderr } = await runCli(['status', '--exit-code', '--now', now, '--dir', dir]);
  expect([4, 7]).toContain(exitCode);
  expect(stdout + stderr).toContain('costbook repair');
  expect(stdout).not.toMatch(/^YES/);
});

describe.concurrent('a snapshot', () => {
  test('that a client has open for writing is refused with that client’s process; repair publishes beside it', async () => {
    const dir = await broken('');
    const ready = join(dir, 'ready');
    const holder = startCli([], {}, { cli: await holderOf(snapshotOf(dir), ready) });
    while (!(await readdir(dir)).includes('ready')) await new Promise((resolve) => setTimeout(resolve, 20));
    const refused = await runCli(['sql', sum, '--dir', dir]);
    expect(refused.exitCode).toBe(5);
    expect(refused.stderr).toContain(`held by process ${holder.process.pid} `);
    expect(refused.stderr).toContain('costbook repair');
    expect((await runCli(['repair', '--dir', dir])).exitCode).toBe(0);
    // The client writes on into the file that has no name any more, and leaves a log beside the new one.
    await writeFile(join(dir, 'go'), '');
    await holder.ended;
    expect(await expectNoWrongNumber(dir)).toBe('right');
    expect((await ingest(dir, platform, { now })).exitCode).toBe(0);
    await expectWhole(dir);
  });

  test('in a folder that may not be written is read, with a log beside it refused', async () => {
    const dir = await broken('');
    const isRoot = process.getuid?.() === 0;
    const sent = isRoot ? { uid: 65534, gid: 65534 } : {};
    await chmod(snapshotOf(dir), 0o444);
    await chmod(join(dir, 'data'), 0o555);
    await chmod(dir, 0o755);
    const read = () => startCli(['sql', sum, '--json', '--dir', dir], {}, sent).ended;
    expect(await read()).toMatchObject({ exitCode: 0, stdout: expect.stringContaining(total) });
    await chmod(join(dir, 'data'), 0o755);
    writeAsForeigner(snapshotOf(dir), ['delete from ledger.amounts'], 'killed');
    await chmod(join(dir, 'data'), 0o555);
    const refused = await read();
    expect(refused).toMatchObject({ exitCode: 4, stdout: '' });
    expect(refused.stderr).toContain('costbook repair');
    await chmod(join(dir, 'data'), 0o755);
  });

  test('is never replaced by one that knows less: without journal and warehouse the loss has to be accepted', async () => {
    const dir = await broken('no warehouse');
    writeAsForeigner(snapshotOf(dir), ['create table mine as select 1 as one'], 'closed');
    await rm(join(dir, 'data', 'journal'), { recursive: true });
    const refused = await runCli(['repair', '--dir', dir]);
    expect(refused.exitCode).toBe(4);
    expect(refused.stderr).toContain('costbook repair --accept-loss');
    expect(await readdir(join(dir, 'data'))).not.toContain('warehouse.duckdb');
    const accepted = await runCli(['repair', '--accept-loss', '--dir', dir]);
    expect(accepted.exitCode, accepted.stderr).toBe(0);
    expect(accepted.stdout).toContain('costbook.damaged-');
    expect((await ingest(dir, platform, { now })).exitCode).toBe(0);
    expect(await costsIn(dir)).toEqual(expectedCosts(facts, 'admin'));
  });

  test('is read-only, so that a client of another user or without --readonly is refused', async () => {
    const { mode } = await import('node:fs/promises').then(({ stat }) => stat(snapshotOf(whole)));
    expect(mode & 0o222).toBe(0);
  });
});

describe.concurrent('a warehouse', () => {
  test('made anew in its own place by rebuild is published, and status is right at once', async () => {
    const dir = await broken('no warehouse');
    await rm(snapshotOf(dir));
    const { exitCode, stdout } = await runCli(['rebuild', '--into', warehouseOf(dir), '--dir', dir]);
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: expect.stringContaining('published') });
    await expectWhole(dir);
  });

  test('that nobody may read or write is the machine’s failure, and not damage', async () => {
    const dir = await broken('');
    const isRoot = process.getuid?.() === 0;
    const sent = isRoot ? { uid: 65534, gid: 65534 } : {};
    await chmod(dir, 0o755);
    if (isRoot) await chown(join(dir, 'data'), 65534, 65534);
    await chmod(warehouseOf(dir), 0);
    const { exitCode, stderr } = await startCli(['repair', '--dir', dir], {}, sent).ended;
    expect({ exitCode, stderr }).toEqual({
      exitCode: 7,
      stderr: expect.stringContaining('cannot be written by this user'),
    });
    expect((await readdir(join(dir, 'data'))).filter((each) => each.includes('damaged'))).toEqual([]);
  });
});

/** A program that opens a file for writing, says so, and when it is told to deletes all rows and is killed. */
async function holderOf(file: string, ready: string): Promise<string> {
  const { createRequire } = await import('node:module');
  const api = createRequire(import.meta.url).resolve('@duckdb/node-api');
  const path = join(await newProject(), 'holder.mjs');
  await writeFile(
    path,
    `import fs from 'node:fs';
    const { DuckDBInstance } = (await import(${JSON.stringify(api)}));
    const instance = await DuckDBInstance.create(${JSON.stringify(file)}, { threads: '1' });
    const connection = await instance.connect();
    await connection.run('select 1');
    fs.writeFileSync(${JSON.stringify(ready)}, '');
    const go = ${JSON.stringify(join(ready, '..', 'go'))};
    while (!fs.existsSync(go)) await new Promise((resolve) => setTimeout(resolve, 20));
    await connection.run('delete from ledger.amounts');
    process.kill(process.pid, 'SIGKILL');`,
  );
  return path;
}

test('the books that the other tests break are whole', async () => {
  expect(await askSnapshot(whole, sum)).toEqual([{ cost: total }]);
});
