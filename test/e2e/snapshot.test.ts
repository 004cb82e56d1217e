import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFile, open, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleepFor } from 'node:timers/promises';
import { beforeAll, describe, expect, inject, test } from 'vitest';
import { InterruptedError } from '../../src/base/errors.ts';
import { publishSnapshot } from '../../src/warehouse/integrity/snapshot.ts';
import type { Database } from '../../src/warehouse/store/connection.ts';
import { openDatabase } from '../../src/warehouse/store/database.ts';
import { openWarehouse } from '../../src/warehouse/warehouse.ts';
import { compiledTo } from '../bench/compiled.ts';
import { askFile, askSnapshot, costsIn, ingest, ingestCommandLine, newProject, runCli } from '../support/project.ts';
import { expectedCosts, series, startScriptedPlatform } from '../support/scripted-platform.ts';

const box = { workspace: 'north', type: 'sandbox', name: 'box', uuid: 'sbx-1', dimension: 'sandbox_image_storage_gbs' };
const facts = series(box, '2026-09-03T05', [1, 2]);
let dir = '';
beforeAll(async () => {
  dir = await newProject();
  await ingest(dir, await startScriptedPlatform(facts), { now: '2026-09-05T12:30:00Z' });
});

describe('the snapshot', () => {
  test('is a file that DuckDB opens without Costbook, with all views', async () => {
    expect(await costsIn(dir)).toEqual(expectedCosts(facts, 'admin'));
    expect(
      await askSnapshot(
        dir,
        'select workspace, cast(sum(cost) as varchar) as cost from costs_monthly group by workspace',
      ),
    ).toEqual([{ workspace: 'north', cost: '3.000000000000' }]);
  });

  test('works under another name too, so it may be copied', async () => {
    const copy = join(dir, 'a-copy.duckdb');
    await copyFile(join(dir, 'data', 'costbook.duckdb'), copy);
    expect(await askFile(copy, 'select count(*) as rows from costs_daily')).toEqual([{ rows: '1' }]);
  });

  test('is one file, without a log or a part next to it', async () => {
    expect((await readdir(join(dir, 'data'))).sort()).toEqual([
      'costbook.duckdb',
      'journal',
      'landing',
      'metrics.prom',
      'warehouse.duckdb',
    ]);
  });

  test('is readable while a writer locks the warehouse, with the last published state', async () => {
    const warehouse = await openWarehouse(dir);
    try {
      await warehouse.beginRun('not published yet', Date.UTC(2026, 8, 6));
      const answers = await Promise.all([
        runCli(['sql', 'select count(*) as runs from runs', '--dir', dir, '--json']),
        runCli(['status', '--dir', dir, '--json']),
        askSnapshot(dir, 'select count(*) as runs from runs'),
      ]);
      expect(answers[0]).toMatchObject({ exitCode: 0, stderr: '' });
      expect(JSON.parse(answers[0].stdout).rows).toEqual([{ runs: 1 }]);
      expect(answers[1].exitCode).toBe(0);
      expect(answers[2]).toEqual([{ runs: '1' }]);
    } finally {
      warehouse.close();
    }
  });

  test('that a reader has open can be replaced; the reader still sees the old one', async () => {
    const folder = await newProject();
    const warehouse = await openWarehouse(folder);
    try {
      await warehouse.publish();
      const { DuckDBInstance } = await import('@duckdb/node-api');
      const instance = await DuckDBInstance.create(join(folder, 'data', 'costbook.duckdb'), {
        access_mode: 'READ_ONLY',
      });
      const reader = await instance.connect();
      await warehouse.beginRun('later', Date.UTC(2026, 8, 6));
      await warehouse.publish();
      expect((await reader.runAndReadAll('select count(*)::integer as runs from runs')).getRowObjectsJson()).toEqual([
        { runs: 0 },
      ]);
      reader.closeSync();
      instance.closeSync();
      expect(await askSnapshot(folder, 'select command from runs')).toEqual([{ command: 'later' }]);
    } finally {
      warehouse.close();
    }
  });

  test('is published without remains of killed copies', async () => {
    const folder = await newProject();
    const warehouse = await openWarehouse(folder);
    try {
      await writeFile(join(folder, 'data', 'costbook.duckdb.4711.part'), 'half a copy');
      await warehouse.publish();
      expect((await readdir(join(folder, 'data'))).sort()).toEqual(['costbook.duckdb', 'warehouse.duckdb']);
    } finally {
      warehouse.close();
    }
  });
});

