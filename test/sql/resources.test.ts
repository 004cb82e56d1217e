import { describe, expect, test } from 'vitest';
import { answer, type Given } from '../support/given-books.ts';

/** Hour of September and display name of the resource that it meets, by the hour. */
async function metBy(given: Given): Promise<(string | null)[][]> {
  const rows = (await answer(
    given,
    `select strftime(bucket_start, '%dT%H') as hour, display_name
    from costs_with_resources
    order by bucket_start, display_name`,
  )) as { hour: string; display_name: string | null }[];
  return rows.map(({ hour, display_name }) => [hour, display_name]);
}

function hours(...starts: string[]): NonNullable<Given['costs']> {
  return starts.map((start) => ({ bucket_start: `2026-09-${start}:00:00`, cost: '1' }));
}

const first = { display_name: 'first', valid_to: '2026-09-10 12:30:00', ended_at: '2026-09-11 02:00:00' };
const second = { display_name: 'second', valid_from: '2026-09-10 12:30:00', recorded_at: '2026-09-11 02:00:00' };

describe('resource_changes', () => {
  const changes =
    'select * exclude (account, workspace, resource_type, recorded_at) from resource_changes order by all';
  const runtime = { image: 'a', min_scale: '0', max_scale: '3' };
  const later = { ...runtime, max_scale: '10', changed_by: '2026-09-10 01:00:00', recorded_at: '2026-09-10 02:00:00' };

  test('has a row for each changed setting, and none for the first runtime', async () => {
    const rows = await answer({ resource_runtimes: [runtime, { ...later, run_number: 2 }] }, changes);
    expect(rows).toEqual([
      {
        ...{ resource_name: 'box', setting: 'max_scale', old_value: '3', new_value: '10' },
        ...{ changed_after: null, changed_by: '2026-09-10 01:00:00' },
      },
    ]);
  });

  test('a workspace with a token of its own has the listings of that token', async () => {
    const read = (token: string | null, run: number, at: string) => ({
      ...{ token_workspace: token, run_number: run, read_at: `2026-09-${at}` },
    });
    const listings = [
      ...[read(null, 1, '08 02:00:00'), read('north', 1, '08 02:00:09')],
      ...[read(null, 2, '10 02:00:00'), read('north', 2, '10 02:00:09')],
    ];
    const rows = await answer({ resource_runtimes: [runtime, { ...later, run_number: 2 }], listings }, changes);
    expect(rows).toMatchObject([{ changed_after: '2026-09-08 02:00:09' }]);
  });

  test('a resource that was created again, or was gone in between, has not changed', async () => {
    const state = { memory_mb: '1024', valid_from: '2026-09-01', valid_to: '2026-09-05' };
    const back = { memory_mb: '2048', valid_from: '2026-09-06' };
    expect(await answer({ resources: [state, back] }, changes)).toEqual([]);
    const again = { memory_mb: '2048', valid_from: '2026-09-05', created_at: '2026-09-05' };
    expect(await answer({ resources: [state, again] }, changes)).toEqual([]);
    const runtimes = [runtime, { ...later, created_at: '2026-09-10' }];
    expect(await answer({ resource_runtimes: runtimes }, changes)).toEqual([]);
  });
});

