import { fileURLToPath } from 'node:url';
import type { Answered, Question } from './question.ts';
import { type ChildLimits, runChild } from './run-child.ts';

const program = fileURLToPath(new URL('child.js', import.meta.url));

export type AskOptions = Omit<ChildLimits, 'isTimedByEvent'>;

/**
 * Asks a question in a process of its own: with the snapshot for reading, without network, files, settings,
 * environment or any secret, and with bounded time and memory. Whatever SQL of a user does there, nothing of it stays.
 * Throws as `runChild` does.
 */
export function ask(question: Question, options: AskOptions): Promise<Answered> {
  return runChild({ program, request: { question }, dir: question.dir, subject: 'the query' }, options);
}
