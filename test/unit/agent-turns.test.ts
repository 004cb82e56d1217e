import { setTimeout as wait } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { CommandContext } from '../../src/commands/command.ts';
import { mcpAnswerer } from '../../src/commands/mcp.ts';
import type { BooksReader } from '../../src/mcp/index.ts';
import type { LimitedBooks } from '../../src/mcp/limited-books.ts';

const context = {
  redact: (text: string) => text,
  effects: { log: { warn: () => undefined } },
} as unknown as CommandContext;

/** Books that count how many questions are answered at the same time. */
function countedBooks() {
  const counted = { now: 0, most: 0, all: 0 };
  async function answer() {
    counted.now += 1;
    counted.all += 1;
    counted.most = Math.max(counted.most, counted.now);
    await wait(5);
    counted.now -= 1;
    return { completeThrough: null, settledThrough: null, rows: [], truncated: false };
  }
  const books = {
    command: answer,
    reports: answer,
    report: answer,
    sql: answer,
    own: answer,
  } as unknown as BooksReader;
  return { counted, books };
}

/** Many calls of tools in one request, as a JSON-RPC batch. */
function batch(names: readonly string[]): Request {
  return new Request('http://localhost/mcp', {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    body: JSON.stringify(
      names.map((name, id) => ({ jsonrpc: '2.0', id, method: 'tools/call', params: { name, arguments: {} } })),
    ),
  });
}

test('calls of agents wait for their turn, also many in one request', async () => {
  const { counted, books } = countedBooks();
  const answerer = mcpAnswerer(context, books);
  const names = Array.from({ length: 100 }, (_, index) => ['status', 'list_reports', 'alerts'][index % 3] ?? '');
  const texts = await Promise.all(
    [batch(names), batch(names)].map(async (request) => (await answerer(request, undefined)).text()),
  );
  expect(counted.most).toBeLessThanOrEqual(4);
  expect(counted.all).toBeGreaterThanOrEqual(4);
  // Each call has an answer: those that may not wait are told to try again.
  for (const text of texts) expect(text.match(/^data: /gm)).toHaveLength(100);
  expect(texts.join('')).toContain('Too many requests of agents at once. Try again in a moment.');
  // Turns are given back, also by those that were refused.
  const { all } = counted;
  await (await answerer(batch(['status']), undefined)).text();
  expect(counted.all).toBeGreaterThan(all);
});

test('agents with limited books do not wait for the others', async () => {
  const { books } = countedBooks();
  const never = { ...books, command: () => new Promise(() => undefined) } as BooksReader;
  const answerer = mcpAnswerer(context, never);
  for (let one = 0; one < 4; one += 1) await answerer(batch(['status']), undefined);
  const status = async () => ({ completeThrough: null, settledThrough: null, source: 'x', data: {}, isCut: false });
  const limited = { status } as unknown as LimitedBooks;
  expect(await (await answerer(batch(['status']), limited)).text()).toContain('completeThrough');
});
