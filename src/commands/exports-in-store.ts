import { isAbsolute, join, relative, sep } from 'node:path';
import { isPlainToOthers } from '../addresses.ts';
import {
  type Destination,
  isStoreAddress,
  loadConfig,
  parseDestination,
  type StorageSettings,
} from '../config/index.ts';
import { counted } from '../counted.ts';
import { UsageError } from '../errors.ts';
import type { Mirrored, ObjectStore } from '../storage/index.ts';
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

/** How long to wait for another process that writes the same export. */
const patienceMs = 60_000;

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
    throw error instanceof UsageError ? new UsageError(`${where}: ${error.message}`) : error;
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

/** Opens a store. Warns if everything sent to it can be read on the way. */
export async function openStore(
  { destination, settings }: StorePlace,
  { signal, effects, keepSecret }: Pick<CommandContext, 'signal' | 'effects' | 'keepSecret'>,
): Promise<ObjectStore> {
  const { endpoint } = settings;
  if (endpoint !== undefined && isPlainToOthers(endpoint)) {
    effects.log.warn(
      'storage.sent_unencrypted',
      'Costs are sent unencrypted: use https in storage.endpoint, unless you own the network to this host',
      { host: new URL(endpoint).host },
    );
  }
  // Loaded here: most exports stay on this machine.
  const { openS3Store } = await import('../storage/index.ts');
  return openS3Store({ destination, settings, signal, keepSecret });
}

/** Sends published exports to a store. `root` is the local folder of all exports. Says what was sent. */
export async function sendExports(
  published: readonly PublishedPlace[],
  root: string,
  place: StorePlace,
  context: CommandContext,
): Promise<void> {
  if (published.length === 0) return;
  const store = await openStore(place, context);
  try {
    for (const each of published) {
      // The child process said so, which also runs the project's SQL.
      const folders = [each.reportFolder, each.folder];
      if (!folders.every((folder) => isStrictlyBelow(root, folder))) {
        throw new Error(`${folders.join(' and ')} are not below the folder of all exports`);
      }
      const remote = relative(root, each.folder).split(sep).join('/');
      const mirrored = await sendExport(store, each, remote, context);
      if (!context.json) await context.write(`${describe(`${store.url}/${remote}`, mirrored)}\n`);
    }
  } finally {
    store.close();
  }
}

function isStrictlyBelow(root: string, folder: unknown): boolean {
  if (typeof folder !== 'string') return false;
  const path = relative(root, folder);
  return path !== '' && path !== '..' && !path.startsWith(`..${sep}`) && !isAbsolute(path);
}

async function sendExport(
  store: ObjectStore,
  { reportFolder, folder }: PublishedPlace,
  remote: string,
  { signal, tell, progress }: CommandContext,
): Promise<Mirrored> {
  const [{ contentOfExport, filesOfManifest }, { mirrorExport }, { holdFolder }] = await Promise.all([
    import('../reports/index.ts'),
    import('../storage/index.ts'),
    import('../warehouse/index.ts'),
  ]);
  // Another process that writes this export would replace files while they are sent.
  const lock = await holdFolder(reportFolder, { patienceMs, signal });
  try {
    const content = await contentOfExport(folder);
    if (content === undefined) throw new UsageError(`${folder} has no manifest any more: run the report again`);
    return await mirrorExport(
      store,
      { folder, content, remote, filesOf: (text) => filesOfManifest(content.manifestName, text) },
      { signal, tell, progress },
    );
  } finally {
    lock.release();
  }
}

function describe(url: string, { sent, bytes, removed, isUnchanged }: Mirrored): string {
  if (isUnchanged) return `${url} (unchanged)`;
  const gone = removed === 0 ? '' : `, ${counted(removed, 'old file')} removed`;
  return `${url}: ${counted(sent, 'file')} sent (${bytes} bytes)${gone}`;
}

/** The folder of all local exports of a command. */
export function rootOf(dir: string): string {
  return join(dir, 'exports');
}
