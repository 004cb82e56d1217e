import { join } from 'node:path';
import { expectProject } from '../base/project-folder.ts';
import { version } from '../base/version.ts';
import { keepConfiguredSecrets } from '../config/index.ts';
import {
  type BooksReader,
  type LimitedBooks,
  openLimitedMcpServer,
  openMcpHttp,
  openMcpServer,
  serveOnStdio,
} from '../mcp/index.ts';
import { completenessOf } from '../reports/formats/index.ts';
import { readReports } from '../reports/questions/index.ts';
import { childWork, openLimiter } from '../serve/index.ts';
import { withBooks } from '../warehouse/integrity/index.ts';
import { readSql, readSqlFolder } from '../warehouse/sql/index.ts';
import type { Command, CommandContext } from './command.ts';
import { dashboardCommands, quietly } from './dashboard-commands.ts';
import { answerInChild } from './run-in-child.ts';

const listMs = 30_000;

/** Commands whose answer as JSON an agent may read, quick enough to run in this process. */
const readers = {
  status: async () => (await import('./status.ts')).statusCommand,
  alerts: async () => (await import('./alerts.ts')).alertsCommand,
} as const;

export const mcpCommand: Command = {
  name: 'mcp',
  summary: 'Let an agent ask the books: an MCP server on stdin and stdout. It only reads.',
  examples: ['costbook mcp', 'costbook mcp --dir books'],
  staysUp: true,
  async run(_, context) {
    expectProject(context);
    const { dir, env, effects } = context;
    await keepConfiguredSecrets({ dir, env, now: effects.now() }, context);
    const about = { version, redact: context.redact, inTurn: agentTurns() };
    await serveOnStdio(() => openMcpServer(booksReader(context), about), {
      ...context.stdio,
      signal: context.signal,
      onFault: (words) => context.tell(`costbook: ${words}`),
    });
    context.signal.throwIfAborted();
    return 0;
  },
};

/** Answers agents over HTTP, for the dashboard; those with limited books from these alone. */
export function mcpAnswerer(
  context: CommandContext,
  books = booksReader(context),
): (request: Request, limited: LimitedBooks | undefined) => Promise<Response> {
  // Whoever asks over HTTP does not learn in which folder the books are.
  const redact = (text: string) => context.redact(text).replaceAll(`${context.dir}/`, '');
  const about = { version, redact, inTurn: agentTurns() };
  const onFault = (words: string) =>
    context.effects.log.warn('mcp.failed', 'A request of an agent failed', { reason: words });
  const answerAll = openMcpHttp(() => openMcpServer(books, about), onFault);
  return (request, limited) => {
    if (limited === undefined) return answerAll(request);
    // A handler of its own: nothing is shared with agents that see more.
    // Its questions take turns with the pages of the same token.
    const own = { ...about, inTurn: <T>(work: () => Promise<T>) => work() };
    return openMcpHttp(() => openLimitedMcpServer(limited, own), onFault)(request);
  };
}

/** How many tools run at once, and how many calls wait: one request may have a hundred calls. */
function agentTurns() {
  return openLimiter({
    ...{ atOnce: 4, maxWaiting: 20 },
    busy: 'Too many requests of agents at once. Try again in a moment.',
  });
}

/** What the tools of an agent read. */
function booksReader(context: CommandContext): BooksReader {
  const { dir, signal } = context;
  const work = childWork(dir, dashboardCommands(context), signal);
  return {
    command: (name, options, request) =>
      name === 'budgets' || name === 'forecast'
        ? work.show(name, options, request)
        : answerOf(name, options, context, request),
    reports: (request) =>
      answerInChild('report', { arguments: [], options: { list: true } }, quietly(context), {
        subject: 'the list of reports',
        timeoutMs: listMs,
        signal: AbortSignal.any([signal, request]),
      }),
    report: (name, parameters, maxRows, request) => work.reportRows(name, { parameters, maxRows }, request),
    sql: (query, maxRows, request) => work.sql(query, { maxRows }, request),
    async figures() {
      const files = await readSqlFolder('figures');
      return files.map(({ name, header, text }) => ({ name, meaning: header['about'] ?? '', sql: text }));
    },
    async reportSql(name) {
      const found = (await readReports(join(dir, 'sql'))).find((report) => report.name === name);
      return found?.file.text;
    },
    async own(statement, maxRows, values, request) {
      return withBooks(dir, { lockedDown: true, signal: AbortSignal.any([signal, request]) }, async (books) => {
        const rows = await books.connection.rows(await readSql('mcp', statement), values);
        const { completeThrough, settledThrough } = await completenessOf(books.connection);
        return { completeThrough, settledThrough, rows: rows.slice(0, maxRows), truncated: rows.length > maxRows };
      });
    },
  };
}

/** The answer of a command as data. Its words for people are left out. */
async function answerOf(
  name: keyof typeof readers,
  options: Readonly<Record<string, string | true | readonly string[]>>,
  context: CommandContext,
  request: AbortSignal,
): Promise<unknown> {
  let answer: unknown;
  const command = await readers[name]();
  await command.run(
    { arguments: [], options },
    {
      ...context,
      json: true,
      isTerminal: false,
      layout: {},
      signal: AbortSignal.any([context.signal, request]),
      write: async () => undefined,
      async answer(data) {
        answer = data;
      },
      tell: () => undefined,
      progress: () => undefined,
    },
  );
  return answer;
}
