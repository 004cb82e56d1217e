import { once } from 'node:events';
import { Socket } from 'node:net';
import { kill } from 'node:process';
import { createInterface } from 'node:readline';
import { CostbookError, exitCodeOf, messageOf } from '../errors.ts';
import type { Failure } from './question.ts';

/** How long what was interrupted may take to end in order. */
const graceMs = 3000;

/** A text longer than a JavaScript string can be, in the words of Node. */
const tooLong = /Cannot create a string longer than|Invalid string length/;

/** The process that started this one. */
export interface Parent {
  /** Aborted when the parent wants no answer any more, or is dead. */
  readonly signal: AbortSignal;
  /** Names this process as a reader of the books: the parent removes what it spilled where it was killed. */
  readonly reader: string;
  /** Data of the answer; resolves when the parent has room for more. */
  write(chunk: string | Uint8Array): Promise<void>;
  /** What the parent takes note of meanwhile. */
  report(event: unknown): void;
}

/**
 * Does the work that the parent asks for with `runChild`, then ends this process. Its stdin brings the request and then
 * stays open: when it ends, the parent wants no answer any more or is dead. DuckDB can be made to print on stdout, so
 * that leads nowhere, and answers go through descriptors of their own.
 */
export async function serveParent<Request, T>(work: (request: Request, parent: Parent) => Promise<T>): Promise<void> {
  const abort = new AbortController();
  const words = new Socket({ fd: 3 });
  const data = new Socket({ fd: 4 });
  for (const socket of [words, data]) socket.on('error', endAtOnce); // the parent is dead
  const lines = createInterface({ input: process.stdin });
  lines.once('close', () => {
    abort.abort(new Error('the answer is not wanted any more'));
    setTimeout(endAtOnce, graceMs);
  });
  // A terminal sends its signals to the parent too, and the parent is who answers them.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);

  const [line] = await once(lines, 'line');
  const { reader, request } = JSON.parse(line) as { reader: string; request: Request };
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
  const end = await work(request, parent).then(
    (done) => ({ done }),
    (error: unknown) => ({ failure: asFailure(error) }),
  );
  data.end();
  words.end(`${JSON.stringify(end)}\n`, () => process.exit());
}

/** An error as the parent takes it. */
export function asFailure(error: unknown): Failure {
  if (tooLong.test(messageOf(error))) {
    return { exitCode: 2, message: 'the query makes a text that is longer than can be written; ask for less of it' };
  }
  const stack = error instanceof CostbookError || !(error instanceof Error) ? undefined : error.stack;
  return { exitCode: exitCodeOf(error), message: messageOf(error), stack };
}

/** `process.exit` waits for the threads that DuckDB works on. */
function endAtOnce(): void {
  kill(process.pid, 'SIGKILL');
}
