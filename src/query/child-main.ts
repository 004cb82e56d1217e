import { completenessOf } from '../reports/index.ts';
import { openBooks } from '../warehouse/index.ts';
import { answer } from './answer.ts';
import type { Answered, Question } from './question.ts';
import { type ChecksAsked, runInBooks } from './run-checks.ts';
import { type Parent, serveParent } from './serve-parent.ts';

// The process that runs users' SQL; only run-query.ts and checks.ts start it.

await serveParent((request: { question: Question } | { checks: ChecksAsked }, parent) =>
  'question' in request ? answerInBooks(request.question, parent) : runInBooks(request.checks, parent),
);

async function answerInBooks(question: Question, { reader, signal, write }: Parent): Promise<Answered> {
  const { dir, asOf: asOfOrNull, file } = question;
  const asOf = asOfOrNull ?? undefined;
  const books = await openBooks(dir, { lockedDown: true, asOf, writable: file ?? undefined, reader, signal });
  try {
    const state = await completenessOf(books.connection, asOf);
    return await answer(books.connection, question, state, write);
  } finally {
    books.close();
  }
}
