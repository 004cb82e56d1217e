import { serveParent } from '../query/index.ts';
import type { CommandInput } from './command.ts';
import type { ChildContext, ChildEvent, ChildName, ChildRequest } from './run-in-child.ts';

// The child process of a command that runs the project's SQL. Only run-in-child.ts starts it.

type Answer = (input: CommandInput, context: ChildContext) => Promise<number>;

const answers: Readonly<Record<ChildName, () => Promise<Answer>>> = {
  report: async () => (await import('./report-answer.ts')).answerReport,
  'report-statement': async () => (await import('./report-statement.ts')).writeReportStatement,
  'report-sql': async () => (await import('./report-statement.ts')).printReportSql,
  'report-rows': async () => (await import('./report-rows.ts')).writeReportRows,
  budgets: async () => (await import('./budgets.ts')).showBudgets,
  forecast: async () => (await import('./forecast-of-books.ts')).forecastOfBooks,
  'budget-backtest': async () => (await import('./budgets-backtest.ts')).backtestOne,
  verify: async () => (await import('./verify-answer.ts')).answerVerify,
};

await serveParent(async ({ name, input, now, ...request }: ChildRequest, parent) => {
  const report = (event: ChildEvent): void => parent.report(event);
  const answer = await answers[name]();
  return answer(input, {
    ...request,
    effects: { now: () => now },
    signal: parent.signal,
    reader: parent.reader,
    write: parent.write,
    tell: (words) => report({ tell: words }),
    progress: (words) => report({ progress: words }),
    published: (place) => report({ published: place }),
    count: (figures) => report({ count: figures }),
  });
});