describe('costs_with_resources', () => {
  test('has every column of costs and the state of the resource', async () => {
    const [row] = await answer(
      {
        costs: [{ cost: '1.5', usage: '3' }],
        resources: [
          {
            display_name: '箱',
            external_id: 'ext-1',
            labels: '{"team":"core"}',
            region: 'eu-west-1',
            memory_mb: 4096,
            generation: 'mk3',
            status: 'TERMINATED',
          },
        ],
      },
      'select * from costs_with_resources',
    );
    expect(row).toEqual({
      account: 'acc_one',
      bucket_start: '2026-09-01 00:00:00',
      bucket_end: '2026-09-01 01:00:00',
      workspace: 'north',
      resource_type: 'sandbox',
      resource_name: 'box',
      resource_uuid: 'sbx-1',
      billing_dimension: 'sandbox_compute_runtime_gbs',
      unit: 'GB-seconds',
      cost: '1.500000000000',
      usage: '3.000000',
      series_id: '1',
      display_name: '箱',
      external_id: 'ext-1',
      labels: '{"team":"core"}',
      region: 'eu-west-1',
      memory_mb: 4096,
      generation: 'mk3',
      resource_status: 'TERMINATED',
    });
  });

  test('an hour has the state that was valid when it started, never a later one', async () => {
    const given = { costs: hours('10T11', '10T12', '10T13'), resources: [first, second] };
    expect(await metBy(given)).toEqual([
      ['10T11', 'first'],
      ['10T12', 'first'],
      ['10T13', 'second'],
    ]);
  });

  test('hours before a resource was first seen have its first state', async () => {
    const given = {
      costs: hours('01T00', '11T00'),
      resources: [{ ...first, valid_from: '2026-09-09', recorded_at: '2026-09-09' }, second],
    };
    expect(await metBy(given)).toEqual([
      ['01T00', 'first'],
      ['11T00', 'second'],
    ]);
  });

  test('hours before a resource was created do not belong to it', async () => {
    const given = {
      costs: hours('01T00', '09T05', '09T06'),
      resources: [{ display_name: 'new', created_at: '2026-09-09 05:40:00', valid_from: '2026-09-09 05:40:00' }],
    };
    expect(await metBy(given)).toEqual([
      ['01T00', null],
      ['09T05', 'new'],
      ['09T06', 'new'],
    ]);
  });

  test('hours after a resource is gone have no state', async () => {
    expect(await metBy({ costs: hours('10T12', '10T13'), resources: [first] })).toEqual([
      ['10T12', 'first'],
      ['10T13', null],
    ]);
  });

  test('a new resource of a name replaces the earlier one, even if that is still listed', async () => {
    const old = { display_name: 'old', created_at: '2026-08-01', valid_from: '2026-08-01', status: 'TERMINATED' };
    const oldRenamed = { ...old, display_name: 'old, renamed', valid_from: '2026-09-12' };
    const anew = { display_name: 'anew', created_at: '2026-09-09 05:10:00', valid_from: '2026-09-09 05:10:00' };
    const given = {
      costs: hours('09T04', '09T05', '13T00'),
      resources: [{ ...old, valid_to: '2026-09-12', ended_at: '2026-09-12' }, oldRenamed, anew],
    };
    expect(await metBy(given)).toEqual([
      ['09T04', 'old'],
      ['09T05', 'anew'],
      ['13T00', 'anew'],
    ]);
  });

  test('a cost with a UUID matches only a resource with the same UUID', async () => {
    const given = {
      costs: hours('10T00'),
      resources: [
        { display_name: 'other', resource_uuid: 'sbx-2', created_at: '2026-09-05', valid_from: '2026-09-05' },
        { display_name: 'same', resource_uuid: 'sbx-1', created_at: '2026-09-01' },
      ],
    };
    expect(await metBy(given)).toEqual([['10T00', 'same']]);
    expect(await metBy({ ...given, resources: given.resources.slice(0, 1) })).toEqual([['10T00', null]]);
  });

  test('a cost without a workspace matches a resource only if a single workspace has the name', async () => {
    const costs = [{ workspace: null, cost: '1' }];
    expect(await metBy({ costs, resources: [{ display_name: 'mine' }] })).toEqual([['01T00', 'mine']]);
    const twice = [{ display_name: 'mine' }, { display_name: 'theirs', workspace: 'south' }];
    expect(await metBy({ costs, resources: twice })).toEqual([['01T00', null]]);
  });

  test('another account, workspace, type or name is another resource', async () => {
    const others = [
      { account: 'acc_two' },
      { workspace: 'south' },
      { resource_type: 'agent' },
      { resource_name: 'bo' },
    ];
    for (const other of others) {
      expect(await metBy({ costs: hours('01T00'), resources: [{ display_name: 'x', ...other }] })).toEqual([
        ['01T00', null],
      ]);
    }
  });

  test('costs of unlisted resources keep their own columns', async () => {
    const rows = await answer(
      {
        costs: [
          { resource_type: 'volume', resource_name: 'disk', cost: '2' },
          { resource_name: null, cost: '3' },
        ],
      },
      'select resource_name, labels, resource_status, cost from costs_with_resources order by cost',
    );
    expect(rows).toEqual([
      { resource_name: 'disk', labels: null, resource_status: null, cost: '2.000000000000' },
      { resource_name: null, labels: null, resource_status: null, cost: '3.000000000000' },
    ]);
  });
});
