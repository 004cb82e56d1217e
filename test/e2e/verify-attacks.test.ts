// Second tier: Forges exports of every format of seven reports; e2e/one-month verifies in the first tier.

import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cp, mkdir, readdir, readFile, rename, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { answerVerify } from '../../src/answers/verify-answer.ts';
import type { Manifest, ManifestFile } from '../../src/reports/exports/manifest.ts';
import { commandFor } from '../../src/reports/exports/revoked-exports.ts';
import { type VerifiedExport, verifyExport } from '../../src/reports/exports/verify-exports.ts';
import { openExportVerifier } from '../../src/reports/publishing/requery.ts';
import { readReports } from '../../src/reports/questions/catalogue.ts';
import { openScratch } from '../../src/warehouse/store/database.ts';
import { newProject, runCli } from '../support/project.ts';
import { type TwoNights, twoNights } from '../support/two-nights.ts';

let nights: TwoNights;
beforeAll(async () => {
  nights = await twoNights();
});

const period = 'BILLING_PERIOD=2026-09';
const now = '2026-10-03T00:00:00Z';

const exportedOnce = new Map<string, Promise<string>>();

/** A project with exports of the first night; equal ones are written once and copied. */
async function exported(format: string, ...names: string[]): Promise<{ dir: string; folder: string }> {
  const key = [format, ...names].join(' ');
  const once = exportedOnce.get(key) ?? writeExports(format, names);
  exportedOnce.set(key, once);
  const dir = await newProject();
  await cp(await once, dir, { recursive: true });
  return { dir, folder: join(dir, 'exports', 'cost_by_workspace', period) };
}

async function writeExports(format: string, names: readonly string[]): Promise<string> {
  const dir = await newProject();
  await nights.publish(dir, 'first');
  for (const name of ['cost_by_workspace', ...names]) {
    const asked = [
      'report',
      name,
      '--dir',
      dir,
      '--month',
      '2026-09',
      '--now',
      now,
      '--format',
      format,
      '--allow-empty',
    ];
    const { exitCode, stderr } = await runCli(asked);
    expect([name, exitCode], stderr).toEqual([name, 0]);
  }
  return dir;
}

interface Verified {
  readonly exitCode: number;
  readonly said: readonly string[];
  readonly exports: readonly VerifiedExport[];
}

/** What "costbook verify" answers. */
async function verifyInChild(dir: string): Promise<Verified> {
  const { exitCode, stdout, stderr } = await runCli(['verify', '--dir', dir, '--json']);
  expect(stderr).not.toMatch(/bug in Costbook/);
  return asVerified(exitCode, JSON.parse(stdout));
}

/** The same, without starting its process: that takes longer than the verification of an export. */
async function verify(dir: string, ...places: readonly string[]): Promise<Verified> {
  let data: object = {};
  const ignore = async () => undefined;
  const exitCode = await answerVerify(
    { arguments: places, options: {} },
    {
      ...{ dir, folder: dir, env: {}, json: true, asData: true, isTerminal: false, isStep: false, reader: 'test' },
      ...{ layout: { width: undefined }, effects: { now: Date.now }, signal: new AbortController().signal },
      ...{ tell: ignore, progress: ignore, write: ignore },
      async answer(given) {
        data = given;
      },
    },
  );
  return asVerified(exitCode, data);
}

function asVerified(exitCode: number, data: object): Verified {
  const { exports } = JSON.parse(JSON.stringify(data)) as { exports: readonly VerifiedExport[] };
  const differences = exports.flatMap(({ differences }) => differences.map(({ what, found }) => `${what}: ${found}`));
  return { exitCode, exports, said: [...differences, ...exports.flatMap(({ notCompared }) => notCompared ?? [])] };
}

/** Changes the only file of an export, and its manifest so that both agree. */
async function forge(
  folder: string,
  change: (text: string) => string,
  other: (manifest: Manifest, file: ManifestFile) => Partial<Manifest> = () => ({}),
): Promise<void> {
  const path = join(folder, '_manifest');
  const manifest = JSON.parse(await readFile(path, 'utf8')) as Manifest;
  const [file] = manifest.files;
  if (file === undefined) throw new Error('the export has no file');
  const text = change(await readFile(join(folder, file.name), 'utf8'));
  const sha256 = createHash('sha256').update(text).digest('hex');
  const forged = {
    ...file,
    sha256,
    bytes: Buffer.byteLength(text),
  };
  await writeFile(join(folder, file.name), text);
  const written = { ...manifest, files: [forged], ...other(manifest, forged) };
  await writeFile(path, `${JSON.stringify(written, undefined, 2)}\n`);
}

