import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { isPlainToOthers } from '../../src/base/addresses.ts';
import { exitCodeOf } from '../../src/base/errors.ts';
import { parseConfig } from '../../src/config/config.ts';
import { parseDestination, parseEndpoint } from '../../src/config/storage-settings.ts';
import { filesOfManifest } from '../../src/reports/exports/export-content.ts';
import { sha256OfText } from '../../src/reports/exports/index.ts';
import { parseLease } from '../../src/storage/lease.ts';
import { mirrorExport } from '../../src/storage/mirror.ts';
import { type NamedFile, planMirror, type RemoteState } from '../../src/storage/mirror-plan.ts';
import { storageFailure } from '../../src/storage/storage-error.ts';
import { memoryStore } from '../support/memory-store.ts';
import { newProject } from '../support/project.ts';

describe('parseDestination(value)', () => {
  test.each([
    ['s3://finance', { bucket: 'finance', prefix: '' }],
    ['s3://finance/', { bucket: 'finance', prefix: '' }],
    ['s3://finance/costs/acme/', { bucket: 'finance', prefix: 'costs/acme' }],
    ['s3://my.bucket-1/Ünter Ordner', { bucket: 'my.bucket-1', prefix: 'Ünter Ordner' }],
  ])('%s', (text, expected) => {
    expect(parseDestination(text)).toMatchObject(expected);
  });

  test.each([
    ['s3://', 'expected the name of a bucket'],
    ['s3://Finance/x', 'expected the name of a bucket'],
    ['/srv/finance', 'expected the name of a bucket'],
    ['https://finance.s3.amazonaws.com/x', 'expected the name of a bucket'],
    ['s3://finance//x', 'one slash between them'],
    ['s3://finance/a/../b', 'one slash between them'],
    ['s3://finance/a?versionId=1', 'one slash between them'],
    ['s3://finance/a\nb', 'one slash between them'],
  ])('%j is refused', (text, words) => {
    expect(() => parseDestination(text)).toThrow(words);
  });

  test('credentials in it are refused without being quoted', () => {
    expect(() => parseDestination('s3://AKIAEXAMPLE:verysecret@finance/x')).toThrow(/^found credentials or a port/);
    expect(() => parseDestination('s3://AKIAEXAMPLE:verysecret@finance/x')).not.toThrow(/verysecret/);
  });
});

describe('parseEndpoint(value)', () => {
  test.each([
    'http://169.254.169.254',
    'http://169.254.170.2/v2',
    'http://2852039166',
    'http://0xA9.0xFE.0xA9.0xFE',
    'http://[fd00:ec2::254]:80',
    'http://[::ffff:169.254.169.254]',
    'http://metadata.google.internal.',
    'https://100.100.100.200',
  ])('%s hands out credentials and is refused', (text) => {
    expect(() => parseEndpoint(text)).toThrow('a metadata service that hands out credentials');
  });

  test('plain http is only quiet on this machine', () => {
    expect(
      ['http://127.0.0.1:9000', 'http://localhost:9000', 'https://s3.example.com'].filter(isPlainToOthers),
    ).toEqual([]);
    expect(isPlainToOthers(parseEndpoint('http://minio.example.com:9000/'))).toBe(true);
  });
});

describe('the configuration', () => {
  function parse(text: string, env: Record<string, string> = {}) {
    return parseConfig({ text, file: 'costbook.yaml', env, now: Date.UTC(2026, 10, 21), requireAccounts: false });
  }

  test('names the stores of exports and landing pages, and how to reach them', () => {
    const text =
      'exports: { to: s3://finance/costs }\nlanding: { archive: s3://finance/landing }\n' +
      'storage: { endpoint: https://s3.example.com, region: eu-central-1, pathStyle: false, serverSideEncryption: aws:kms, kmsKeyId: alias/costs }\n';
    const { exportsTo, landing, storage } = parse(text, { COSTBOOK_STORAGE_TIMEOUT: '5s' });
    expect([exportsTo?.url, landing.archive?.url]).toEqual(['s3://finance/costs', 's3://finance/landing']);
    expect(storage).toEqual({
      ...{ endpoint: 'https://s3.example.com', region: 'eu-central-1', pathStyle: false, timeoutMs: 5000 },
      ...{ serverSideEncryption: 'aws:kms', kmsKeyId: 'alias/costs' },
    });
  });

  test('refuses a key of an account there, and does not quote it', () => {
    const text = 'storage:\n  accessKeyId: AKIAEXAMPLE\n  secretAccessKey: verysecret\n';
    expect(() => parse(text)).toThrow(/unknown key "secretAccessKey"/);
    expect(() => parse(text)).not.toThrow(/verysecret|AKIAEXAMPLE/);
  });
});

