import type { LocalConfig } from '../config/index.ts';
import { readStatus, type Status, statusSettings } from '../health/index.ts';
import { type Books, openBooks } from '../warehouse/integrity/index.ts';
import type { CommandContext } from './command.ts';
import { faultsOfJobFiles } from './job-mistakes.ts';

/** The status of the project now, from its published books. */
export async function statusNow(
  books: Books,
  config: LocalConfig,
  context: CommandContext,
  how: { readonly timeoutMs?: number } = {},
): Promise<Status> {
  const { dir, effects, signal } = context;
  return readStatus(books, {
    ...{ dir, now: effects.now(), signal, ...statusSettings(config), ...how },
    jobFiles: await faultsOfJobFiles(config, context),
    exportsOfRevoked: async (closes) =>
      closes.length === 0 ? [] : (await import('../closing/index.ts')).exportsOfRevoked(dir, closes),
  });
}

/** The same with books that are opened for it. */
export async function statusOfProject(
  config: LocalConfig,
  context: CommandContext,
  how: { readonly timeoutMs?: number } = {},
): Promise<Status> {
  const books = await openBooks(context.dir, { lockedDown: true, threads: 1, signal: context.signal });
  try {
    return await statusNow(books, config, context, how);
  } finally {
    books.close();
  }
}
