import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { exportPlace, hiveEncode, isDataName, latestName, segment } from '../../src/reports/exports/export-names.ts';
import { NoManifestError, parseManifest } from '../../src/reports/exports/manifest.ts';

const month = { name: 'month', display: '2026-10', isDefault: false, hasDefault: true };

describe('the folder of an export', () => {
  function folder(...args: Parameters<typeof exportPlace>): string {
    return exportPlace(...args).folder;
  }

  test('is that of the report, with its period below', () => {
    expect(folder('/x', 'idle', [])).toBe(join('/x', 'idle'));
    expect(folder('/x', 'focus', [month])).toBe(join('/x', 'focus', 'BILLING_PERIOD=2026-10'));
  });

  test("starts with parameters that differ from the default, so that the report's own folder has each period once", () => {
    const workspace = { name: 'workspace', display: 'a/b', isDefault: false, hasDefault: true };
    const asOf = Date.parse('2026-11-03T01:02:03.004Z');
    expect(folder('/x', 'focus', [month, workspace], asOf)).toBe(
      join('/x', 'as-of=2026-11-03T010203.004Z', 'workspace=a%2Fb', 'focus', 'BILLING_PERIOD=2026-10'),
    );
    expect(folder('/x', 'focus', [month, { ...workspace, isDefault: true }])).toBe(folder('/x', 'focus', [month]));
    expect(folder('/x', 'focus', [month], 'now')).toContain(join('as-of=now', 'focus'));
  });

  test('is strictly below the root, whatever a report is called', () => {
    for (const name of ['..', '.', '', 'a/../..', '/etc', '../x', 'a\0b']) {
      expect(() => folder('/x', name, [month]), name).toThrow('is no name of a folder below');
    }
  });

  test('is below the report for a parameter without a default', () => {
    const metric = { name: 'metric', display: 'in/orders.csv', isDefault: false, hasDefault: false };
    expect(folder('/x', 'unit_economics', [month, metric])).toBe(
      join('/x', 'unit_economics', 'metric=in%2Forders.csv', 'BILLING_PERIOD=2026-10'),
    );
  });
});

describe('a folder’s name', () => {
  test('writes characters that are special in paths, URLs and globs as %XX, and no others', () => {
    expect(hiveEncode('a/b=c%d*e?f[g]{h}"i\'j:k#l\\m\n+|')).toBe(
      'a%2Fb%3Dc%25d%2Ae%3Ff%5Bg%5D%7Bh%7D%22i%27j%3Ak%23l%5Cm%0A%2B%7C',
    );
    expect(hiveEncode('Ärger und €, 100.5_-~')).toBe('Ärger und €, 100.5_-~');
    expect(decodeURIComponent(hiveEncode('50% a/b + ü'))).toBe('50% a/b + ü');
  });

  test('is short enough for a file system, and different for each value', () => {
    const [one, other] = ['a', 'b'].map((last) => segment('workspace', 'é'.repeat(300) + last));
    expect(Buffer.byteLength(one ?? '')).toBeLessThan(255);
    expect(one).not.toBe(other);
  });
});

describe('names of files', () => {
  test('a data file has a stable name for people', () => {
    expect(latestName({ report: 'focus', parameters: {} }, 'focus-1a2b3c4d.parquet')).toBe('latest.parquet');
    expect(latestName({ report: 'focus', parameters: {} }, 'focus-metadata-1a2b3c4d.json')).toBe(
      'latest-metadata.json',
    );
    const october = { report: 'chargeback', parameters: { month: '2026-10' } };
    expect(latestName(october, 'chargeback-excel-1a2b3c4d.csv')).toBe('chargeback-2026-10.csv');
    expect(latestName({ ...october, parameters: {} }, 'chargeback-excel-1a2b3c4d.csv')).toBe('chargeback.csv');
    expect(latestName({ report: 'focus', parameters: {} }, 'focus-1a2b3c4d.txt')).toBeUndefined();
    expect(latestName({ report: 'focus', parameters: {} }, 'other-1a2b3c4d.csv')).toBeUndefined();
  });

  test('names of other programs are not mistaken for ours', () => {
    expect(
      ['focus-1a2b3c4d.csv', 'focus-metadata-1a2b3c4d.json'].filter((name) => isDataName('focus', name)),
    ).toHaveLength(2);
    const others = [
      'focus.csv',
      'focus-notes.csv',
      'focus-2026-1a2b3c4d.csv',
      'focused-1a2b3c4d.csv',
      'focus-1A2B3C4D.csv',
    ];
    expect(others.filter((name) => isDataName('focus', name))).toEqual([]);
  });
});

describe('a manifest', () => {
  const manifest = {
    manifest: 1,
    report: 'focus',
    parameters: {},
    asOf: '2026-11-01T00:00:00Z',
    closedAt: null,
    completeFrom: null,
    completeThrough: null,
    settledThrough: null,
    sqlSha256: 'ab',
    focusVersion: null,
    costColumn: 'cost',
    rows: 1,
    cost: '1.00',
    files: [{ name: 'a.csv', format: 'csv', bytes: 1, sha256: 'ab', rows: 1, cost: '1.00' }],
    previous: null,
  };

  test('is read back as it was written', () => {
    expect(parseManifest(JSON.stringify(manifest))).toEqual(manifest);
  });

  test.each([
    ['no JSON', '{', 'it is not JSON'],
    ['from another program', '{"name": "x"}', 'it has no "manifest": 1'],
    ['one without a count', JSON.stringify({ ...manifest, rows: '1' }), '"rows" is not an integer'],
    [
      'one that names a file elsewhere',
      JSON.stringify({ ...manifest, files: [{ ...manifest.files[0], name: '../../etc/passwd' }] }),
      '"files"[0]."name" points outside its folder',
    ],
  ])('that is %s is refused with a reason', (_, text, words) => {
    expect(() => parseManifest(text)).toThrow(NoManifestError);
    expect(() => parseManifest(text)).toThrow(words);
  });
});
