import { Socket } from 'node:net';
import { CostbookError, exitCodeOf, fullDiskOf, isSystemError, systemWords, UsageError } from '../base/errors.ts';
import { faultAndStep } from '../base/failure.ts';
import { linesIn } from '../base/lines.ts';
import type { Parent, ServiceName, Services } from './protocol.ts';
import type { Failure } from './question.ts';

/** How long an interrupted job may take to end in order. */
const graceMs = 3000;

/** The largest answer as data; what is larger is streamed, or refused. */
export const maxAnswerBytes = 8 * 1024 * 1024;

/** The longest message of an error. */
const maxMessageLength = 16 * 1024;

/** Whether Node failed because a text is longer than a JavaScript string can be. */
function isTooLong(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return (
    ('code' in error && error.code === 'ERR_STRING_TOO_LONG') ||
    (error instanceof RangeError && error.message === 'Invalid string length')
  );
}

/**
 * Runs the service that the parent asks for with `runChild`, then ends this process. Its stdin delivers the request and stays
 * open: when it ends, the parent no longer wants an answer, or is dead. SQL can make DuckDB print to stdout, so that
 * leads nowhere, and answers use descriptors of their own.
 */
export async function serveParent(services: Services): Promise<void> {
  const abort = new AbortController();
  const words = new Socket({ fd: 3 });
  const data = new Socket({ fd: 4 });
  for (const socket of [words, data]) socket.on('error', endAtOnce); // the parent is dead
  const lines = linesIn(process.stdin);
  // A terminal sends its signals to the parent too, and the parent handles them.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);

  const { value: line } = await lines.next();
  if (line === undefined) return endAtOnce();
  const { reader, service, input } = JSON.parse(line) as { reader: string; service: ServiceName; input: never };
  const leave = () => {
    abort.abort(new Error('the answer is no longer wanted'));
    setTimeout(endAtOnce, graceMs);
  };
  lines.next().then(leave, leave); // the parent says nothing more
  const parent: Parent = {
    signal: abort.signal,
    reader,
    write: (chunk) =>
      new Promise((done, fail) => {
        data.write(chunk, (error) => (error ? fail(error) : done()));
      }),
    report(event) {
      words.write(`${JSON.stringify({ event })}\n`);
    },
  };
  const end = await services[service](input, parent)
    .then((done: unknown) => asMessage({ done }))
    .catch((error: unknown) => JSON.stringify({ failure: asFailure(error) }));
  data.end();
  words.end(`${end}\n`, () => process.exit());
}

/** The last message. Throws UsageError for an answer that the parent would not keep in memory. */
function asMessage(end: { readonly done: unknown }): string {
  const message = JSON.stringify(end);
  if (Buffer.byteLength(message) > maxAnswerBytes) throw tooLargeAnswer();
  return message;
}

/** The error for an answer as data that is larger than a page or an agent can use. */
export function tooLargeAnswer(): UsageError {
  return new UsageError('the answer is larger than 8 MB: select fewer rows or columns');
}

/** A message that people can read. */
export function cutMessage(message: string): string {
  return message.length <= maxMessageLength ? message : `${message.slice(0, maxMessageLength)} …`;
}

/** An error in the form that the parent expects. */
export function asFailure(error: unknown): Failure {
  if (isTooLong(error)) {
    return { exitCode: 2, message: 'the query creates a text that is too long to write; query a shorter one' };
  }
  const stack = error instanceof CostbookError || !(error instanceof Error) ? undefined : error.stack;
  const { found, next } = faultAndStep(error);
  const full = fullDiskOf(error);
  return {
    exitCode: exitCodeOf(error),
    // A query can make its own error, as long as it likes.
    message: cutMessage(isSystemError(error) ? systemWords(error) : found),
    code: full ?? (error instanceof CostbookError ? error.failureCode : undefined),
    // The parent says what to do about a full disk, by its code.
    next: full === undefined ? next : undefined,
    stack: stack && cutMessage(stack),
  };
}

/** `process.exit` waits for DuckDB's threads. */
function endAtOnce(): void {
  process.kill(process.pid, 'SIGKILL');
}
