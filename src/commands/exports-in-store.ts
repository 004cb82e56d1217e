import { join } from 'node:path';
import { UsageError } from '../base/errors.ts';
import { type Destination, folderOf, loadConfig, parseDestination } from '../config/index.ts';
import type { StorePlace } from '../storage/index.ts';
import type { CommandContext } from './command.ts';

/**
 * Where a command's exports go besides the local folder: `--out s3://…`, or `exports.to` of the configuration unless
 * `--out` names a folder. Undefined if they only stay here. Throws UsageError.
 */
export function storeOf(
  out: string | undefined,
  context: Pick<CommandContext, 'dir' | 'env' | 'effects'>,
): StorePlace | undefined {
  if (folderOf(out) !== undefined) return undefined;
  const { exportsTo, storage } = configOf(context);
  const destination = out === undefined ? exportsTo : destinationOf(out, '--out');
  return destination && { destination, settings: storage };
}

/** Reads `s3://bucket/prefix` from the command line. */
export function destinationOf(text: string, where: string): Destination {
  try {
    return parseDestination(text);
  } catch (error) {
    throw error instanceof UsageError ? new UsageError(`${where}: ${error.found}`, { next: error.next }) : error;
  }
}

export function configOf({ dir, env, effects }: Pick<CommandContext, 'dir' | 'env' | 'effects'>) {
  return loadConfig({ dir, env, now: effects.now(), requireAccounts: false });
}

/** The folder of all local exports of a command. */
export function rootOf(dir: string): string {
  return join(dir, 'exports');
}
