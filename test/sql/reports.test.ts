import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { orderedQuery, readReports } from '../../src/reports/questions/catalogue.ts';
import { shape } from '../../src/reports/questions/shape.ts';
import { givenBooks } from '../support/given-books.ts';
import { bind, reported } from '../support/reported.ts';

describe('cost_by_workspace', () => {
  test('sums a month by workspace and billing dimension; cost without a workspace comes last', async () => {
    const rows = await reported(
      'cost_by_workspace',
      {
        costs: [
          { bucket_start: '2026-09-01 00:00:00', cost: '0.1', usage: '1' },
          {
            bucket_start: '2026-09-30 23:00:00',
            cost: '0.2',
            usage: '2',
            resource_name: 'other',
            resource_uuid: 'sbx-2',
          },
          { bucket_start: '2026-09-10 00:00:00', cost: '7', workspace: 'atlas' },
          { bucket_start: '2026-09-10 00:00:00', cost: '5', workspace: null, resource_uuid: null },
          { bucket_start: '2026-09-10 00:00:00', cost: '2', billing_dimension: 'sandbox_image_storage_gbs' },
          { bucket_start: '2026-08-31 23:00:00', cost: '100' },
          { bucket_start: '2026-10-01 00:00:00', cost: '100' },
          { bucket_start: '2026-09-10 00:00:00', cost: '1', account: 'acc_aaa' },
        ],
      },
      { month: '2026-09' },
    );
    function row(cells: Record<string, string | null>): Record<string, string | null> {
      return {
        account: 'acc_one',
        month: '2026-09-01',
        workspace: 'north',
        resource_type: 'sandbox',
        billing_dimension: 'sandbox_compute_runtime_gbs',
        unit: 'GB-seconds',
        usage: '0.000000',
        ...cells,
      };
    }
    expect(rows).toEqual([
      row({ account: 'acc_aaa', cost: '1.000000000000' }),
      row({ workspace: 'atlas', cost: '7.000000000000' }),
      row({ usage: '3.000000', cost: '0.300000000000' }),
      row({ billing_dimension: 'sandbox_image_storage_gbs', cost: '2.000000000000' }),
      row({ workspace: null, cost: '5.000000000000' }),
    ]);
  });

  test('is empty for a month without cost', async () => {
    expect(await reported('cost_by_workspace', { costs: [{ cost: '1' }] }, { month: '2026-10' })).toEqual([]);
  });
});

describe('lake', () => {
  test('has every hour of every account once, with the month in its folder name', async () => {
    const hour = {
      account: 'acc_one',
      month: '2026-09',
      workspace: 'north',
      resource_type: 'sandbox',
      resource_name: 'box',
      resource_uuid: 'sbx-1',
      billing_dimension: 'sandbox_compute_runtime_gbs',
      unit: 'GB-seconds',
      usage: '0.000000',
    };
    expect(
      await reported('lake', {
        costs: [
          { bucket_start: '2026-10-01 00:00:00', cost: '-2', workspace: null },
          { bucket_start: '2026-09-30 23:00:00', cost: '0.000000000001', usage: '3' },
          { bucket_start: '2026-09-30 23:00:00', cost: '4', account: 'acc_aaa' },
        ],
      }),
    ).toEqual([
      {
        ...hour,
        account: 'acc_aaa',
        bucket_start: '2026-09-30 23:00:00',
        bucket_end: '2026-10-01 00:00:00',
        cost: '4.000000000000',
      },
      {
        ...hour,
        bucket_start: '2026-09-30 23:00:00',
        bucket_end: '2026-10-01 00:00:00',
        cost: '0.000000000001',
        usage: '3.000000',
      },
      {
        ...hour,
        month: '2026-10',
        bucket_start: '2026-10-01 00:00:00',
        bucket_end: '2026-10-01 01:00:00',
        workspace: null,
        cost: '-2.000000000000',
      },
    ]);
  });
});

/** Values that fit every built-in report's period; what else it needs by name. */
const period: Readonly<Record<string, string>> = {
  month: '2026-09',
  from: '2026-09-01',
  to: '2026-10-01',
  metric: fileURLToPath(new URL('../support/metric.csv', import.meta.url)),
};

test('every report has test cases in this folder', async () => {
  const here = fileURLToPath(new URL('.', import.meta.url));
  const texts = await Promise.all((await readdir(here)).map((name) => readFile(join(here, name), 'utf8')));
  const named = texts.flatMap((text) =>
    [...text.matchAll(/(?:describe|reported)\(\s*'(\w+)'/g)].map(([, name]) => name),
  );
  const names = (await readReports('/nowhere')).map(({ name }) => name);
  expect(names.filter((name) => !named.includes(name))).toEqual([]);
});

test('no report returns 128-bit integers, which readers would take for decimals', async () => {
  const { connection, close } = await givenBooks({ accounts: [{}], covered: [{ window_end: '2026-10-01' }] });
  try {
    for (const report of await readReports('/nowhere')) {
      const given = report.parameters.flatMap(({ name }) => (period[name] === undefined ? [] : [[name, period[name]]]));
      const shaped = await shape(connection, report, await bind(report, connection, Object.fromEntries(given)));
      const { columns, chunks } = await connection.stream(orderedQuery(shaped.report), shaped.parameters);
      for await (const _ of chunks);
      expect([report.name, columns.filter(({ type }) => /HUGEINT|DECIMAL\(\d+,0\)/.test(type))]).toEqual([
        report.name,
        [],
      ]);
    }
  } finally {
    close();
  }
});

test('every report is ordered by columns that identify its rows', async () => {
  const costs = ['north', 'south'].flatMap((workspace) =>
    ['sbx-1', 'sbx-2', null].map((resource_uuid) => ({ workspace, resource_uuid, cost: '1' })),
  );
  const { connection, close } = await givenBooks({ costs, accounts: [{}], covered: [{ window_end: '2026-10-01' }] });
  try {
    for (const report of await readReports('/nowhere')) {
      expect(report.grain.length).toBeGreaterThan(0);
      const given = report.parameters.flatMap(({ name }) => (period[name] === undefined ? [] : [[name, period[name]]]));
      const shaped = await shape(connection, report, await bind(report, connection, Object.fromEntries(given)));
      const alike = await connection.rows(
        `select ${report.grain.join(', ')} from (\n${orderedQuery(shaped.report)}\n) as report group by all having count(*) > 1`,
        shaped.parameters,
      );
      expect(alike).toEqual([]);
    }
  } finally {
    close();
  }
});