/** Moves what one workspace cost to another one: the sum stays. */
function swap(text: string): string {
  expect(text).toContain('north');
  return text.replaceAll('north', 'nobody');
}

/** The project forgets what it exported, as one of an older Costbook. */
async function forget(dir: string): Promise<void> {
  await rm(join(dir, 'data', 'journal', 'exports.ndjson'));
}

describe.each(['csv', 'json'])('an export in %s with a rewritten manifest', (format) => {
  test('is no longer the one that the journal has, and its rows are not those of the books', async () => {
    const { dir, folder } = await exported(format);
    expect((await verify(dir)).exitCode).toBe(0);
    await forge(folder, swap);
    const known = await verify(dir);
    expect([known.exitCode, known.said]).toEqual([
      4,
      [expect.stringMatching(/^manifest: /), expect.stringMatching(/^rows of latest\.(csv|json): rows with the hash/)],
    ]);
    await forget(dir);
    const unknown = await verify(dir);
    expect([unknown.exitCode, unknown.said]).toEqual([4, [expect.stringMatching(/^rows of /)]]);
  });

  test('with other SQL is not passed over: the journal has another manifest', async () => {
    const { dir, folder } = await exported(format);
    await forge(
      folder,
      (text) => text.replaceAll('3.000000000000', '2.000000000000'),
      (manifest, file) => ({
        ...{ sqlSha256: '0'.repeat(64), cost: '4.300000001000' },
        files: [{ ...file, cost: '4.300000001000' }, ...manifest.files.slice(1)],
      }),
    );
    const known = await verify(dir);
    expect(known.exitCode).toBe(4);
    expect(known.said).toEqual([
      expect.stringMatching(/^manifest: /),
      'the SQL of cost_by_workspace has changed since, and answers other rows now',
    ]);
    await forget(dir);
    // Nobody knows then; verify says so.
    const { exitCode, exports } = await verify(dir);
    expect([exitCode, exports[0]?.notCompared, exports[0]?.notes]).toEqual([
      0,
      'the SQL of cost_by_workspace has changed since, and answers other rows now',
      [expect.stringContaining('this project has no record of its exports')],
    ]);
  });
});

test('an export that nobody recorded has no excuse in the time that its manifest names, and is recorded when it is written again', async () => {
  const { dir } = await exported('parquet');
  await forget(dir);
  expect((await verify(dir)).exitCode).toBe(0);
  await nights.publish(dir, 'second');
  const write = (...asked: string[]) =>
    runCli(['report', ...asked, '--dir', dir, '--month', '2026-09', '--now', now, '--format', 'parquet']);
  expect((await write('summary')).exitCode).toBe(0);
  const forged = await verify(dir);
  expect([forged.exitCode, forged.said]).toEqual([4, [expect.stringMatching(/^the rows of latest.parquet can only/)]]);
  expect((await write('cost_by_workspace')).exitCode).toBe(0);
  expect((await verify(dir)).exitCode).toBe(0);
});

test('an export that is written while others are verified is the same as the books', async () => {
  const { dir, folder } = await exported('csv');
  const files = await openScratch(dir);
  const asked = { files: await files.connect(), reader: 'test', signal: new AbortController().signal };
  const verifier = await openExportVerifier(dir, await readReports(join(dir, 'sql')), asked);
  await nights.publish(dir, 'second');
  const again = ['report', 'cost_by_workspace', '--dir', dir, '--month', '2026-09', '--now', now, '--format', 'csv'];
  expect((await runCli(again)).exitCode).toBe(0);
  const found = await verifyExport(join(dir, 'exports'), folder, asked.files, verifier);
  expect(found).toMatchObject({ asOf: '2026-10-02T12:30:00Z', differences: [], notCompared: null });
  verifier.close();
  files.close();
});

test('a next manifest that nobody recorded excuses no file', async () => {
  const { dir, folder } = await exported('csv');
  const manifest = await readFile(join(folder, '_manifest'));
  await forge(folder, swap);
  await rename(join(folder, '_manifest'), join(folder, '.manifest.next'));
  await writeFile(join(folder, '_manifest'), manifest);
  const found = await verify(dir);
  expect([found.exitCode, found.said]).toEqual([4, ['bytes: 378']]);
  expect(found.exports[0]?.notes).toEqual([
    '.manifest.next is none that this project has recorded last: it is not believed',
  ]);
});

