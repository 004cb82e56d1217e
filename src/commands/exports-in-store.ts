import { join } from 'node:path';
import { UsageError } from '../base/errors.ts';
import {
  type Destination,
  isStoreAddress,
  loadConfig,
  parseDestination,
  type StorageSettings,
} from '../config/index.ts';
import type { CommandContext, CommandInput } from './command.ts';

/** A place in an object store, and how it is reached. */
export interface StorePlace {
  readonly destination: Destination;
  readonly settings: StorageSettings;
}

/** The folders of a published export. */
export interface PublishedPlace {
  readonly reportFolder: string;
  readonly folder: string;
}

/**
 * Where a command's exports go besides the local folder: `--out s3://…`, or `exports.to` of the configuration unless
 * `--out` names a folder. Undefined if they only stay here. Throws UsageError.
 */
export function storeOf(
  { options }: Pick<CommandInput, 'options'>,
  context: Pick<CommandContext, 'dir' | 'env' | 'effects'>,
): StorePlace | undefined {
  const out = options['out'];
  if (typeof out === 'string' && !isStoreAddress(out)) return undefined;
  const { exportsTo, storage } = configOf(context);
  const destination = typeof out === 'string' ? destinationOf(out, '--out') : exportsTo;
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

/** The command line for the local part: files are always written here first. */
export function withoutStore(input: CommandInput): CommandInput {
  const out = input.options['out'];
  if (typeof out !== 'string' || !isStoreAddress(out)) return input;
  const { out: _, ...options } = input.options;
  return { ...input, options };
}

/** The folder of all local exports of a command. */
export function rootOf(dir: string): string {
  return join(dir, 'exports');
}
