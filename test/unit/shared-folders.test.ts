import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { messageOf, UsageError } from '../../src/base/errors.ts';
import { partOf, replaceFile } from '../../src/reports/exports/durable.ts';
import { exportPlace, makePlace } from '../../src/reports/exports/export-names.ts';
import { readExportsJournal, recordManifest } from '../../src/reports/exports/exports-journal.ts';
import { findExports } from '../../src/reports/exports/find-exports.ts';
import { folderPlace, recover } from '../../src/reports/exports/folder-place.ts';
import { readManifest, sha256OfFile, sha256OfText } from '../../src/reports/exports/manifest.ts';
import { revokedExports } from '../../src/reports/exports/revoked-exports.ts';
import { verifyExport } from '../../src/reports/exports/verify-exports.ts';
import { asRegularFile, figuresOfCsv } from '../../src/reports/formats/csv-figures.ts';
import { shortestPath } from '../../src/reports/publishing/show.ts';
import { holdFolder } from '../../src/warehouse/store/folder-lock.ts';
import type { Connection } from '../../src/warehouse/store/index.ts';

// A folder of exports may be shared: others put there what they like.

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'costbook-shared-'));
});

/** What is no regular file, each made at a path. */
const others: readonly (readonly [string, (path: string) => unknown])[] = [
  ['a pipe', (path) => execFileSync('mkfifo', [path])],
  ['a link to a device', (path) => symlink('/dev/zero', path)],
  ['a link to a file that is to be made', (path) => symlink(join(folder, 'made-elsewhere'), path)],
];

describe.each(others)('%s', (what, make) => {
  test('in the place of the lock is refused: nobody waits for it, and nothing is made where it leads', async () => {
    await make(join(folder, '.report.lock'));
    const held = holdFolder(join(folder, 'report'), { patienceMs: 0 });
    await expect(held).rejects.toThrow(UsageError);
    await expect(held).rejects.toThrow(/\.report\.lock, which is no regular file, .* move it away$/);
    expect((await readdir(folder)).sort()).toEqual(['.report.lock', 'report']);
  });

  test('in the place of the journal of exports is named, with what to do', async () => {
    await mkdir(join(folder, 'data', 'journal'), { recursive: true });
    await make(join(folder, 'data', 'journal', 'exports.ndjson'));
    const found = readExportsJournal(folder);
    if (what.endsWith('to be made')) await expect(found).resolves.toMatchObject({ isEmpty: true });
    else await expect(found).rejects.toThrow(/exports\.ndjson, which is no regular file, .* Move it away/);
  });

  test('that replaces a file while it is read holds nobody up', async () => {
    const path = join(folder, 'latest.csv');
    await make(path);
    const both = [sha256OfFile(path, asRegularFile), figuresOfCsv(path, undefined)] as const;
    const [hashed, read] = (await Promise.allSettled(both)).map((one) =>
      one.status === 'fulfilled' ? one.value : messageOf(one.reason),
    );
    if (what === 'a pipe') {
      expect(hashed).toBe(sha256OfText(''));
      expect(read).toBe('there is no header');
    } else {
      expect(hashed).toContain('ELOOP');
      expect(read).toContain('ELOOP');
    }
  });

  test('in the place of the next manifest is named, with what to do', async () => {
    await make(join(folder, '.manifest.next'));
    await expect(recover(folderPlace(folder), [])).rejects.toThrow(/\.manifest\.next is not a manifest .* Move it/);
  });
});

test('a line that a power cut has torn takes no later one with it', async () => {
  const journal = join(folder, 'data', 'journal', 'exports.ndjson');
  const said = { folder: join(folder, 'x'), sha256: 'b', asOf: '2026-11-01T00:00:00Z' };
  await mkdir(join(folder, 'data', 'journal'), { recursive: true });
  await writeFile(journal, '{"place":"x","sha256":"a","asOf":"2026');
  await recordManifest(folder, said);
  expect(await (await readExportsJournal(folder)).lastIn(said.folder)).toBe('b');
});

