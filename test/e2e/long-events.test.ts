// Second tier: Writes and reads events of hundreds of MB.

import { appendFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { messagesOf } from '../../src/alerts/message.ts';
import { transitionsOf } from '../../src/findings/transitions.ts';
import { webhookBody } from '../../src/sinks/kinds/webhook.ts';
import { type OutgoingMessage, plainText, subjectOf } from '../../src/sinks/message.ts';
import { openJournalFile, readJournal } from '../../src/warehouse/journal/journal.ts';
import type { JournalEvent } from '../../src/warehouse/journal/journal-events.ts';
import { lineOf, mostLineBytes } from '../../src/warehouse/journal/journal-lines.ts';
import { type RecordedEvaluation, recordEvaluation } from '../../src/warehouse/watch/alerts.ts';
import { type BooksToBreak, booksToBreak, now, sum, total } from '../support/broken-books.ts';
import { exampleForecast } from '../support/example-alerts.ts';
import { givenBooks } from '../support/given-books.ts';
import { newProject, runCli } from '../support/project.ts';

const at = '2026-09-12T12:30:00Z';

/** An evaluation that raises alerts with so many bytes each. */
function raising(count: number, bytes: number): RecordedEvaluation {
  const raised = Array.from({ length: count }, (_, index) => ({
    ...{
      key: `budget/@all/b${index}/2026-09/100%`,
      occurrence: 1,
      kind: 'budget',
      account: null,
      severity: 'critical',
    },
    ...{ fact: JSON.stringify({ text: 'x'.repeat(bytes) }), sinks: ['out'], isNotified: true },
  }));
  const message = { id: 'm', sink: 'out', kind: 'alerts' as const, summary: undefined, message: '{"entries":[]}' };
  return {
    ...{ runNumber: 1, at: Date.parse(at), raised, messages: [message] },
  };
}

test('an evaluation of thousands of alerts is written in events of a few megabytes, its messages first', async () => {
  const books = await givenBooks({});
  const events: JournalEvent[] = [];
  const recorder = { record: async (event: JournalEvent) => void events.push(event) };
  await recordEvaluation(books.connection, recorder, raising(3000, 3000));
  books.close();
  expect(events.length).toBe(3);
  expect(Math.max(...events.map((event) => JSON.stringify(event).length))).toBeLessThan(5_000_000);
  const lists = events.map(({ values }) => values as unknown as { raised: unknown[]; messages: unknown[] });
  expect(lists.map(({ messages }) => messages.length)).toEqual([1, 0, 0]);
  expect(lists.reduce((count, { raised }) => count + raised.length, 0)).toBe(3000);
});

test('a message of a night of thousands of alerts has the most urgent ones, and counts the others', () => {
  const fact = (index: number) => ({
    ...exampleForecast,
    notify: [],
    key: `budget/@all/b${index}`,
    budget: `b${index}`,
  });
  const facts = Array.from({ length: 3000 }, (_, index) => fact(index));
  const { entries } = transitionsOf([], facts, { now: 0, everybody: ['out'] });
  const messages = messagesOf(entries, { at, completeThrough: null, settledThrough: null });
  expect(messages.map(({ sink }) => sink)).toEqual(['out']);
  const message = JSON.parse(messages[0]?.message ?? '{}') as OutgoingMessage;
  expect([message.entries.length, message.left]).toEqual([
    100,
    { anomalies: 0, impact: '0.000000000000', resolved: 0, alerts: 2900 },
  ]);
  const sent = { ...message, id: 'm', mayBeRepeat: false, isTest: false };
  expect(plainText(sent)).toMatch(/and 29\d\d more; "costbook alerts --open" lists them/);
  expect(subjectOf(sent)).toContain('2999 more alerts');
  expect(JSON.parse(webhookBody(sent)).left.alerts).toBeGreaterThan(2900);
});

describe('an event that is too long to be read again', () => {
  let books: BooksToBreak;
  beforeAll(async () => {
    books = await booksToBreak();
  });

  /** Books whose journal ends with an event of so many bytes that is not in them, as an older Costbook left it. */
  async function endingWith(bytes: number): Promise<{ dir: string; number: number }> {
    const dir = await books.broken();
    const folder = join(dir, 'data', 'journal');
    const number = (await readJournal(folder)).length + 1;
    const raised = [
      { alert_key: 'k', occurrence: 1, kind: 'budget', severity: 'info', fact: 'x'.repeat(bytes), sinks: '[]' },
    ];
    const others = { run_number: 2, at, ended: [], notified: [], acknowledged: [], messages: [] };
    const values = { ...others, raised: [{ ...raised[0], account: null, is_notified: true }] };
    const [name = ''] = (await readdir(folder)).filter((each) => each.endsWith('.ndjson'));
    await appendFile(join(folder, name), `${lineOf({ number, event: 'alerts_evaluated', values })}\n`);
    return { dir, number };
  }

  test('is refused before it is written, and the journal goes on', async () => {
    const folder = join(await newProject(), 'journal');
    const { journal } = await openJournalFile(folder, 0);
    await journal.append({ event: 'run_began', values: { run_number: 1 } });
    const long = { event: 'alerts_evaluated', values: { raised: 'x'.repeat(mostLineBytes) } } as const;
    await expect(journal.append(long)).rejects.toThrow(
      'the journal does not take the event alerts_evaluated: it has 33 MB, expected at most 32 MB',
    );
    await journal.append({ event: 'run_ended', values: { run_number: 1 } });
    expect((await readJournal(folder)).map(({ number }) => number)).toEqual([1, 2]);
  });

  test('ends every command with what to do; repair --accept-loss loses that event and nothing else', async () => {
    const { dir, number } = await endingWith(mostLineBytes);
    for (const command of [['repair'], ['alert', '--now', now]]) {
      const { exitCode, stderr } = await runCli([...command, '--dir', dir]);
      expect(exitCode, stderr).toBe(4);
      expect(stderr).toMatch(/repair/);
    }
    const status = await runCli(['status', '--now', now, '--dir', dir]);
    expect(status.stdout).toContain('it has 33 MB, expected at most 32 MB');
    const repaired = await runCli(['repair', '--accept-loss', '--json', '--dir', dir]);
    expect(repaired.exitCode, repaired.stderr).toBe(0);
    expect(JSON.parse(repaired.stdout).lost).toEqual({
      loads: [],
      journal: [`event ${number} of the journal (alerts_evaluated)`],
    });
    const costs = await runCli(['sql', sum, '--json', '--dir', dir]);
    expect(JSON.parse(costs.stdout).rows).toEqual([{ cost: total }]);
    for (const command of [
      ['alert', '--now', now],
      ['rebuild', '--into', join(dir, 'again.duckdb')],
    ]) {
      const { exitCode, stderr } = await runCli([...command, '--dir', dir]);
      expect(exitCode, stderr).toBe(0);
    }
  });

  test('is longer than any that a run can read: the longest one reaches the books', async () => {
    const { dir } = await endingWith(mostLineBytes - 1000);
    for (const command of [['repair'], ['rebuild', '--into', join(dir, 'again.duckdb')]]) {
      const { exitCode, stderr } = await runCli([...command, '--dir', dir]);
      expect(exitCode, stderr).toBe(0);
    }
    const { stdout } = await runCli([
      'sql',
      "select alert_key from alerts where alert_key = 'k'",
      '--json',
      '--dir',
      dir,
    ]);
    expect(JSON.parse(stdout).rows).toEqual([{ alert_key: 'k' }]);
  });
});
