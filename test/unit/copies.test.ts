import { mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { MachineError } from '../../src/base/errors.ts';
import { copyFacts, sha256OfText } from '../../src/reports/exports/index.ts';
import { leaseName, verifyCopies } from '../../src/storage/index.ts';
import { StorageError } from '../../src/storage/storage-error.ts';
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
  for (const name of ['_README.txt', '.x.crc', 'below/']) await put(`${place}/${name}`, 'of somebody else');
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
    `summary  ${place}/latest-raw.csv: a file that no manifest names ${place}/latest.csv: a file that no manifest names ${place}/other.csv: a file that no manifest names`,
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
  await put('summary/part-0/.costbook-lease.json', '{}');
  await put('summary/part-0/part-0', forged);
  expect(await verify()).toContain('summary/part-0 unknown');
});

test('a folder in the place of a manifest here is none', async () => {
  const { folder, verify } = await copied();
  await rm(join(folder, '_manifest'));
  await mkdir(join(folder, '_manifest'));
  expect((await verify()).join()).toContain('another publication');
});

test.each(['summary/./BILLING_PERIOD=2026-10', 'summary//BILLING_PERIOD=2026-10', '/summary/BILLING_PERIOD=2026-10'])(
  'a second copy under another spelling of its folder, %s, is none of this project',
  async (other) => {
    const { put, verify } = await copied();
    await put(`${other}/_manifest`, manifestOf('cost\n1\n'));
    await put(`${other}/latest.csv`, 'cost\n1\n');
    expect(await verify()).toContain(`${other} unknown`);
  },
);

test('a folder that leads to the export by a link is none of its copies', async () => {
  const { folder, put, verify } = await copied();
  await symlink(join(folder, '..'), join(folder, '..', '..', 'other'));
  await put('other/BILLING_PERIOD=2026-10/_manifest', manifestOf('cost\n1\n'));
  await put('other/BILLING_PERIOD=2026-10/latest.csv', 'cost\n1\n');
  expect(await verify()).toEqual(['other/BILLING_PERIOD=2026-10 unknown', `${place} `]);
});

test('an export that somebody put here and in the store, and this project never recorded, is unknown', async () => {
  const { folder, put, verify } = await copied();
  const other = 'summary/BILLING_PERIOD=2026-12';
  await mkdir(join(folder, '..', '..', other), { recursive: true });
  await writeFile(join(folder, '..', '..', other, '_manifest'), manifestOf(forged));
  await put(`${other}/_manifest`, manifestOf(forged));
  await put(`${other}/latest.csv`, forged);
  expect(await verify()).toEqual([`${place} `, `${other} unknown`]);
});

test.each([
  '_metadata',
  '_common_metadata',
  '_x.csv',
  '.x.parquet',
  'x.parquet',
  'more.CSV',
  'more.csv.gz',
  'latest.csv.zst',
  'x.csv.bz2',
  '.csv',
  'part-0',
  'README.txt',
  'below/part-0',
  '_x=1/part-0',
])('%s is data as others read it', async (name) => {
  const { put, verify } = await copied();
  await put(`${place}/${name}`, forged);
  expect(await verify()).toEqual([`${place}  ${place}/${name}: a file that no manifest names`]);
});

test.each(['part-0', 'BILLING_PERIOD=2026-12/part-0', '_x=1/part-0'])(
  '%s beside the copies of a report is data as others read it',
  async (name) => {
    const { put, verify } = await copied();
    for (const other of ['summary/_README.txt', 'notes.txt', 'others/part-0']) await put(other, 'of somebody else');
    await put(`summary/${name}`, forged);
    expect(await verify()).toEqual([`${place} `, `summary  summary/${name}: a file that no manifest names`]);
  },
);

test.each(['a'.repeat(300), 'a\0b', `${'d/'.repeat(2500)}d`])(
  'a folder that cannot be one here is unknown',
  async (name) => {
    const { put, verify } = await copied();
    await put(`${name}/_manifest`, manifestOf('cost\n1\n'));
    await put(`${name}/latest.csv`, 'cost\n1\n');
    expect(await verify()).toContain(`${name} unknown`);
  },
);

test.each([
  ['is too large to read', async () => Promise.reject(new MachineError('larger than a manifest can be'))],
  [
    'is refused',
    async () =>
      Promise.reject(new StorageError('the store answered 403', { cause: { $metadata: { httpStatusCode: 403 } } })),
  ],
])('one manifest or object that %s is the difference of its copy alone', async (_, refuse) => {
  for (const [method, key] of [
    ['readText', `a/_manifest`],
    ['open', 'a/latest.csv'],
  ] as const) {
    const { store, put, verify } = await copied();
    await put('a/_manifest', manifestOf('cost\n1\n'));
    await put('a/latest.csv', 'cost\n1\n');
    const ask = store[method];
    store[method] = ((one: string) => (one === key ? refuse() : ask(one))) as never;
    expect((await verify()).at(-1)).toBe(`${place} `);
    expect((await verify())[0]).toContain(key);
  }
});

test('many objects and copies are compared in one pass', async () => {
  const { store, verify } = await copied();
  const object = { text: '', labels: {} };
  for (let number = 0; number < 30_000; number += 1)
    store.objects.set(`other/latest-${number % 2}.${number}/latest.csv`, object);
  for (let number = 0; number < 5000; number += 1) store.objects.set(`more/${number}/.costbook-lease.json`, object);
  const began = performance.now();
  expect((await verify()).length).toBe(5002);
  expect(performance.now() - began).toBeLessThan(5000);
});
