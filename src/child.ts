import {
  type ChildCommandAnswer,
  type ChildCommandRequest,
  type ChildContext,
  type ChildEvent,
  type ChildName,
  printedAnswer,
} from './answers/context.ts';
import type { CommandInput } from './options/read.ts';
import { type Parent, type Services, serveParent } from './query/index.ts';

// The child process of every service that runs SQL of users and projects, or calculates for long. `runChild` starts it.
// Each service is loaded when it is asked for.

type Run = (input: CommandInput, context: ChildContext) => Promise<number>;

const commands: Readonly<Record<ChildName, () => Promise<Run>>> = {
  report: async () => (await import('./answers/report-answer.ts')).answerReport,
  'report-statement': async () => (await import('./answers/report-statement.ts')).writeReportStatement,
  'report-sql': async () => (await import('./answers/report-statement.ts')).printReportSql,
  'report-rows': async () => (await import('./answers/report-rows.ts')).answerReportRows,
  budgets: async () => (await import('./answers/budgets.ts')).showBudgets,
  forecast: async () => (await import('./answers/forecast-of-books.ts')).forecastOfBooks,
  'budget-backtest': async () => (await import('./answers/budgets-backtest.ts')).backtestOne,
  verify: async () => (await import('./answers/verify-answer.ts')).answerVerify,
};

const services: Services = {
  query: async (question, parent) => (await import('./query/answer-question.ts')).answerInBooks(question, parent),
  rows: async (asked, parent) => (await import('./query/answer-question.ts')).rowsInBooks(asked, parent),
  statement: async (asked, parent) => (await import('./query/answer-question.ts')).statementInBooks(asked, parent),
  checks: async (asked, parent) => (await import('./query/run-checks.ts')).runInBooks(asked, parent),
  command: async (request, parent) => runCommand(request as ChildCommandRequest, parent),
};

async function runCommand(
  { name, input, now, ...request }: ChildCommandRequest,
  parent: Parent,
): Promise<ChildCommandAnswer> {
  const report = (event: ChildEvent): void => parent.report(event);
  const answer = await commands[name]();
  const { write } = parent;
  let data: unknown = null;
  const exitCode = await answer(input, {
    ...request,
    effects: { now: () => now },
    signal: parent.signal,
    reader: parent.reader,
    write,
    answer: request.asData
      ? async (given) => {
          data = given;
        }
      : printedAnswer({ json: request.json, write }),
    tell: (words) => report({ tell: words }),
    progress: (words) => report({ progress: words }),
    published: (place) => report({ published: place }),
    count: (figures) => report({ count: figures }),
  });
  return { exitCode, data };
}

await serveParent(services);
