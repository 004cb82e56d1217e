import { once } from 'node:events';
import { Socket } from 'node:net';
import { kill } from 'node:process';
import { createInterface } from 'node:readline';
import { CostbookError, exitCodeOf, messageOf } from '../errors.ts';
import { completenessOf } from '../reports/index.ts';
import { openBooks } from '../warehouse/index.ts';
import { answer } from './answer.ts';
import type { Answered, Failure, Outcome, Question } from './question.ts';

// The process that answers one typed query, started by ask.ts and by nobody else. Its stdin brings the question and
// then stays open: when it ends, the parent wants no answer any more or is dead. DuckDB can be made to print on
// stdout, so that leads nowhere, and what is told goes through descriptors of its own.

/** How long what was interrupted may take to end in order. */
const graceMs = 3000;

/** A text longer than a JavaScript string can be, in the words of Node. */
const tooLong = /Cannot create a string longer than|Invalid string length/;

const parent = new AbortController();
const toParent = { outcome: new Socket({ fd: 3 }), data: new Socket({ fd: 4 }) };
for (const socket of Object.values(toParent)) socket.on('error', endAtOnce); // the parent is dead

const lines = createInterface({ input: process.stdin });
lines.once('close', () => {
  parent.abort(new Error('the answer is not wanted any more'));
  setTimeout(endAtOnce, graceMs);
});
// A terminal sends its signals to the parent too, and the parent is who answers them.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);

const [line] = await once(lines, 'line');
const outcome = await answerInBooks(JSON.parse(line) as Question & { reader: string }).then(
  (answered): Outcome => ({ answered }),
  (error: unknown): Outcome => ({ failure: asFailure(error) }),
);
toParent.data.end();
toParent.outcome.end(JSON.stringify(outcome), () => process.exit());

async function answerInBooks(question: Question & { reader: string }): Promise<Answered> {
  const { dir, asOf: asOfOrNull, file, reader } = question;
  const asOf = asOfOrNull ?? undefined;
  const books = await openBooks(dir, {
    lockedDown: true,
    asOf,
    writable: file ?? undefined,
    reader,
    signal: parent.signal,
  });
  try {
    const state = await completenessOf(books.connection, asOf);
    return await answer(books.connection, question, state, write);
  } finally {
    books.close();
  }
}

function write(piece: string | Uint8Array): Promise<void> {
  return new Promise((done, fail) => {
    toParent.data.write(piece, (error) => (error ? fail(error) : done()));
  });
}

function asFailure(error: unknown): Failure {
  if (tooLong.test(messageOf(error))) {
    return { exitCode: 2, message: 'the query makes a text that is longer than can be told; ask for less of it' };
  }
  const stack = error instanceof CostbookError || !(error instanceof Error) ? undefined : error.stack;
  return { exitCode: exitCodeOf(error), message: messageOf(error), stack };
}

/** `process.exit` waits for the threads that DuckDB works on. */
function endAtOnce(): void {
  kill(process.pid, 'SIGKILL');
}
