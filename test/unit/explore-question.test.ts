import { describe, expect, test } from 'vitest';
import { literal } from '../../src/serve/books/shown-sql.ts';
import { decodeValue, encodeValue, only, pointerTo, sharedOwner } from '../../src/serve/dimensions.ts';
import { addressOf, bucketWindow, readQuestion } from '../../src/serve/explore-question.ts';
import { unitPrice } from '../../src/serve/explored.ts';
import { changeWords } from '../../src/serve/resource-states.ts';
import { formatInstant } from '../../src/time/time.ts';

const through = Date.parse('2026-10-21T15:00:00Z');
const at = (text: string) => Date.parse(text.length === 10 ? `${text}T00:00:00Z` : text);
const shown = (window: { from: number; to: number }) =>
  `${formatInstant(window.from)}/${formatInstant(window.to)}`.replaceAll(':00:00Z', '');

test('a name in the SQL that a page shows hides nothing of it, and does nothing in a terminal', () => {
  expect(literal("it's")).toBe("'it''s'");
  expect(literal('')).toBe("''");
  expect(literal('a\u001b\u202eb')).toBe("('a' || chr(27) || '' || chr(8238) || 'b')");
});

describe('the question in an address', () => {
  const read = (query: string) =>
    readQuestion(new URLSearchParams(query), {
      ...{ through, historyStart: Date.parse('2024-01-01T00:00:00Z') },
      // One of the accounts begins later.
      completeFrom: Date.parse('2024-02-01T00:00:00Z'),
    });

  test('comes back from the address that it makes', () => {
    for (const query of [
      'from=2026-10-01&to=2026-10-21&step=day&group=workspace&shape=bars&top=7',
      'from=2026-10-02T05:00&to=2026-10-02T09:00&step=hour&group=label:a/b&shape=table&top=3&measure=price&compare=none',
      'from=2026-09-01&to=2026-09-30&step=week&group=owner:team&shape=lines&top=7&workspace=~&label:x=~~y&owner:team=~shared',
      'from=2026-09-01&to=2026-09-30&step=day&group=region&shape=bars&top=7&region=eu&region=~&region=us&owner:team=a&except=owner:team',
    ]) {
      const { asked, problems } = read(query);
      expect(problems).toEqual([]);
      expect(read(addressOf(asked).split('?')[1] ?? '').asked).toEqual(asked);
    }
  });

  test('keeps names with signs of its own apart from none and shared costs', () => {
    for (const value of ['', '~', '~~', '~shared', sharedOwner, 'a~b', ' ']) {
      expect(decodeValue(encodeValue(value))).toBe(value);
    }
    // A resource or a label may have any name: each text of the books is well-formed.
    expect(sharedOwner.isWellFormed()).toBe(false);
    expect(new Set(['', '~', '~shared', '\u0000shared', sharedOwner].map(encodeValue)).size).toBe(5);
    expect(pointerTo('a/b~c')).toBe('/a~1b~0c');
  });

  test('has several values of one name, or all but them', () => {
    const { asked, problems } = read(
      'workspace=north&workspace=south&workspace=north&resource_type=agent&except=resource_type&except=region',
    );
    expect(problems).toEqual([]);
    expect(asked.filters).toEqual({
      workspace: { values: ['north', 'south'], isExcept: false },
      resource_type: { values: ['agent'], isExcept: true },
    });
    expect(read('where=workspace&is=east&workspace=north').asked.filters).toEqual(
      only({ workspace: ['north', 'east'] }),
    );
    expect(read('except=price').problems).toEqual([expect.stringContaining('except: expected dimensions')]);
    const many = Array.from({ length: 501 }, (_, number) => `workspace=${number}`).join('&');
    expect(read(many).problems).toEqual([expect.stringContaining('at most 500 values')]);
  });

  test('has a usual range by its name, and a range of its own instead', () => {
    const shownOf = (query: string) => {
      const { asked, problems } = read(query);
      return [shown(asked), asked.step, problems.length];
    };
    expect(shownOf('')).toEqual(['2026-10-01T00/2026-10-21T15', 'day', 0]);
    expect(shownOf('range=7d')).toEqual(['2026-10-15T00/2026-10-21T15', 'day', 0]);
    expect(shownOf('range=last-month&step=week')).toEqual(['2026-09-01T00/2026-10-01T00', 'week', 0]);
    expect(shownOf('range=13m')).toEqual(['2025-10-01T00/2026-10-21T15', 'month', 0]);
    expect(shownOf('range=last-month&from=2026-10-20')).toEqual(['2026-10-20T00/2026-10-21T15', 'day', 0]);
    expect(shownOf('range=1y')).toEqual(['2026-10-01T00/2026-10-21T15', 'day', 1]);
  });

  test('has only days of the calendar', () => {
    for (const day of ['2026-02-30', '2026-02-30T05:00', '2025-02-29', '2026-00-01', '2026-10-01T24:00'])
      expect(read(`from=${day}`).problems).toEqual([expect.stringContaining('from: expected a day')]);
    expect(read('from=2024-02-29&to=2024-02-29').problems).toEqual([]);
  });

  test('shows a step that fits, and its default for what cannot be read', () => {
    const { asked, problems } = read('from=2025-01-01&to=2026-10-21&step=hour&group=price&measure=weight');
    expect([asked.step, asked.groupBy, asked.measure]).toEqual(['day', 'workspace', 'cost']);
    expect(problems.map((problem) => problem.split(':')[0])).toEqual(['step', 'measure', 'group']);
  });

  test('says that a range lies outside of what the books know', () => {
    const after = read('from=2026-10-21T15:00&to=2026-10-22');
    expect(after.problems).toEqual([expect.stringContaining('2026-10-21T15:00:00Z')]);
    expect(shown(after.asked)).toBe('2026-10-01T00/2026-10-21T15');
    expect(shown(read('from=2026-10-21T14:00&to=2026-10-22').asked)).toBe('2026-10-21T14/2026-10-21T15');
    expect(read('from=2024-01-01&to=2024-01-31').problems).toEqual([]);
    expect(read('from=2023-11-01&to=2023-11-30').problems).toEqual([expect.stringContaining('2024-01-01T00:00:00Z')]);
  });

  test('opens a bucket only as far as the window goes', () => {
    const { asked } = read('from=2026-10-07&to=2026-10-21&step=week');
    expect(shown(bucketWindow(asked, at('2026-10-05')))).toBe('2026-10-07T00/2026-10-12T00');
    expect(shown(bucketWindow(asked, at('2026-10-19')))).toBe('2026-10-19T00/2026-10-21T15');
  });
});

test('a unit price has twelve decimals, and none without usage', () => {
  expect(unitPrice('1.000000000000', '3.000000')).toBe('0.333333333333');
  expect(unitPrice('1.000000000000', '0.000000')).toBeUndefined();
  expect(unitPrice('1.000000000000', undefined)).toBeUndefined();
});

test('a state names what it changed of the one before', () => {
  const before = {
    status: 'DEPLOYED',
    memory_mb: '512',
    is_enabled: true,
    labels: '{"team":"A","old":"x"}',
    created_at: null,
  };
  const now = { ...before, memory_mb: '1024', is_enabled: false, labels: '{"team":"B"}' };
  expect(changeWords(now as never, before as never)).toBe(
    'memory, MB 512 → 1024; disabled; label team A → B; label old x → none',
  );
  expect(changeWords(now as never, undefined)).toBeUndefined();
  const again = { ...before, created_at: '2026-10-02T00:00:00Z' };
  expect(changeWords(again as never, before as never)).toContain('created again');
});