test('an export of another month, in the place of a month, is not the same', async () => {
  const { dir, folder } = await exported('csv');
  const other = join(dir, 'exports', 'cost_by_workspace', 'BILLING_PERIOD=2026-10');
  const asked = ['report', 'cost_by_workspace', '--dir', dir, '--month', '2026-10', '--now', now, '--format', 'csv'];
  expect((await runCli([...asked, '--allow-empty'])).exitCode).toBe(0);
  await rm(other, { recursive: true });
  await cp(folder, other, { recursive: true });
  const known = await verify(dir);
  expect([known.exitCode, known.said]).toEqual([
    4,
    ['month: an export of 2026-09', expect.stringMatching(/^manifest: [0-9a-f]{64}$/)],
  ]);
  // A copy elsewhere, of which the journal knows no folder.
  await rename(join(dir, 'exports'), join(dir, 'shared'));
  const copied = await verify(dir, join(dir, 'shared'));
  expect([copied.exitCode, copied.said]).toEqual([4, ['month: an export of 2026-09']]);
});

test('an export that somebody copied beside itself, or under another value, is not the same', async () => {
  const { dir, folder } = await exported('csv');
  const root = join(dir, 'exports');
  await cp(folder, join(root, 'cost_by_workspace', 'copy'), { recursive: true });
  const beside = await verify(dir);
  expect([beside.exitCode, beside.said]).toEqual([
    4,
    ['folder: a copy of another export', 'folder: an export in the folder of cost_by_workspace'],
  ]);
  await rm(join(root, 'cost_by_workspace', 'copy'), { recursive: true });
  await cp(folder, join(dir, 'shared', 'workspace=south', 'cost_by_workspace', period), { recursive: true });
  const elsewhere = await verify(dir, join(dir, 'shared'));
  expect([elsewhere.exitCode, elsewhere.said[0]]).toEqual([4, 'workspace: an export of no workspace']);
});

test.each([
  ['copy', 'folder: an export in the folder of cost_by_workspace'],
  [join('x', period), 'folder: an export in the folder of cost_by_workspace'],
  [join('z=1', period), 'folder: a folder of z'],
  ['month=2026-09', 'folder: a folder of month='],
  [join('workspace=%2A', period), 'folder: a folder of workspace'],
  [join(period, period), 'folder: a folder of month'],
  ['.', 'month: an export of 2026-09'],
])(
  'a copy in %s of the report, whose manifest nobody recorded, is not the same: readers read its rows twice',
  async (name, said) => {
    const { dir, folder } = await exported('csv');
    const copy = join(folder, '..', name);
    await mkdir(copy, { recursive: true });
    await cp(join(folder, 'latest.csv'), join(copy, 'latest.csv'));
    await writeFile(
      join(copy, '_manifest'),
      JSON.stringify(JSON.parse(await readFile(join(folder, '_manifest'), 'utf8'))),
    );
    for (const places of [[], [join(dir, 'shared')]]) {
      if (places.length > 0) await rename(join(dir, 'exports'), join(dir, 'shared'));
      const found = await verify(dir, ...places);
      expect([found.exitCode, found.said]).toEqual([4, expect.arrayContaining([said])]);
    }
  },
);

test('a manifest that names a file twice, under a name of its own, is not the same', async () => {
  const { dir, folder } = await exported('csv');
  await cp(join(folder, 'latest.csv'), join(folder, 'more.csv'));
  await forge(
    folder,
    (text) => text,
    (_, file) => ({ files: [file, { ...file, name: 'more.csv' }] }),
  );
  await forget(dir);
  const found = await verify(dir);
  expect([found.exitCode, found.said]).toEqual([4, ['name: latest.csv', 'name: more.csv']]);
});

test('an export of another report, in the folder of a report, is not the same: readers read its costs too', async () => {
  const { dir, folder } = await exported('csv', 'chargeback');
  const stranger = join(folder, '..', 'x=1');
  await cp(join(dir, 'exports', 'chargeback', period), stranger, { recursive: true });
  await writeFile(
    join(stranger, '_manifest'),
    JSON.stringify(JSON.parse(await readFile(join(stranger, '_manifest'), 'utf8'))),
  );
  const found = await verify(dir);
  expect([found.exitCode, found.said]).toEqual([4, ['report: an export of chargeback']]);
});

