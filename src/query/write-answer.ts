import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import type { Answered, Question } from './question.ts';
import { type AskOptions, ask } from './run-query.ts';
import { withPassingFile, writeWhole } from './whole-file.ts';

type Asked = Omit<Question, 'file'>;

/** Runs a query in a child process, as `ask` does, and streams the answer. */
export async function askToStream(
  question: Asked,
  options: Required<Pick<AskOptions, 'write'>> & AskOptions,
): Promise<Answered> {
  if (question.format !== 'parquet') return ask({ ...question, file: null }, options);
  // DuckDB cannot write Parquet into a pipe.
  return withPassingFile(tmpdir(), async (file) => {
    const answered = await ask({ ...question, file }, options);
    for await (const chunk of createReadStream(file)) await options.write(chunk as Uint8Array);
    return answered;
  });
}

/**
 * Runs a query in a child process and writes the answer as a file, completely or not at all. That process cannot write
 * files: this one does. Only for Parquet may DuckDB write one new file, whose name we choose.
 */
export async function askToFile(
  question: Asked,
  path: string,
  options: Omit<AskOptions, 'write'>,
): Promise<Answered & { bytes: number }> {
  const { result, bytes } = await writeWhole(path, async (part) => {
    if (question.format === 'parquet') {
      return ask({ ...question, file: part }, { ...options, write: () => Promise.resolve() });
    }
    const file = await open(part, 'wx');
    try {
      return await ask({ ...question, file: null }, { ...options, write: (chunk) => file.writeFile(chunk) });
    } finally {
      await file.close();
    }
  });
  return { ...result, bytes };
}
