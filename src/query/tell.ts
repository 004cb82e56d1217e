import { createReadStream } from 'node:fs';
import { tmpdir } from 'node:os';
import { type AskOptions, ask } from './ask.ts';
import type { Answered, Question } from './question.ts';
import { withPassingFile, writeWhole } from './whole-file.ts';

type Asked = Omit<Question, 'file'>;

/** Asks in a process of its own, as `ask` does, and writes the answer piece by piece. */
export async function askToStream(question: Asked, options: AskOptions): Promise<Answered> {
  if (question.format !== 'parquet') return ask({ ...question, file: null }, options);
  // DuckDB goes back to the file's end only once all is written: it cannot write into a pipe.
  return withPassingFile(tmpdir(), async (path) => {
    const answered = await ask({ ...question, file: path }, options);
    for await (const piece of createReadStream(path)) await options.write(piece as Uint8Array);
    return answered;
  });
}

/**
 * Asks in a process of its own and writes the answer as a file, whole or not at all. That process can write no file:
 * this one does, with what it is told; only for Parquet the child may fill the one empty file that is made for it here.
 */
export async function askToFile(
  question: Asked,
  path: string,
  options: Omit<AskOptions, 'write'>,
): Promise<Answered & { bytes: number }> {
  const { result, bytes } = await writeWhole(path, async (part) =>
    ask(
      { ...question, file: question.format === 'parquet' ? part.path : null },
      {
        ...options,
        async write(piece) {
          await part.file.writeFile(piece);
        },
      },
    ),
  );
  return { ...result, bytes };
}