test('an earlier export of the project, put back, is not the same: the journal has a later one', async () => {
  const { dir, folder } = await exported('csv');
  const kept = join(dir, 'kept');
  await cp(folder, kept, { recursive: true });
  await nights.publish(dir, 'second');
  const again = ['report', 'cost_by_workspace', '--dir', dir, '--month', '2026-09', '--now', now, '--format', 'csv'];
  expect((await runCli(again)).exitCode).toBe(0);
  const later = await readFile(join(folder, '_manifest'));
  await cp(kept, folder, { recursive: true });
  const back = await verify(dir);
  expect([back.exitCode, back.said]).toEqual([4, [expect.stringMatching(/^manifest: \w{64}, an earlier export$/)]]);
  // A copy elsewhere is what it was; and so is an export whose next one a killed run has not put in its place yet.
  expect((await verify(dir, kept)).exitCode).toBe(0);
  await writeFile(join(folder, '.manifest.next'), later);
  expect((await verify(dir)).exitCode).toBe(0);
  await rename(join(folder, '_manifest'), join(folder, '.manifest.next'));
  await writeFile(join(folder, '_manifest'), later);
  expect((await verify(dir)).said.length).toBeGreaterThan(0);
  await rm(join(folder, '.manifest.next'));
  expect((await runCli(again)).exitCode).toBe(0);
  expect(await verify(dir)).toMatchObject({ exitCode: 0, said: [] });
});

test('data beside a next manifest alone, or that a manifest of others calls earlier, is a difference', async () => {
  const { dir, folder } = await exported('csv');
  const text = await readFile(join(folder, '_manifest'), 'utf8');
  for (const place of [join(folder, 'x'), join(folder, '..', 'BILLING_PERIOD=2026-08')]) {
    await mkdir(place);
    await writeFile(join(place, '.manifest.next'), text);
    expect((await verify(dir)).said).not.toContain('file: a file that no manifest names');
    await cp(join(folder, 'latest.csv'), join(place, 'more.csv'));
    const found = await verify(dir);
    expect([found.exitCode, found.said]).toEqual([4, expect.arrayContaining(['file: a file that no manifest names'])]);
    await rm(place, { recursive: true });
  }
  // As an earlier version wrote exports.
  await forget(dir);
  const names = ['cost_by_workspace-deadbeef.csv', 'latest.csv'] as const;
  const forged = swap(await readFile(join(folder, 'latest.csv'), 'utf8'));
  await rename(join(folder, 'latest.csv'), join(folder, 'cost_by_workspace-00000000.csv'));
  for (const name of names) await writeFile(join(folder, name), forged);
  const manifest = JSON.parse(text) as Manifest;
  const files = manifest.files.map((file) => ({ ...file, name: 'cost_by_workspace-00000000.csv' }));
  const previous = { sha256: '0', files: { [names[0]]: createHash('sha256').update(forged).digest('hex') } };
  await writeFile(join(folder, '_manifest'), JSON.stringify({ ...manifest, files, previous }));
  const found = await verify(dir);
  expect([found.exitCode, found.said]).toEqual([
    4,
    ['file: a file that no manifest names', expect.stringMatching(/^sha256: /)],
  ]);
});

test('an export in the folder of another instant, or of the present of a closed month, is not the same', async () => {
  const { dir, folder } = await exported('csv');
  const line = ['report', 'cost_by_workspace', '--dir', dir, '--month', '2026-09', '--now', now, '--format', 'csv'];
  await nights.publish(dir, 'second');
  expect((await runCli([...line, '--as-of', '2026-10-01T20:00:00Z'])).exitCode).toBe(0);
  expect(await verify(dir)).toMatchObject({ exitCode: 0, said: [] });
  const shared = join(dir, 'shared');
  await cp(folder, join(shared, 'as-of=2026-10-01T230000Z', 'cost_by_workspace', period), { recursive: true });
  const found = await verify(dir, shared);
  expect([found.exitCode, found.said]).toEqual([4, ['as-of: an export as of 2026-10-01T12:30:00Z']]);
});

test.each([
  join('BILLING_PERIOD=2026-08', 'data.csv'),
  join('BILLING_PERIOD=2026-08', 'x', 'part-0.parquet'),
  'more.CSV',
  '_metadata',
  join('_delta_log', '0.json'),
  join(period, 'x.parquet'),
  join(period, 'latest.parquet'),
  join(period, 'cost_by_workspace-deadbeef.csv'),
  join('BILLING_PERIOD=2026-08', 'part-0'),
])('%s of a report with one file in CSV is a difference: readers of the whole report read it', async (name) => {
  const { dir, folder } = await exported('csv');
  await mkdir(join(folder, '..', name, '..'), { recursive: true });
  await writeFile(join(folder, '..', name), 'forged');
  const { exitCode, said } = await verify(dir);
  expect(exitCode).toBe(4);
  expect(said[0]).toMatch(/^manifest: nothing beside the data$|^file: a file that no manifest names$/);
});

