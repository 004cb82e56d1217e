import { describe, expect, test } from 'vitest';
import { deploymentSentences } from '../../src/anomalies/deployment-words.ts';
import { deploymentsBefore, deploymentsOf } from '../../src/anomalies/deployments.ts';
import { decodeDeployments, maxEvents } from '../../src/fetch/resource-events.ts';
import type { SqlRow } from '../../src/warehouse/store/index.ts';

function event(time: string, status: string | null, revision: string | null, more: SqlRow = {}): SqlRow {
  return {
    workspace: 'prod',
    resource_type: 'agent',
    resource_name: 'foo',
    happened_after: time,
    happened_by: time,
    is_event: true,
    event_type: 'deployment',
    status,
    message: null,
    revision,
    settings: null,
    ...more,
  };
}

function change(after: string, by: string, revision: string | null, ...settings: (string | null)[][]): SqlRow {
  const list = settings.map(([name, from, to]) => ({ name, from, to }));
  return event(by, null, revision, { happened_after: after, is_event: false, settings: JSON.stringify(list) });
}

const memory = ['memory_mb', '2048', '4096'];

describe('deployments of a resource', () => {
  test('an event on the way is left out once its deployment has ended', () => {
    const shown = deploymentsOf([
      event('2026-10-07T14:00:00Z', 'UPLOADING', '7'),
      event('2026-10-07T14:02:00Z', 'DEPLOYED', '7'),
      event('2026-10-07T15:00:00Z', 'BUILDING', '8'),
      event('2026-10-07T16:00:00Z', 'DELETING', '7', { resource_name: 'bar' }),
    ]);
    expect(shown.map(({ by, revision }) => [by, revision])).toEqual([
      ['2026-10-07T16:00:00Z', '7'],
      ['2026-10-07T15:00:00Z', '8'],
      ['2026-10-07T14:02:00Z', '7'],
    ]);
  });

  test('settings that changed with a revision belong to its event, without its image', () => {
    const [shown, ...others] = deploymentsOf([
      event('2026-10-07T13:52:00Z', 'UPLOADING', '7'),
      event('2026-10-07T14:02:00Z', 'DEPLOYED', '7'),
      change('2026-10-07T03:00:00Z', '2026-10-07T13:52:00Z', '7', memory, ['revision', '6', '7'], ['image', 'a', 'b']),
    ]);
    expect(others).toEqual([]);
    expect(shown).toMatchObject({
      event: { status: 'DEPLOYED' },
      settings: [{ name: 'memory_mb', from: '2048', to: '4096' }],
    });
  });

  test('settings that changed without an event keep their time range', () => {
    const [shown] = deploymentsOf([
      event('2026-10-05T14:02:00Z', 'DEPLOYED', '7'),
      change('2026-10-07T03:00:00Z', '2026-10-08T03:00:00Z', null, memory),
    ]);
    expect(shown).toMatchObject({ after: '2026-10-07T03:00:00Z', by: '2026-10-08T03:00:00Z', revision: null });
  });
});

