import type { SparkStatement } from '../engine/index.ts';
import type { Answered, ChecksAsked, Question, RowsAsked, StatementAsked, TableAnswer } from './question.ts';

/** The process that started this one. */
export interface Parent {
  /** Aborted when the parent no longer wants an answer, or is dead. */
  readonly signal: AbortSignal;
  /** This process's name as a reader of the books: if it is killed, the parent removes its spill files. */
  readonly reader: string;
  /** Writes data of the answer; resolves when the parent has room for more. */
  write(chunk: string | Uint8Array): Promise<void>;
  /** Sends an event to the parent. */
  report(event: unknown): void;
}

/** What a child process can be asked for: the service's name, its input and its answer, each as JSON. */
interface Protocol {
  /** One SELECT that a person typed. */
  readonly query: { readonly input: Question; readonly answer: Answered };
  /** The same, with its first rows as data. */
  readonly rows: { readonly input: RowsAsked; readonly answer: TableAnswer };
  /** A query written for a cluster. */
  readonly statement: { readonly input: StatementAsked; readonly answer: SparkStatement };
  readonly checks: { readonly input: ChecksAsked; readonly answer: null };
  /** A command over the books; `run-in-child.ts` knows its input and its answer. */
  readonly command: { readonly input: object; readonly answer: unknown };
}

export type ServiceName = keyof Protocol;
export type ServiceInput<S extends ServiceName> = Protocol[S]['input'];
export type ServiceAnswer<S extends ServiceName> = Protocol[S]['answer'];

/** The services of the child process. */
export type Services = {
  readonly [S in ServiceName]: (input: ServiceInput<S>, parent: Parent) => Promise<ServiceAnswer<S>>;
};