describe('files of the books', () => {
  test.each([
    ['', '0700', '0600', '0400'],
    ['fileMode: 0640\n', '0750', '0640', '0440'],
  ])('with "%s" in costbook.yaml are made with folders %s, files %s and a snapshot %s', async (config, ...modes) => {
    const folder = await newProject();
    await writeFile(join(folder, 'costbook.yaml'), config);
    // Everything is made here, also what tests otherwise find: empty books.
    const line = ingestCommandLine(folder, await startScriptedPlatform(facts), { now: '2026-09-05T12:30:00Z' });
    expect((await runCli(...line)).exitCode).toBe(0);
    const report = ['report', 'cost_by_workspace', '--month', '2026-09', '--dir', folder];
    expect((await runCli(report)).exitCode).toBe(0);
    const found: Record<string, Set<string>> = { folder: new Set(), file: new Set(), snapshot: new Set() };
    for (const top of ['data', 'exports']) {
      for (const name of ['', ...(await readdir(join(folder, top), { recursive: true }))]) {
        if (name === 'metrics.prom') continue; // the collector may be another user
        const { mode } = await stat(join(folder, top, name));
        const isFolder = (mode & 0o170000) === 0o040000;
        const kind = isFolder ? 'folder' : name === 'costbook.duckdb' ? 'snapshot' : 'file';
        found[kind]?.add(`0${(mode & 0o777).toString(8)}`);
      }
    }
    expect(Object.values(found).map((kinds) => [...kinds])).toEqual(modes.map((mode) => [mode]));
  });
});

describe('a running copy', () => {
  /** A pipe in place of the warehouse: a copier waits until something is written to it. */
  async function unreadyWarehouse(): Promise<{ folder: string; pipe: string; snapshot: string }> {
    const folder = await newProject();
    const pipe = join(folder, 'warehouse.pipe');
    execFileSync('mkfifo', [pipe]);
    return { folder, pipe, snapshot: join(folder, 'costbook.duckdb') };
  }

  test('is stopped when the process is interrupted, and nothing is published; the next one succeeds', async () => {
    const { folder, pipe, snapshot } = await unreadyWarehouse();
    const database = await emptyBooks(folder);
    try {
      const connection = await database.connect();
      const abort = new AbortController();
      const ended = new InterruptedError('SIGTERM');
      const publishing = publishSnapshot(connection, pipe, snapshot, { signal: abort.signal });
      setTimeout(() => abort.abort(ended), 200);
      await expect(publishing).rejects.toBe(ended);
      expect((await readdir(folder)).sort()).toEqual(['any.duckdb', 'warehouse.pipe']);
      await publishSnapshot(connection, database.file, snapshot, { signal: abort.signal });
      expect(await askFile(snapshot, 'select 1 as one')).toEqual([{ one: 1 }]);
    } finally {
      database.close();
    }
  });

  test('is never published by a copier whose writer was killed', async () => {
    const { folder, pipe, snapshot } = await unreadyWarehouse();
    (await emptyBooks(folder)).close();
    const [opening, publishing] = await compiledTo('warehouse/store/database', 'warehouse/integrity/snapshot');
    const script = `
      const { openDatabase } = await import('${opening}');
      const { publishSnapshot } = await import('${publishing}');
      const database = await openDatabase('${join(folder, 'any.duckdb')}', { readOnly: false });
      const connection = await database.connect();
      await publishSnapshot(connection, '${pipe}', '${snapshot}');`;
    const writer = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: 'ignore' });
    let copier = 0;
    while (copier === 0) {
      expect(await isAlive(writer.pid), 'the writer has ended before it copied').toBe(true);
      copier = await childOf(writer.pid);
    }
    writer.kill('SIGKILL');
    await once(writer, 'exit');
    while (await isAlive(copier)) await sleepFor(20);
    expect((await readdir(folder)).filter((name) => name.startsWith('costbook'))).toEqual([]);
  });
});