describe('deployments before an anomaly', () => {
  const firstHour = '2026-10-07T17:00:00Z';

  test('an alert names the event, its distance and the changed settings', () => {
    const before = deploymentsBefore(
      [
        event('2026-10-07T14:02:00Z', 'DEPLOYED', '7'),
        change('2026-10-07T03:00:00Z', '2026-10-07T14:02:00Z', '7', memory),
      ],
      firstHour,
      ['foo'],
    );
    expect(deploymentSentences(before)).toEqual([
      'In the 48 hours before: 2026-10-07 14:02 UTC deployed revision 7 (prod/agent/foo), 3 hours before; memory 2048 → 4096 MB.',
    ]);
  });

  test('the main driver comes first, then what took effect, and the rest is counted', () => {
    const before = deploymentsBefore(
      [
        event('2026-10-07T16:30:00Z', 'DEPLOYED', '9', { resource_name: 'bar' }),
        event('2026-10-07T17:20:00Z', 'FAILED', '8'),
        event('2026-10-06T17:20:00Z', 'DEPLOYED', '7'),
        event('2026-10-06T12:00:00Z', null, null, { event_type: 'quota' }),
        event('2026-10-06T11:00:00Z', null, null, { event_type: 'quota' }),
      ],
      firstHour,
      ['foo', 'bar'],
    );
    expect(before.deploymentCount).toBe(5);
    const sentences = deploymentSentences(before);
    expect(sentences[0]).toContain('deployed revision 7 (prod/agent/foo), 24 hours before');
    expect(sentences[1]).toContain('failed to deploy revision 8 (prod/agent/foo), in its first hour');
    expect(sentences.at(-1)).toBe('And 2 more before it.');
    expect(sentences).toHaveLength(4);
  });

  test('a change between two listings has no distance', () => {
    const rows = [change('2026-10-06T03:00:00Z', '2026-10-08T03:00:00Z', null, memory, ['region', null, 'eu-1'])];
    expect(deploymentSentences(deploymentsBefore(rows, firstHour, ['foo']))).toEqual([
      'In the 48 hours before: between 2026-10-06 03:00 and 2026-10-08 03:00 UTC changed memory 2048 → 4096 MB, region none → eu-1 (prod/agent/foo).',
    ]);
  });

  test('nothing is said if nothing was deployed', () => {
    expect(deploymentSentences(deploymentsBefore([], firstHour, ['foo']))).toEqual([]);
  });

  test('an anomaly stores at most ten deployments, with short messages', () => {
    const rows = Array.from({ length: 30 }, (_, index) =>
      event(`2026-10-07T14:${String(index).padStart(2, '0')}:00Z`, 'DEPLOYED', `${index}`, {
        message: 'x'.repeat(999),
      }),
    );
    const before = deploymentsBefore(rows, firstHour, ['foo']);
    expect(before).toMatchObject({ deploymentCount: 30 });
    expect(before.deployments).toHaveLength(10);
    expect(before.deployments[0]).toMatchObject({ revision: '29', event: { message: 'x'.repeat(200) } });
  });
});

describe('the deployment history of a listed resource', () => {
  const item = (more: object) => ({ metadata: { name: 'foo' }, ...more });

  test.each([
    ['no events', {}],
    ['null', { events: null, spec: null }],
    ['empty texts', { events: [], spec: { revision: { active: '' }, runtime: { image: '', minScale: null } } }],
  ])('%s are nothing strange', (_, more) => {
    expect(decodeDeployments(item(more))).toEqual({
      events: [],
      runtime: { image: undefined, revision: undefined, minScale: undefined, maxScale: undefined },
      strange: [],
    });
  });

  test('fields of an unexpected type count as missing and are named', () => {
    const { events, strange } = decodeDeployments(
      item({
        events: [{ time: '2026-10-07T14:00:00Z', status: 7, message: { a: 1 } }, { time: 'yesterday' }, null],
        spec: { revision: 'r7', runtime: { minScale: '2', maxScale: -1 } },
      }),
    );
    expect(events).toMatchObject([{ time: '2026-10-07T14:00:00Z', status: undefined, message: undefined }]);
    expect([...strange].sort()).toEqual([
      'events.message',
      'events.status',
      'events.time',
      'spec.runtime.maxScale',
      'spec.runtime.minScale',
    ]);
    expect(decodeDeployments(item({ events: 'none' })).strange).toEqual(['events']);
  });

  test('the newest events are stored, with bounded texts', () => {
    const many = Array.from({ length: maxEvents + 50 }, (_, index) => ({
      time: new Date(Date.UTC(2026, 0, 1) + index * 60_000).toISOString(),
      message: 'é\ud800'.repeat(5_000),
    }));
    const { events } = decodeDeployments(item({ events: many }));
    expect(events).toHaveLength(maxEvents);
    expect(events[0]?.time).toBe('2026-01-01T04:09:00Z');
    expect(events[0]?.message).toHaveLength(1_000);
  });

  test.each([
    ['https://me:S3CRET@registry.example/foo:1', 'https://registry.example/foo:1'],
    ['me:S3CRET@registry.example/foo:1', 'registry.example/foo:1'],
    ['registry.example:5000/foo@sha256:abc', 'registry.example:5000/foo@sha256:abc'],
  ])('an image is stored without credentials: %s', (image, stored) => {
    expect(decodeDeployments(item({ spec: { runtime: { image } } })).runtime.image).toBe(stored);
  });
});
