import { join } from 'node:path';
import { LockedError, UnprovenError } from '../base/errors.ts';
import { act } from '../base/next-step.ts';
import { atOnce } from './at-once.ts';
import { type Lease, type LeaseTimes, leaseName, takeLease, usualLeaseTimes } from './lease.ts';
import { type ExportContent, type NamedFile, planMirror, type RemoteState } from './mirror-plan.ts';
import { shaLabel } from './s3-store.ts';
import { type Condition, ConditionError, keyIn, type Labels, type ListedObject, type ObjectStore } from './store.ts';

/** An export in a local folder, and its place in a store. */
export interface ExportToMirror {
  /** The local folder of the manifest. */
  readonly folder: string;
  readonly content: ExportContent;
  /** The folder in the store, below the store's prefix. */
  readonly remote: string;
  /** What tells its books from others; undefined if that is not known. */
  readonly books?: string | undefined;
  /** The files that a stored manifest names. Throws if it is none of ours. */
  filesOf(manifest: string): readonly NamedFile[];
  /** Whether a stored manifest is of books that know more than these, such as those before a restore. */
  isOfLaterBooks?(manifest: string): Promise<boolean>;
}

/** What was done. */
export interface Mirrored {
  readonly sent: number;
  readonly bytes: number;
  readonly removed: number;
  /** Whether the store had everything already. */
  readonly isUnchanged: boolean;
}

export interface MirrorOptions {
  readonly signal: AbortSignal;
  readonly times?: LeaseTimes;
  tell(words: string): void;
  progress(words: string): void;
}

const filesAtOnce = 3;
/** The label of a manifest that tells its books from others. */
const booksLabel = 'costbook-books';

/**
 * Brings an export to a store: sends the files that differ, then the manifest, then removes what it no longer names. A
 * reader finds each object whole, old or new, and everything that a manifest names. Only one publisher at a time works
 * in a folder. If this process dies, the next run continues from what was sent and removes the rest. Throws LockedError
 * if somebody else publishes there, UnprovenError if the export there is of other or later books, and what the store throws.
 */
export async function mirrorExport(
  store: ObjectStore,
  asked: ExportToMirror,
  options: MirrorOptions,
): Promise<Mirrored> {
  const { content, remote } = asked;
  const leaseKey = keyIn(remote, leaseName);
  const manifestKey = keyIn(remote, content.manifestName);
  const [stored, running] = await Promise.all([store.readText(manifestKey), store.readText(leaseKey)]);
  if (stored?.text === content.manifest && running === undefined) {
    return { sent: 0, bytes: 0, removed: 0, isUnchanged: true };
  }
  if (stored !== undefined) await expectOwn(store, manifestKey, asked, stored.text);
  const lease = await takeLease(store, leaseKey, options.signal, options.times ?? usualLeaseTimes);
  let isFinished = false;
  try {
    if (!lease.isConditional) {
      options.tell(
        `warning: ${store.url} ignores conditional writes, so two publishers at the same time could mix their files; ` +
          'let only one machine publish there',
      );
    }
    const mirrored = await new Mirror(store, asked, lease, options).run();
    isFinished = true;
    return mirrored;
  } catch (error) {
    if (!(error instanceof ConditionError)) throw error;
    throw new LockedError(store.url, 'another publisher', {
      cause: error,
      advice: `${error.message} meanwhile. Nothing was mixed: every object is whole. Run this again when it has ended`,
    });
  } finally {
    const released = lease.release(isFinished);
    await (isFinished ? released : released.catch(() => undefined));
  }
}

/**
 * Throws UnprovenError for the manifest of other books: each project would remove what the other one sent. And for one of later
 * books: after a restore from a backup, older numbers would replace newer ones, or those of a close.
 */
async function expectOwn(store: ObjectStore, manifestKey: string, asked: ExportToMirror, text: string): Promise<void> {
  const found = (await store.describe(manifestKey))?.labels[booksLabel];
  const isOther = found !== undefined && asked.books !== undefined && found !== asked.books;
  if (!isOther && (await asked.isOfLaterBooks?.(text)) !== true) return;
  const [what, step] = isOther
    ? ['other books, expected these', 'name a prefix that no other project uses.']
    : [
        'later books, or of a close that these do not know, expected books that know it',
        'if these books are an older copy, restore the folder data of the newest one and run this again.',
      ];
  throw new UnprovenError(`${store.url}/${manifestKey} is of ${what}. Nothing was sent or removed`, {
    next: act(`${step} If these books replace the others, first remove that object.`),
  });
}

/** One publication, under its lease. */
class Mirror {
  readonly #store: ObjectStore;
  readonly #asked: ExportToMirror;
  readonly #lease: Lease;
  readonly #options: MirrorOptions;
  readonly #labels: Labels;
  /** The etag that each object must have before the manifest is written. */
  readonly #etags = new Map<string, string>();
  #sent = 0;
  #bytes = 0;