describe('a large snapshot', () => {
  const retiring = { leastBytes: 1, leastAgeMs: 0 };

  /** A warehouse of some twenty blocks, which each call of `change` changes in a few of them, and publishes. */
  async function largeBooks() {
    const folder = await newProject();
    const snapshot = join(folder, 'costbook.duckdb');
    const database = await emptyBooks(folder);
    const connection = await database.connect();
    await connection.run('create table wh.main.much as select i, hash(i) as h from range(400000) as t(i)');
    let changes = 0;
    return {
      folder,
      snapshot,
      close: () => database.close(),
      async change(own = retiring) {
        changes += 1;
        await connection.run(
          `update wh.main.much set h = ${changes} where i between ${changes} * 40000 and ${changes} * 40000 + 99`,
        );
        await publishSnapshot(connection, database.file, snapshot, { retiring: own });
        const [row] = await connection.rows('select sum(h) as sum, count(*) as n from wh.main.much');
        return { inode: (await stat(snapshot)).ino, truth: [{ sum: row?.['sum'], n: row?.['n'] }] };
      },
      ask: () => askFile(snapshot, 'select sum(h) as sum, count(*) as n from much'),
    };
  }

  test('is published into the file of the one before, with the blocks that differ', async () => {
    const { folder, snapshot, change, ask, close } = await largeBooks();
    try {
      const inodes: number[] = [];
      for (let night = 0; night < 6; night += 1) {
        const { inode, truth } = await change();
        inodes.push(inode);
        expect(await ask()).toEqual(truth);
        // Equal to the warehouse, byte by byte.
        const [ours, theirs] = await Promise.all([readFile(snapshot), readFile(join(folder, 'any.duckdb'))]);
        expect(ours.subarray(0, theirs.length).equals(theirs)).toBe(true);
      }
      expect(inodes[2]).toBe(inodes[0]);
      expect(inodes[3]).toBe(inodes[1]);
      expect(new Set(inodes).size).toBe(2);
      expect((await readdir(folder)).sort()).toEqual(['any.duckdb', 'costbook.duckdb', 'costbook.duckdb.retired']);
    } finally {
      close();
    }
  });

  test.each([
    ['DuckDB', (file: string) => openDatabase(file, { readOnly: true }).then((reader) => () => reader.close())],
    ['a program without locks', (file: string) => open(file).then((reader) => () => void reader.close())],
  ])('is never written to while %s still reads it', async (_, read) => {
    const { folder, snapshot, change, ask, close } = await largeBooks();
    try {
      const { inode } = await change();
      const copy = join(folder, 'copy.duckdb');
      await copyFile(snapshot, copy);
      const stop = await read(snapshot);
      await change();
      const kept = await readFile(join(folder, 'costbook.duckdb.retired'));
      expect(kept.equals(await readFile(copy))).toBe(true);
      const third = await change();
      expect(third.inode).not.toBe(inode);
      expect(await ask()).toEqual(third.truth);
      stop();
    } finally {
      close();
    }
  });

  test('is copied whole if the one before was replaced a moment ago, or is small', async () => {
    const { folder, snapshot, change, ask, close } = await largeBooks();
    try {
      await change();
      await change();
      // Bytes that a publication into this file would not notice, because the checksum of their block stays.
      const retired = await open(join(folder, 'costbook.duckdb.retired'), 'r+');
      await retired.write('other bytes', 3 * 4096 + 262_144 + 100);
      await retired.close();
      await change({ leastBytes: 1, leastAgeMs: 60_000 });
      const [ours, theirs] = await Promise.all([readFile(snapshot), readFile(join(folder, 'any.duckdb'))]);
      expect(ours.subarray(0, theirs.length).equals(theirs)).toBe(true);
      const fourth = await change({ leastBytes: 2 ** 40, leastAgeMs: 0 });
      expect(await ask()).toEqual(fourth.truth);
      expect((await readdir(folder)).sort()).toEqual(['any.duckdb', 'costbook.duckdb']);
    } finally {
      close();
    }
  });
});

/** The warehouse file `any.duckdb` in a folder, with all tables and no rows. */
async function emptyBooks(folder: string): Promise<Database> {
  const file = join(folder, 'any.duckdb');
  await copyFile(inject('emptyBooks'), file);
  return openDatabase(file, { readOnly: false });
}

/** The first child of a process; 0 if it has none. */
async function childOf(pid: number | undefined): Promise<number> {
  const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '');
  return Number(children.split(' ')[0]);
}

async function isAlive(pid: number | undefined): Promise<boolean> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  return stat !== '' && !/\) Z /.test(stat);
}