test('a lake with a forged part and manifest is written again, and not recorded', async () => {
  const dir = await newProject();
  await nights.publish(dir, 'first');
  const lake = ['report', 'lake', '--dir', dir, '--now', now];
  expect((await runCli(lake)).exitCode).toBe(0);
  const root = join(dir, 'exports', 'lake');
  const text = await readFile(join(root, '_manifest'), 'utf8');
  const manifest = JSON.parse(text) as Manifest;
  const [one, other] = manifest.files.filter(({ partition }) => partition !== undefined);
  if (one === undefined || other === undefined) throw new Error('expected two parts');
  const bytes = await readFile(join(root, other.name));
  await writeFile(join(root, one.name), bytes);
  const { sha256 } = other;
  const files = manifest.files.map((file) => (file === one ? { ...file, sha256, bytes: bytes.length } : file));
  await writeFile(join(root, '_manifest'), `${JSON.stringify({ ...manifest, files }, undefined, 2)}\n`);
  expect((await verify(dir)).exitCode).toBe(4);
  expect((await runCli(lake)).exitCode).toBe(0);
  expect(
    createHash('sha256')
      .update(await readFile(join(root, one.name)))
      .digest('hex'),
  ).toBe(one.sha256);
  expect((await verify(dir)).exitCode).toBe(0);
});

test('a copied lake is the same only with a manifest that the project recorded: its rows are not compared', async () => {
  const dir = await newProject();
  await nights.publish(dir, 'first');
  expect((await runCli(['report', 'lake', '--dir', dir, '--now', now])).exitCode).toBe(0);
  const copy = join(dir, 'copy');
  await cp(join(dir, 'exports', 'lake'), copy, { recursive: true });
  expect((await verify(dir, copy)).exitCode).toBe(0);
  const path = join(copy, '_manifest');
  await writeFile(path, JSON.stringify(JSON.parse(await readFile(path, 'utf8'))));
  const forged = await verify(dir, copy);
  expect([forged.exitCode, forged.said]).toEqual([4, [expect.stringContaining('can only be known by its manifest')]]);
  await rm(join(dir, 'exports', 'lake', '_manifest'));
  const without = await verify(dir);
  expect([without.exitCode, without.said[0]]).toEqual([4, 'manifest: nothing beside the data']);
});

test.each([
  [
    'a second cost',
    'csv',
    (text: string) => text.replaceAll('\r\n', ',9\r\n').replace(',9', ',cost'),
    /^column: cost$/,
  ],
  ['an end of line in a name', 'csv', (text: string) => text.replaceAll('north', 'no\rrth'), /^rows of latest\.csv/],
  [
    'a second workspace',
    'json',
    (text: string) => text.replaceAll('"workspace"', '"workspace":"nobody","workspace"'),
    /^export: it has a line that no export has$/,
  ],
  // Whoever wrote it may have it claim all memory.
  ['garbage', 'arrow', () => 'ARROW1', /^the rows of latest\.arrow can only be known by its manifest/],
  ['garbage', 'parquet', () => 'PAR1', /^the rows of latest\.parquet can only be known by its manifest/],
] as const)('a copy with %s, which readers do not agree on, is not the same', async (_, format, change, said) => {
  const { dir, folder } = await exported(format);
  const copy = join(dir, 'copy');
  await cp(folder, copy, { recursive: true });
  await forge(copy, change);
  const found = await verify(dir, copy);
  expect([found.exitCode, found.said[0]]).toEqual([4, expect.stringMatching(said)]);
});