  constructor(store: ObjectStore, asked: ExportToMirror, lease: Lease, options: MirrorOptions) {
    this.#store = store;
    this.#asked = asked;
    this.#lease = lease;
    this.#options = options;
    const { remote, books } = asked;
    this.#labels = {
      ...{ 'costbook-export': encodeURIComponent(remote), 'costbook-run': lease.run },
      ...(books === undefined ? {} : { [booksLabel]: books }),
    };
  }

  async run(): Promise<Mirrored> {
    const { content, remote } = this.#asked;
    const manifest = await this.#store.readText(keyIn(remote, content.manifestName));
    if (this.#lease.isAfterFailure) await this.#store.removeUnfinished(keyIn(remote, ''));
    const state = await this.#look(manifest?.text);
    const plan = planMirror(content, state, [leaseName]);
    for (const file of plan.same) this.#expect(file, state.objects.get(file.name)?.etag);
    const toSend = [...plan.toSend];
    await atOnce(filesAtOnce, plan.unsure, async (file) => {
      const there = await this.#store.describe(keyIn(remote, file.name));
      const isSame = there?.labels[shaLabel] === file.sha256 && there.bytes === file.bytes;
      if (isSame) this.#expect(file, there.etag);
      else toSend.push(file);
    });
    const order = new Map(content.files.map((file, index) => [file.name, index]));
    toSend.sort((a, b) => (order.get(a.name) ?? 0) - (order.get(b.name) ?? 0));
    await atOnce(filesAtOnce, toSend, (file) => this.#send(file, state.objects.get(file.name), toSend));
    await this.#prove();
    if (manifest?.text !== content.manifest) {
      await this.#lease.prove();
      const condition: Condition = manifest === undefined ? { ifAbsent: true } : { ifEtag: manifest.etag };
      await this.#store.putText(
        keyIn(remote, content.manifestName),
        content.manifest,
        this.#labels,
        this.#lease.isConditional ? condition : undefined,
      );
    }
    const removed = await this.#sweep(plan.others);
    return { sent: this.#sent, bytes: this.#bytes, removed, isUnchanged: this.#sent === 0 && removed === 0 };
  }

  /** Lists what the store has in the folder and below it. */
  async #look(manifest: string | undefined): Promise<RemoteState> {
    const objects = await this.#list();
    let named: readonly NamedFile[] | undefined;
    try {
      named = manifest === undefined ? undefined : this.#asked.filesOf(manifest);
    } catch {
      named = undefined; // damaged: every object is compared by its own hash
    }
    return { named, objects, isFinished: named !== undefined && !this.#lease.isAfterFailure };
  }

  async #list(): Promise<Map<string, ListedObject>> {
    const { remote } = this.#asked;
    const start = keyIn(remote, '');
    const objects = new Map<string, ListedObject>();
    for await (const object of this.#store.list(start)) objects.set(object.key.slice(start.length), object);
    return objects;
  }

  #expect({ name }: NamedFile, etag: string | undefined): void {
    if (etag !== undefined) this.#etags.set(name, etag);
  }

  async #send(file: NamedFile, there: ListedObject | undefined, all: readonly NamedFile[]): Promise<void> {
    const { folder, remote } = this.#asked;
    this.#options.signal.throwIfAborted();
    this.#lease.check();
    this.#options.progress(`${this.#sent + 1} of ${all.length} files to ${this.#store.url}, ${file.name}`);
    const condition: Condition = there === undefined ? { ifAbsent: true } : { ifEtag: there.etag };
    const etag = await this.#store.putFile(
      keyIn(remote, file.name),
      { path: join(folder, ...file.name.split('/')), bytes: file.bytes, sha256: file.sha256 },
      this.#labels,
      this.#lease.isConditional ? condition : undefined,
    );
    this.#expect(file, etag);
    this.#sent += 1;
    this.#bytes += file.bytes;
  }

  /** Lists the folder again: the manifest may only name objects that are as this run left or found them. */
  async #prove(): Promise<void> {
    const { content } = this.#asked;
    const objects = await this.#list();
    this.#lease.check();
    for (const { name, bytes } of content.files) {
      const there = objects.get(name);
      const etag = this.#etags.get(name);
      if (there !== undefined && there.bytes === bytes && there.etag === etag) continue;
      const found = there === undefined ? 'nothing' : `an object of ${there.bytes} bytes, written by somebody else`;
      throw new UnprovenError(
        `${this.#store.url}/${keyIn(this.#asked.remote, name)}: found ${found}, expected the ${bytes} bytes that were ` +
          'sent. The manifest was not written, so the previous publication stays valid. Let only one publisher write ' +
          'there, and run this again',
      );
    }
  }

  /** Removes objects that publications of this export have sent: the stored manifest may be anybody's, and name what it likes. */
  async #sweep(others: readonly string[]): Promise<number> {
    const { remote } = this.#asked;
    const ours: string[] = [];
    await atOnce(filesAtOnce, others, async (name) => {
      const there = await this.#store.describe(keyIn(remote, name));
      if (there?.labels['costbook-export'] === this.#labels['costbook-export']) ours.push(name);
    });
    await atOnce(filesAtOnce, ours, async (name) => {
      this.#lease.check();
      await this.#store.remove(keyIn(remote, name));
    });
    return ours.length;
  }
}
