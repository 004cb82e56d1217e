// Second tier: Kills publications to an S3 server at every request.

import { createHash } from 'node:crypto';
import { cp, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { filesOfManifest } from '../../src/reports/exports/export-content.ts';
import { manifestNames } from '../../src/reports/exports/manifest.ts';
import type { ObjectStore } from '../../src/storage/store.ts';
import { newProject, runCli, startCli } from '../support/project.ts';
import { casesOf } from '../support/rounds.ts';
import {
  credentials,
  openStore,
  type S3Server,
  s3Program,
  secretKey,
  startFaultyStore,
  startS3,
} from '../support/s3-server.ts';
import { type TwoNights, twoNights } from '../support/two-nights.ts';

const program = s3Program();
Object.assign(process.env, credentials);
let server: S3Server;
let nights: TwoNights;
beforeAll(async () => {
  if (program === undefined) return;
  server = await startS3(program);
  nights = await twoNights();
});
afterAll(async () => server?.kill());

function environment(prefix: string, endpoint = server.url): Record<string, string> {
  return {
    ...credentials,
    COSTBOOK_EXPORTS_TO: `s3://books/${prefix}`,
    COSTBOOK_STORAGE_ENDPOINT: endpoint,
    COSTBOOK_STORAGE_TIMEOUT: '2s',
  };
}

function reader(prefix: string): Promise<ObjectStore> {
  return openStore({ endpoint: server.url, prefix });
}

/** The hash of each object that a reader of data takes for data, by key. */
async function hashesIn(store: ObjectStore): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for await (const { key } of store.list('')) {
    if (/(^|\/)[._][^/]*$/.test(key)) continue;
    const hash = createHash('sha256');
    for await (const piece of (await store.open(key)) ?? []) hash.update(piece as Buffer);
    found.set(key, hash.digest('hex'));
  }
  return found;
}

/** The hashes that the manifests of a local project name, by key. */
async function hashesOf(dir: string, folder: string): Promise<Map<string, string>> {
  const text = await readFile(join(dir, 'exports', folder, '_manifest'), 'utf8');
  return new Map(filesOfManifest('_manifest', text).map((file) => [`${folder}/${file.name}`, file.sha256]));
}

const reports = [
  { folder: 'lake', line: ['report', 'lake'] },
  {
    folder: 'cost_by_workspace/BILLING_PERIOD=2026-09',
    line: ['report', 'cost_by_workspace', '--month', '2026-09', '--format', 'csv,parquet'],
  },
] as const;

describe.skipIf(program === undefined).each(reports)('$folder, published to a store', ({ folder, line }) => {
  test('and killed at some requests: a reader sees each file whole, and the next run completes', async () => {
    const dir = await newProject();
    await nights.publish(dir, 'first');
    const faulty = await startFaultyStore(server.url);
    let kills = 0;
    // Only at some requests, from a drawn one on; COSTBOOK_CRASH_EVERY=1 kills at each.
    const every = Number(process.env['COSTBOOK_CRASH_EVERY'] ?? casesOf({ fixed: 9, fresh: 3 }));
    for (let at = 1 + (inject('seed') % every); ; at += every) {
      const prefix = `${folder.slice(0, 4)}-${at}`;
      const store = await reader(prefix);
      await nights.publish(dir, 'first');
      expect(await runCli([...line, '--dir', dir], environment(prefix))).toMatchObject({ exitCode: 0 });
      const old = await hashesOf(dir, folder);
      await nights.publish(dir, 'second');
      const begin = faulty.seen.length;
      const started = startCli([...line, '--dir', dir], environment(prefix, faulty.url));
      faulty.script = ({ number }) => {
        if (number !== begin + at) return undefined;
        started.process.kill('SIGKILL');
        return 'hang';
      };
      const { exitCode } = await started.ended;
      kills += exitCode === 0 ? 0 : 1;
      const now = await hashesOf(dir, folder);
      const seen = [...(await hashesIn(store))].filter(
        ([key]) => !manifestNames.includes(key.slice(key.lastIndexOf('/') + 1)),
      );
      const halves = seen.filter(([key, hash]) => hash !== old.get(key) && hash !== now.get(key));
      expect(halves, `request ${at}`).toEqual([]);
      faulty.script = () => undefined;
      expect(await runCli([...line, '--dir', dir], environment(prefix))).toMatchObject({ exitCode: 0 });
      const whole = [...(await hashesIn(store))].filter(
        ([key]) => !manifestNames.includes(key.slice(key.lastIndexOf('/') + 1)),
      );
      expect(new Map(whole), `request ${at}`).toEqual(now);
      if (exitCode === 0) break;
    }
    expect(kills).toBeGreaterThan(12 / every);
    await faulty.close();
  }, 900_000);
});