test('a copy in Parquet whose manifest nobody recorded is not the same: others may read another cost in it', async () => {
  const { dir, folder } = await exported('parquet');
  const copy = join(dir, 'copy');
  await cp(folder, copy, { recursive: true });
  expect((await verify(dir, copy)).exitCode).toBe(0);
  const path = join(copy, 'latest.parquet');
  // The footer says twice that cost has 12 decimals. DuckDB believes one of them, and Arrow the other.
  const [before, after] = ['1518154c00', '1516154c00'];
  const bytes = (await readFile(path)).toString('hex');
  expect(bytes).toContain(before);
  const forged = Buffer.from(bytes.replace(before, after), 'hex');
  await writeFile(path, forged);
  const manifest = JSON.parse(await readFile(join(copy, '_manifest'), 'utf8')) as Manifest;
  const sha256 = createHash('sha256').update(forged).digest('hex');
  const files = manifest.files.map((file) => ({ ...file, sha256 }));
  await writeFile(join(copy, '_manifest'), JSON.stringify({ ...manifest, files }));
  const found = await verify(dir, copy);
  expect([found.exitCode, found.said]).toEqual([
    4,
    [expect.stringMatching(/^the rows of latest\.parquet can only be known/)],
  ]);
});

test('data that no manifest names is a difference: readers of all months would read it', async () => {
  const { dir, folder } = await exported('csv');
  await cp(join(folder, 'latest.csv'), join(folder, 'more.csv'));
  const other = join(folder, '..', 'BILLING_PERIOD=2026-08');
  await mkdir(other);
  await cp(join(folder, 'latest.csv'), join(other, 'latest.csv'));
  const found = await verify(dir);
  expect([found.exitCode, found.said]).toEqual([
    4,
    ['manifest: nothing beside the data', 'file: a file that no manifest names', 'there is no manifest'],
  ]);
  await rm(join(folder, '_manifest'));
  expect((await verify(dir)).said).toHaveLength(4);
});

test.each([
  ['json', '['.repeat(5_000_000) + ']'.repeat(5_000_000), /^content: unreadable as json: this needs more than/],
  ['csv', `${'cost,'.repeat(200_000)}\n`, /^content: .*record 0 has more than 100000 fields$/],
])('a file in %s that would need much memory is the difference of its export alone', async (format, text, said) => {
  const { dir, folder } = await exported(format, 'summary');
  await forge(folder, () => text);
  const found = await verifyInChild(dir); // the memory is that of the process
  expect([found.exitCode, found.exports.length, found.exports[1]?.differences]).toEqual([4, 2, []]);
  expect(found.said).toContainEqual(expect.stringMatching(said));
});

test('SQL that changed but gives the same rows is the same export', async () => {
  const { dir, folder } = await exported('csv');
  const path = join(folder, '_manifest');
  await writeFile(
    path,
    (await readFile(path, 'utf8')).replace(/"sqlSha256": "\w+"/, `"sqlSha256": "${'0'.repeat(64)}"`),
  );
  await forget(dir);
  expect(await verify(dir)).toMatchObject({ exitCode: 0, said: [] });
});

test('every report in every format has the rows of the books', async () => {
  const names = [
    'focus',
    'daily_trend',
    'chargeback_summary',
    'reconciliation_summary',
    'cost_by_resource',
    'invoice_lines',
  ];
  const { dir } = await exported('csv,json,parquet,arrow,xlsx', ...names);
  const { exitCode, said, exports } = await verify(dir);
  expect(said).toEqual([]);
  expect([exitCode, exports.length]).toEqual([0, names.length + 1]);
});

test('pipes, links and files elsewhere are not read', async () => {
  const { dir, folder } = await exported('csv');
  const manifest = JSON.parse(await readFile(join(folder, '_manifest'), 'utf8')) as Manifest;
  const name = manifest.files[0]?.name ?? '';
  await rename(join(folder, name), join(dir, 'elsewhere.csv'));
  for (const make of [
    () => execFileSync('mkfifo', [join(folder, name)]),
    () => symlink('/dev/zero', join(folder, name)),
    () => symlink(join(dir, 'elsewhere.csv'), join(folder, name)),
  ]) {
    await rm(join(folder, name), { force: true });
    await make();
    const { exitCode, said } = await verify(dir);
    expect(exitCode).toBe(4);
    expect(said[0]).toMatch(/^file: (something that is not a regular file|a link, which is not followed)/);
  }
  await rm(join(folder, '_manifest'));
  execFileSync('mkfifo', [join(folder, '_manifest')]);
  expect(await verify(dir)).toMatchObject({
    exitCode: 4,
    said: [expect.stringContaining('not a regular file'), expect.anything()],
  });
});

