import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { copyFacts, sha256OfText } from '../../src/reports/exports/index.ts';
import { leaseName, verifyCopies } from '../../src/storage/index.ts';
import { memoryStore } from '../support/memory-store.ts';
import { newProject } from '../support/project.ts';

const place = 'summary/BILLING_PERIOD=2026-10';

function manifestOf(csv: string): string {
  const none = { closedAt: null, completeFrom: null, completeThrough: null, settledThrough: null, previous: null };
  const file = { name: 'latest.csv', format: 'csv', bytes: csv.length, sha256: sha256OfText(csv), rows: 1, cost: null };
  const asOf = '2026-11-01T00:00:00Z';
  const said = { manifest: 1, report: 'summary', asOf, sqlSha256: '0', focusVersion: null, parameters: {} };
  return JSON.stringify({ ...said, ...none, costColumn: null, cost: null, rows: 1, files: [file] });
}

/** A project with an export, which it has recorded, and a store with its copy. */
async function copied() {
  const dir = await newProject();
  const folder = join(dir, 'exports', place);
  await mkdir(folder, { recursive: true });
  await mkdir(join(dir, 'data', 'journal'), { recursive: true });
  const manifest = manifestOf('cost\n1\n');
  const line = { place: `exports/${place}`, sha256: sha256OfText(manifest), asOf: '2026-11-01T00:00:00Z' };
  await writeFile(join(dir, 'data', 'journal', 'exports.ndjson'), `${JSON.stringify(line)}\n`);
  await writeFile(join(folder, '_manifest'), manifest);
  const store = memoryStore();
  const put = (key: string, text: string) => store.putText(key, text, {}, undefined);
  await put(`${place}/_manifest`, manifest);
  await put(`${place}/latest.csv`, 'cost\n1\n');
  async function verify(): Promise<string[]> {
    const found = await verifyCopies(store, await copyFacts(dir, join(dir, 'exports')), () => undefined);
    return found.map(({ folder: at, differences, isUnproven }) =>
      [at, isUnproven ? 'unknown' : '', ...differences.map(({ file, found: what }) => `${file}: ${what}`)].join(' '),
    );
  }
  return { folder, store, put, verify };
}

const forged = 'cost\n9\n';

test('a copy is the same as long as nobody else writes in the store', async () => {
  const { put, verify } = await copied();
  await put(`${place}/README.txt`, 'of somebody else');
  expect(await verify()).toEqual([`${place} `]);
});

test('a second manifest does not take the place of the first', async () => {
  const { put, verify } = await copied();
  await put(`${place}/latest.csv`, forged);
  await put(`${place}/manifest.json`, manifestOf(forged));
  expect((await verify()).join()).toContain('latest.csv: ');
});

test('data whose manifest is gone, or that no manifest names, is a difference', async () => {
  const { store, put, verify } = await copied();
  await put('lake/costs/month=2026-10/costs.parquet', 'x');
  await put(`${place}/latest-raw.csv`, forged);
  await put(`${place}/other.csv`, forged);
  store.objects.delete(`${place}/_manifest`);
  await put('other/_manifest', manifestOf('cost\n1\n'));
  expect(await verify()).toEqual([
    `other unknown other/latest.csv: nothing`,
    `lake  lake/costs/month=2026-10/costs.parquet: a file that no manifest names`,
    `summary  ${place}/latest-raw.csv: a file that no manifest names ${place}/latest.csv: a file that no manifest names`,
  ]);
  await put(`${place}/_manifest`, manifestOf('cost\n1\n'));
  expect((await verify()).join()).toContain(`${place}/other.csv: a file that no manifest names`);
});

test('a copy that this project does not have is not the same, whatever its manifest says', async () => {
  const { put, verify } = await copied();
  await put('summary/BILLING_PERIOD=2026-11/_manifest', manifestOf(forged));
  await put('summary/BILLING_PERIOD=2026-11/latest.csv', forged);
  expect(await verify()).toEqual([`${place} `, 'summary/BILLING_PERIOD=2026-11 unknown']);
});

test('a manifest that somebody wrote both here and in the store is another publication', async () => {
  const { folder, put, verify } = await copied();
  await writeFile(join(folder, '_manifest'), manifestOf(forged));
  await put(`${place}/_manifest`, manifestOf(forged));
  await put(`${place}/latest.csv`, forged);
  expect(await verify()).toEqual([`${place}  ${place}/_manifest: another publication`]);
});

test('a lease excuses no data', async () => {
  const { store, put, verify } = await copied();
  await put(`${place}/${leaseName}`, '{}');
  await put(`${place}/more.csv`, forged);
  expect(await verify()).toEqual([`${place} unknown`]);
  store.objects.delete(`${place}/_manifest`);
  expect(await verify()).toEqual([`${place} unknown`]);
});

test('a folder in the place of a manifest here is none', async () => {
  const { folder, verify } = await copied();
  await rm(join(folder, '_manifest'));
  await mkdir(join(folder, '_manifest'));
  expect((await verify()).join()).toContain('another publication');
});