describe.skipIf(program === undefined)('a store', () => {
  test('gets exports of the configuration or of --out, and verify compares it with its manifest and the local one', async () => {
    const dir = await newProject();
    await nights.publish(dir, 'first');
    const line = ['report', 'cost_by_workspace', '--month', '2026-09', '--format', 'csv', '--dir', dir];
    const first = await runCli([...line, '--out', 's3://books/named'], environment('configured'));
    expect(first).toMatchObject({ exitCode: 0, stderr: '' });
    expect(first.stdout).toContain('s3://books/named/cost_by_workspace/BILLING_PERIOD=2026-09: 1 file sent');
    const again = await runCli([...line, '--out', 's3://books/named'], environment('configured'));
    expect(again.stdout).toContain('s3://books/named/cost_by_workspace/BILLING_PERIOD=2026-09 (unchanged)');
    const verified = await runCli(['verify', 's3://books/named', '--dir', dir], environment('named'));
    expect(verified).toMatchObject({ exitCode: 0, stderr: '' });
    expect(verified.stdout).toContain('1 copy in s3://books/named: no differences');
    expect(await runCli(['verify', '--dir', dir, '--json'], environment('named'))).toMatchObject({ exitCode: 0 });

    const [key = ''] = [...(await hashesIn(await reader('named'))).keys()].filter((name) =>
      name.endsWith('latest.csv'),
    );
    const object = join(server.bucketFolder('books'), 'named', key);
    const text = await readFile(object, 'utf8');
    await writeFile(
      object,
      text.replace(/\d/, (digit) => String((Number(digit) + 1) % 10)),
    );
    const damaged = await runCli(['verify', 's3://books/named', '--dir', dir], environment('named'));
    expect(damaged.exitCode).toBe(4);
    expect(damaged.stdout).toMatch(
      /DIFFERS.*\n {2}cost_by_workspace\/.*latest\.csv: sha256: found [0-9a-f]+, expected/,
    );
  });

  test('with an export of later books keeps it when books restored from a backup publish, until they have caught up', async () => {
    const [dir, restored] = [await newProject(), await newProject()];
    const line = ['report', 'cost_by_workspace', '--month', '2026-09', '--format', 'csv', '--dir'];
    const env = environment('restored');
    await nights.publish(dir, 'first');
    expect(await runCli([...line, dir], env)).toMatchObject({ exitCode: 0 });
    await cp(dir, restored, { recursive: true });
    await nights.publish(dir, 'second');
    expect(await runCli([...line, dir], env)).toMatchObject({ exitCode: 0 });
    const later = await hashesIn(await reader('restored'));

    const refused = await runCli([...line, restored], env);
    expect(refused.exitCode).toBe(4);
    expect(refused.stderr).toMatch(/_manifest is of later books.* Nothing was sent or removed/);
    expect(await hashesIn(await reader('restored'))).toEqual(later);
    // Books that have caught up publish again.
    await nights.publish(restored, 'second');
    expect(await runCli([...line, restored], env)).toMatchObject({ exitCode: 0 });
    await nights.publish(restored, 'first');
    expect(await runCli([...line, restored], env)).toMatchObject({ exitCode: 0 });
  });

  test('that cannot be used is named, with what to do, and without a secret', async () => {
    const dir = await newProject();
    await nights.publish(dir, 'first');
    const line = ['report', 'cost_by_workspace', '--month', '2026-09', '--format', 'csv', '--dir', dir];
    const { AWS_ACCESS_KEY_ID: _, AWS_SECRET_ACCESS_KEY: __, ...without } = environment('x');
    const cases: readonly [Record<string, string>, number, RegExp][] = [
      [without, 2, /found no credentials, expected some. Give Costbook credentials by the AWS standard chain/],
      [{ ...environment('x'), AWS_SECRET_ACCESS_KEY: 'wrong-secret-of-a-test' }, 3, /403 SignatureDoesNotMatch\./],
      [{ ...environment('x'), COSTBOOK_EXPORTS_TO: 's3://missing/x' }, 2, /found no such bucket. Create it/],
      [
        { ...environment('x'), COSTBOOK_EXPORTS_TO: 's3://Books/x' },
        2,
        /COSTBOOK_EXPORTS_TO: found "s3:\/\/Books\/x", expected the name of a bucket/,
      ],
      [environment('x', 'http://127.0.0.1:9'), 3, /cannot be reached \(connect ECONNREFUSED 127\.0\.0\.1:9\)/],
      [
        environment('x', 'http://169.254.169.254'),
        2,
        /found 169\.254\.169\.254, which is a reserved address or a metadata service/,
      ],
    ];
    for (const [env, exitCode, words] of cases) {
      const ended = await startCli(line, env).ended; // its client reads credentials from the process
      expect(ended.exitCode, ended.stderr).toBe(exitCode);
      expect(ended.stderr).toMatch(words);
      expect(ended.stderr + ended.stdout).not.toContain(secretKey);
      expect(ended.stderr + ended.stdout).not.toContain('wrong-secret-of-a-test');
    }
  });
});