test('SQL of a project that fails later is the difference of its export alone', async () => {
  const dir = await newProject();
  await nights.publish(dir, 'first');
  await mkdir(join(dir, 'sql', 'reports'), { recursive: true });
  // The past has no such table.
  await writeFile(
    join(dir, 'sql', 'reports', 'a_own.sql'),
    '--! about: x\n--! grain: n\n--! formats: csv\nselect count(*) as n from ledger.unproven\n',
  );
  for (const name of ['a_own', 'cost_by_workspace']) {
    const month = name === 'a_own' ? [] : ['--month', '2026-09'];
    const { exitCode, stderr } = await runCli(['report', name, ...month, '--dir', dir, '--now', now]);
    expect(exitCode, stderr).toBe(0);
  }
  const { exitCode, exports } = await verify(dir);
  expect(exitCode).toBe(4);
  expect(exports.map(({ report, differences }) => [report, differences.map(({ what }) => what)])).toEqual([
    ['a_own', ['answer']],
    ['cost_by_workspace', []],
  ]);
});

test.each<[string, Partial<Manifest>]>([
  ['a cost column of its own', { costColumn: "cost\") from read_text('/etc/passwd') --" }],
  ['a cost column without numbers', { costColumn: 'workspace' }],
  ['a cost with countless decimals', { cost: `4.${'0'.repeat(100)}` }],
])('a manifest with %s is a difference of its export alone', async (_, forged) => {
  const { dir, folder } = await exported('csv', 'daily_trend');
  await forge(
    folder,
    (text) => text,
    () => forged,
  );
  const { exitCode, exports } = await verify(dir);
  expect(exitCode).toBe(4);
  expect(exports.map(({ report, differences }) => [report, differences.length > 0])).toEqual([
    ['cost_by_workspace', true],
    ['daily_trend', false],
  ]);
  const what = exports[0]?.differences.map((one) => one.what) ?? [];
  expect(what).toContain('cost' in forged ? 'cost' : 'cost column');
});

test('what a manifest says comes to no terminal as it is', async () => {
  const { dir, folder } = await exported('csv');
  await forge(
    folder,
    (text) => text,
    () => ({ report: '\u001b]0;evil\u0007\u202eevil' }),
  );
  const { exitCode, stdout } = await runCli(['verify', '--dir', dir]);
  expect(exitCode).toBe(4);
  expect(stdout).toContain('evil no longer exists');
  for (const sign of ['\u001b', '\u0007', '\u202e']) expect(stdout).not.toContain(sign);
});

/** Manifests that somebody else has written, each with what is found wrong. */
const strange: readonly (readonly [string, (manifest: Manifest) => object, RegExp])[] = [
  ['NUL', ({ files }) => ({ files: [{ ...files[0], name: 'a\0b' }] }), /points outside/],
  ['an endless name', ({ files }) => ({ files: [{ ...files[0], name: 'a'.repeat(5000) }] }), /ENAMETOOLONG/],
  ['one file twice', ({ files }) => ({ files: [...files, ...files] }), /a second time/],
  [
    'a table elsewhere',
    () => ({ tables: { '../..': { columns: [], costColumn: null, cost: null } } }),
    /no name of a table/,
  ],
  ['a table without columns', () => ({ tables: { a: { costColumn: null, cost: null } } }), /not a list/],
  ['an instant before time', () => ({ asOf: '-271821-04-20T00:00:00.000Z' }), /not an instant/],
  ['a close that never was', () => ({ closedAt: '2026-09-30T00:00:00Z' }), /^close: 2026-09-30T00:00:00Z/],
  ['a currency that is none', () => ({ currency: 5 }), /"currency" is not an object/],
  [
    'a format of JavaScript',
    ({ files }) => ({ files: [{ ...files[0], format: 'constructor' }] }),
    /only be known by its manifest/,
  ],
  ['inexact rows', ({ files }) => ({ files: [{ ...files[0], inexact: true }] }), /only be known by its manifest/],
  [
    'renamed workspaces as a currency',
    () => ({ currency: { code: 'EUR', columns: { workspace: 'workspace', cost: 'cost' } } }),
    /^rows of/,
  ],
];

test('a strange manifest is the fault of its export alone', async () => {
  const { dir, folder } = await exported('csv', 'daily_trend');
  const path = join(folder, '_manifest');
  const name = join(folder, 'latest.csv');
  const [honest, csv] = [JSON.parse(await readFile(path, 'utf8')) as Manifest, await readFile(name, 'utf8')];
  for (const [what, change, expected] of strange) {
    await writeFile(name, csv);
    await writeFile(path, JSON.stringify(honest));
    await forge(folder, what.startsWith('renamed') ? swap : (text) => text, change as () => Partial<Manifest>);
    // As if somebody had sent it: this project has no export there.
    const elsewhere = join(dir, 'elsewhere');
    await rm(elsewhere, { recursive: true, force: true });
    await cp(join(dir, 'exports'), elsewhere, { recursive: true });
    const { exitCode, said, exports } = await verify(dir, elsewhere);
    expect([what, exitCode, exports.length, exports[1]?.differences]).toEqual([what, 4, 2, []]);
    expect([what, said.join('\n')]).toEqual([what, expect.stringMatching(expected)]);
  }
});

