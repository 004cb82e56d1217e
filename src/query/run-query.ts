import type { SparkStatement } from '../engine/index.ts';
import type { Answered, Question, RowsAsked, StatementAsked, TableAnswer } from './question.ts';
import { type ChildLimits, runChild } from './run-child.ts';

export type AskOptions = Omit<ChildLimits, 'isTimedByEvent'>;

/**
 * Runs a query in a child process: it reads the snapshot, has no network, files, settings, environment or secret, and
 * has limited time and memory. Nothing that a user's SQL does there remains. Throws as `runChild` does.
 */
export function ask(question: Question, options: AskOptions): Promise<Answered> {
  const { dir, file } = question;
  const writesTo = file === null ? [] : [file];
  return runChild({ service: 'query', input: question, dir, writesTo, subject: 'the query' }, options);
}

/** The first rows of a query, from a child process as `ask` has it. */
export function askRows(asked: RowsAsked, options: Omit<AskOptions, 'write'>): Promise<TableAnswer> {
  return runChild({ service: 'rows', input: asked, dir: asked.dir, subject: 'the query' }, options);
}

/** Writes a query for a cluster, in a child process as `ask`. */
export function askStatement(asked: StatementAsked, options: Omit<AskOptions, 'write'>): Promise<SparkStatement> {
  const task = { service: 'statement', input: asked, dir: asked.dir, subject: 'the query' } as const;
  return runChild(task, options);
}