test('nobody can put a link where a file is written: its name is not known before', async () => {
  const path = join(folder, '_manifest');
  await writeFile(join(folder, 'elsewhere'), 'kept');
  // What an earlier version called it.
  await symlink(join(folder, 'elsewhere'), join(folder, `._manifest.${process.pid}.part`));
  await replaceFile(path, 'written');
  expect(await readFile(path, 'utf8')).toBe('written');
  expect(await readFile(join(folder, 'elsewhere'), 'utf8')).toBe('kept');
  expect(partOf(path)).not.toBe(partOf(path));
});

test('a link in the place of a folder is refused: nothing is written or removed where it leads', async () => {
  const elsewhere = join(folder, 'elsewhere');
  await mkdir(join(elsewhere, 'empty'), { recursive: true });
  await writeFile(join(elsewhere, '.latest.csv.1.part'), 'kept');
  const root = join(folder, 'exports');
  await mkdir(root);
  await symlink(elsewhere, join(root, 'summary'));
  const place = exportPlace(root, 'summary', []);
  await expect(makePlace(place)).rejects.toThrow(
    /exports\/summary, which is a link .* Remove it, or name another folder/,
  );
  const lake = folderPlace(root);
  await lake.sweep(['summary']);
  await expect(lake.draftOf('summary/x/summary.parquet')).rejects.toThrow(UsageError);
  await writeFile(join(folder, 'draft'), 'new');
  await expect(lake.put('summary/summary.parquet', join(folder, 'draft'))).rejects.toThrow(UsageError);
  expect((await readdir(elsewhere)).sort()).toEqual(['.latest.csv.1.part', 'empty']);
  // Nor is the file that a link names the export's own.
  await symlink(join(folder, 'draft'), join(root, 'latest.csv'));
  const file = { name: 'latest.csv', bytes: 3, sha256: '' };
  expect(await lake.has(file, { isExact: false })).toBe(false);
});

test('folders that are too deep to be read stop nobody from finding exports', async () => {
  const name = 'x'.repeat(200);
  for (const one of ['summary', name]) await mkdir(join(folder, one));
  await writeFile(join(folder, 'summary', '_manifest'), '');
  for (let depth = 0; depth < 30; depth += 1) {
    await mkdir(join(folder, 'above'));
    await rename(join(folder, name), join(folder, 'above', name));
    await rename(join(folder, 'above'), join(folder, name));
  }
  const found = await findExports(folder);
  expect(found[0]).toBe(join(folder, 'summary'));
  expect(found[1]?.length).toBeGreaterThan(4000);
  const known = {
    isRecorded: async () => false,
    requery: async () => ({ notCompared: undefined, facts: [] }),
    isReport: () => false,
    isLast: async () => false,
    isBelow: () => true,
  };
  const { differences } = await verifyExport(folder, found[1] ?? '', {} as Connection, known);
  expect(differences).toMatchObject([{ what: 'manifest', found: 'it cannot be read (ENAMETOOLONG)' }]);
  expect(await revokedExports(folder, () => [])).toEqual([]);
  execFileSync('/bin/rm', ['-rf', folder]);
});

test('a recorded export whose manifest is gone is one as long as it has data', async () => {
  const [table, other] = [join(folder, 'lake', 'costs', 'month=2026-10'), join(folder, 'summary', 'month=2026-10')];
  for (const place of [table, other]) await mkdir(place, { recursive: true });
  await writeFile(join(table, 'costs.parquet'), 'x');
  await writeFile(join(other, '_manifest'), '{}');
  await writeFile(join(other, 'latest.csv'), 'x');
  const recorded = ['lake', 'summary', 'gone', '..'].map((name) => join(folder, name));
  expect(await findExports(folder, recorded)).toEqual([join(folder, 'lake'), other]);
  await rm(join(table, 'costs.parquet'));
  expect(await findExports(folder, recorded)).toEqual([other]);
});