test('a column that is left out is a difference', async () => {
  const { dir, folder } = await exported('csv');
  await forge(folder, (text) =>
    text.replace(/^(.*?),unit,/m, '$1,').replaceAll(/,(GB-seconds|count|GB-hours|hours),/g, ','),
  );
  expect((await verify(dir)).said).toContainEqual('column: nothing');
});

test('a copied export whose rows only its manifest knows is not the same', async () => {
  const { dir, folder } = await exported('csv');
  for (const [change, said] of [
    [{ rows: null, cost: null }, 'the rows of latest.csv can only be known by its manifest'],
    [{}, 'the amounts in EUR can only be known by its manifest'],
  ] as const) {
    const copy = join(dir, 'copies', said.slice(4, 8));
    await cp(folder, copy, { recursive: true });
    const currency = { code: 'EUR', columns: {}, source: 'ECB', rates: [] } as unknown as NonNullable<
      Manifest['currency']
    >;
    await forge(
      copy,
      (text) => ('rows' in change ? text.replaceAll('3.000000000000', '9.000000000000') : text),
      (manifest, file) => ({
        files: [{ ...file, ...change }, ...manifest.files.slice(1)],
        ...('rows' in change ? {} : { currency }),
      }),
    );
    const { exitCode, stdout } = await runCli(['verify', copy, '--dir', dir, '--json']);
    const { exports } = JSON.parse(stdout) as { exports: readonly VerifiedExport[] };
    expect([exitCode, exports[0]?.notCompared]).toEqual([4, expect.stringContaining(said)]);
  }
});

test('a report removes no file that it would not write, whatever the manifest in its folder names', async () => {
  const { dir, folder } = await exported('csv');
  const elsewhere = await newProject();
  await writeFile(join(elsewhere, 'books.txt'), 'kept');
  await symlink(elsewhere, join(folder, 'x'));
  await writeFile(join(folder, 'mine.csv'), 'kept');
  await writeFile(join(folder, 'cost_by_workspace-00000000.csv'), 'of an earlier version');
  const path = join(folder, '_manifest');
  const manifest = JSON.parse(await readFile(path, 'utf8')) as Manifest;
  const names = ['x/books.txt', 'mine.csv', 'cost_by_workspace-00000000.csv'];
  const others = names.map((name) => ({ ...manifest.files[0], name, format: 'zzz' }));
  await writeFile(path, JSON.stringify({ ...manifest, files: [...manifest.files, ...others] }));
  const again = ['report', 'cost_by_workspace', '--dir', dir, '--month', '2026-09', '--now', now, '--format', 'csv'];
  expect((await runCli(again)).exitCode).toBe(0);
  expect(await readFile(join(elsewhere, 'books.txt'), 'utf8')).toBe('kept');
  expect((await readdir(folder)).sort()).toEqual(['_manifest', 'latest.csv', 'mine.csv', 'x']);
});

test('what a sparse file claims to have is not read', async () => {
  const { dir, folder } = await exported('csv');
  const path = join(folder, '_manifest');
  // As an earlier version named files.
  await rename(join(folder, 'latest.csv'), join(folder, 'cost_by_workspace-00000000.csv'));
  await writeFile(path, (await readFile(path, 'utf8')).replace('"latest.csv"', '"cost_by_workspace-00000000.csv"'));
  await writeFile(join(folder, 'latest.csv'), '');
  await truncate(join(folder, 'latest.csv'), 2 ** 42);
  expect((await verify(dir)).said).toContainEqual(`bytes: ${2 ** 42}`);
});

test('the command for a revoked close is one command, whatever its manifest says', () => {
  const files = ['csv; id', 'excel'].map((format) => ({ format, language: '$(id)', rows: 1 }));
  const hostile = { report: 'x; curl evil', parameters: { month: '2026-10; id' }, files } as unknown as Manifest;
  expect(commandFor(hostile, 'x')).toBe(
    `report 'x; curl evil' --month '2026-10; id' --format 'csv; id,excel' '--excel=$(id)'`,
  );
});