describe('planMirror(content, remote)', () => {
  const file = (name: string, sha256: string, bytes = 3): NamedFile => ({ name, bytes, sha256 });
  function remote(files: readonly NamedFile[], isFinished: boolean, more: readonly string[] = []): RemoteState {
    const objects = [...files, ...more.map((name) => file(name, ''))].map(
      ({ name, bytes }) => [name, { key: name, bytes, etag: `of ${name}` }] as const,
    );
    return { named: files, objects: new Map(objects), isFinished };
  }
  const content = { manifestName: 'm', manifest: '{}', files: [file('a', '1'), file('b', '2'), file('c', '3', 4)] };
  const names = (files: readonly NamedFile[]) => files.map(({ name }) => name);

  test('sends what differs in hash or size, and what is missing', () => {
    const plan = planMirror(content, remote([file('a', '1'), file('b', 'x'), file('c', '3', 5)], true), []);
    expect([names(plan.same), names(plan.unsure), names(plan.toSend)]).toEqual([['a'], [], ['b', 'c']]);
    expect(names(planMirror(content, remote([], true), []).toSend)).toEqual(['a', 'b', 'c']);
  });

  test('believes no manifest after a publication that did not finish', () => {
    const plan = planMirror(content, remote([file('a', '1'), file('b', '2')], false), []);
    expect([names(plan.same), names(plan.unsure), names(plan.toSend)]).toEqual([[], ['a', 'b'], ['c']]);
  });

  test('asks about what the new manifest does not name', () => {
    const plan = planMirror(content, remote([file('old', '9')], true, ['m', 'lease', 'stranger']), ['lease']);
    expect(plan.others).toEqual(['old', 'stranger']);
  });
});

test('a manifest that somebody put in a store has no object removed that another publication has sent', async () => {
  const [store, folder] = [memoryStore(), await newProject()];
  const send = (remote: string, ...names: readonly string[]) => {
    const files = names.map((name) => ({ name, bytes: 1, sha256: sha256OfText('x') }));
    const content = { manifestName: '_manifest', manifest: JSON.stringify({ files }), files };
    const filesOf = (text: string) => JSON.parse(text).files;
    const [signal, none] = [new AbortController().signal, () => undefined];
    return mirrorExport(store, { folder, content, remote, filesOf }, { signal, tell: none, progress: none });
  };
  for (const name of ['a', 'b']) await writeFile(join(folder, name), 'x');
  await send('all', 'a', 'b');
  await send('all/x=1', 'a');
  const forged = { files: [{ name: 'x=1/a', bytes: 1, sha256: sha256OfText('x') }] };
  await store.putText('all/_manifest', JSON.stringify(forged), {}, undefined);
  await send('all', 'a');
  expect([...store.objects.keys()].sort()).toEqual(['all/_manifest', 'all/a', 'all/x=1/_manifest', 'all/x=1/a']);
});

describe('filesOfManifest(name, text)', () => {
  test.each([
    ['not JSON', '{'],
    ['no list', '{"files":{}}'],
    ['a name outside', JSON.stringify({ files: [{ name: '../x', bytes: 1, sha256: 'a'.repeat(64) }] })],
    ['a name from the root', JSON.stringify({ files: [{ name: '/x', bytes: 1, sha256: 'a'.repeat(64) }] })],
    ['no hash', JSON.stringify({ files: [{ name: 'x', bytes: 1, sha256: 'a' }] })],
  ])('refuses %s', (_, text) => {
    expect(() => filesOfManifest('_manifest', text)).toThrow();
  });
});

describe('parseLease(text)', () => {
  test.each(['', 'null', '[]', '{"costbook":"lease"}', '{"by":"x"}'])('%j is none', (text) => {
    expect(parseLease(text)).toBeUndefined();
  });
});

describe('storageFailure(error, doing)', () => {
  const of = (name: string, status?: number) =>
    Object.assign(new Error('words'), {
      name,
      ...(status === undefined ? {} : { $metadata: { httpStatusCode: status } }),
    });
  test.each([
    [of('CredentialsProviderError'), 2],
    [of('NoSuchBucket', 404), 2],
    [of('AccessDenied', 403), 3],
    [of('SlowDown', 503), 3],
    [of('TimeoutError'), 3],
    [of('InternalError', 500), 3],
  ])('%s', (error, exitCode) => {
    const failure = storageFailure(error, 'store s3://a/b');
    expect(exitCodeOf(failure)).toBe(exitCode);
    expect(String(failure)).toMatch(/cannot store s3:\/\/a\/b: .+/);
  });
});
