import { describe, expect, test } from 'vitest';
import { expositionText, type Metric, withSamples } from '../../src/metrics/exposition.ts';
import { parseExposition } from '../support/exposition.ts';

function gauge(samples: Metric['samples'], name = 'costbook_thing'): Metric {
  return { name, type: 'gauge', help: 'A thing.', samples };
}

describe('expositionText(metrics)', () => {
  test('describes each metric before its samples', () => {
    expect(
      expositionText([
        gauge([{ labels: {}, value: 1 }]),
        gauge([{ labels: { a: 'b', c: 'd' }, value: '0.10' }], 'other'),
      ]),
    ).toBe(
      '# HELP costbook_thing A thing.\n# TYPE costbook_thing gauge\ncostbook_thing 1\n' +
        '# HELP other A thing.\n# TYPE other gauge\nother{a="b",c="d"} 0.10\n',
    );
  });

  test('names from outside cannot end a label, a line or an escape', () => {
    const names = ['plain', 'a"} 7\nforged 1\n', '\\', '\\n', '"', 'a\\"b\r\n', '{job="x"}', '', 'é 💰'];
    const text = expositionText([gauge(names.map((account, value) => ({ labels: { account }, value })))]);
    const read = parseExposition(text).get('costbook_thing');
    expect(read?.samples.map(({ labels }) => labels['account'])).toEqual(names);
    expect(read?.samples.map(({ value }) => value)).toEqual(names.map((_, value) => value));
  });

  test('leaves out a metric without samples', () => {
    expect(expositionText([gauge([])])).toBe('');
  });

  test('writes at most 500 samples of a metric, and counts those left out', () => {
    const many = Array.from({ length: 503 }, (_, index) => ({ labels: { account: `a${index}` }, value: index }));
    const read = parseExposition(expositionText([gauge(many), gauge(many.slice(0, 500), 'other')]));
    expect(read.get('costbook_thing')?.samples).toHaveLength(500);
    expect(read.get('other')?.samples).toHaveLength(500);
    expect(read.get('costbook_metrics_samples_left_out')?.samples).toEqual([
      { name: 'costbook_metrics_samples_left_out', labels: { metric: 'costbook_thing' }, value: 3 },
    ]);
  });
});

describe('withSamples(text, metrics)', () => {
  const names = ['plain', 'a"} 7', '\\', '$1', 'é 💰'];
  const before = expositionText([
    gauge(names.map((job, value) => ({ labels: { job }, value }))),
    gauge([{ labels: {}, value: 5 }], 'costbook_thing_more'),
  ]);

  test.each(names)('replaces the sample with the labels %s and leaves all others', (job) => {
    const read = parseExposition(withSamples(before, [gauge([{ labels: { job }, value: 70 }])]));
    const values = read.get('costbook_thing')?.samples.map(({ labels, value }) => [labels['job'], value]);
    const expected = names.map((name, value) => [name, name === job ? 70 : value]);
    expect(new Map(values as [string, number][])).toEqual(new Map(expected as [string, number][]));
    expect(values).toHaveLength(names.length);
    expect(read.get('costbook_thing_more')?.samples).toMatchObject([{ labels: {}, value: 5 }]);
  });

  test('adds samples that are not in the text yet, also to an empty text', () => {
    const added = withSamples('', [gauge([{ labels: {}, value: 1 }])]);
    expect(added).toBe(expositionText([gauge([{ labels: {}, value: 1 }])]));
    const more = parseExposition(withSamples(before, [gauge([{ labels: {}, value: 1 }], 'other')]));
    expect([...more.keys()]).toEqual(['costbook_thing', 'costbook_thing_more', 'other']);
  });
});
