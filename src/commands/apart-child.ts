import { serveParent } from '../query/index.ts';
import type { ApartContext, ApartEvent, ApartName, ApartRequest } from './apart.ts';
import type { CommandInput } from './command.ts';

// The child process of a command that runs the project's SQL. Only apart.ts starts it.

type Answer = (input: CommandInput, context: ApartContext) => Promise<number>;

const answers: Readonly<Record<ApartName, () => Promise<Answer>>> = {
  report: async () => (await import('./report-answer.ts')).answerReport,
  verify: async () => (await import('./verify-answer.ts')).answerVerify,
};

await serveParent(async ({ name, input, now, ...request }: ApartRequest, parent) => {
  const report = (event: ApartEvent): void => parent.report(event);
  const answer = await answers[name]();
  return answer(input, {
    ...request,
    effects: { now: () => now },
    signal: parent.signal,
    reader: parent.reader,
    write: parent.write,
    tell: (words) => report({ tell: words }),
    progress: (words) => report({ progress: words }),
    count: (figures) => report({ count: figures }),
  });
});