test('a folder that is called as what a killed run leaves stays, and stops no export', async () => {
  await mkdir(join(folder, '.latest.csv.1.part'));
  expect(await recover(folderPlace(folder), [])).toMatchObject({ isTrusted: true });
  expect(await readdir(folder)).toEqual(['.latest.csv.1.part']);
});

test('a manifest that would need much memory is none', async () => {
  await writeFile(join(folder, '_manifest'), `{"manifest":1,"padding":[${'{},'.repeat(2_000_000)}1]}`);
  await expect(readManifest(folder)).rejects.toThrow('it is JSON with more than 1000000 values');
  await expect(readManifest(folder, undefined, 1000)).rejects.toThrow('not a regular file of at most 1000 bytes');
});

test('another text in the place of the next manifest is named, with what to do', async () => {
  await writeFile(join(folder, '.manifest.next'), '[]');
  await expect(recover(folderPlace(folder), [])).rejects.toThrow(
    /is not a manifest of an export \(it is not an object\)/,
  );
  await rm(join(folder, '.manifest.next'));
  expect(await recover(folderPlace(folder), [])).toEqual({ current: undefined, isTrusted: true });
});

test('a path shows no character that a terminal obeys, or that turns text around', () => {
  const shown = shortestPath('/x', '/x/exports/owner=Pay\u009b2J\u202ement/latest.csv');
  expect(shown).toBe('exports/owner=Pay\ufffd2J\ufffdment/latest.csv');
});

test('data below an export, and links to it, are found: readers of all folders read them too', async () => {
  const none = { closedAt: null, completeFrom: null, completeThrough: null, settledThrough: null, previous: null };
  const file = { bytes: 2, sha256: sha256OfText('a\n'), rows: null, cost: null };
  const said = { manifest: 1, report: 'x', asOf: '2026-11-01T00:00:00Z', sqlSha256: '0', focusVersion: null };
  const manifest = {
    ...said,
    ...none,
    parameters: {},
    costColumn: null,
    cost: null,
    rows: 0,
    files: ['csv', 'parquet'].map((format) => ({ ...file, name: `latest.${format}`, format })),
  };
  for (const below of ['below/more', '_delta_log']) await mkdir(join(folder, 'x', below), { recursive: true });
  await writeFile(join(folder, 'x', '_manifest'), JSON.stringify(manifest));
  const names = ['latest.csv', 'latest.parquet', 'other.CSV', '_metadata', '_delta_log/0.json'];
  const hidden = ['_SUCCESS', '.x.crc', '_temporary/0/part-0', '.git/config'];
  const visible = ['manifest.json', '.csv', '.parquet', 'part-0', 'below/notes.txt', '_x=1/part-1', '.git/.csv.gz'];
  for (const name of [...names, ...hidden, ...visible, 'below/more/a.csv.gz']) {
    await mkdir(join(folder, 'x', name, '..'), { recursive: true });
    await writeFile(join(folder, 'x', name), 'a\n');
  }
  await symlink('x', join(folder, 'y'));
  expect(await findExports(folder)).toEqual([join(folder, 'x'), join(folder, 'y')]);
  const known = {
    isRecorded: async () => true,
    isReport: () => false,
    isLast: async () => false,
    isBelow: () => true,
    requery: async () => ({ notCompared: undefined, facts: [] }),
  };
  const differences = [];
  for (const one of ['x', 'y']) {
    differences.push(...(await verifyExport(folder, join(folder, one), {} as Connection, known)).differences);
  }
  const unnamed = [...names.slice(2), ...visible, 'below/more/a.csv.gz'].map((name) => `x/${name}`);
  expect(differences.map((one) => [one.file, one.found]).sort()).toEqual(
    [...unnamed.map((name) => [name, 'a file that no manifest names']), ['y/_manifest', 'a link to a folder']].sort(),
  );
});
