import type { ListedObject } from './store.ts';

/** A file of an export, by its name in the export's folder, with `/`. */
export interface NamedFile {
  readonly name: string;
  readonly bytes: number;
  /** In hex. */
  readonly sha256: string;
}

/** A file that a manifest names, and one that is another name of such a file (`latest.csv`). */
export interface ExportContent {
  /** The name of the manifest. */
  readonly manifestName: string;
  /** Its exact text. */
  readonly manifest: string;
  /** All files, in the order in which they are to be sent. */
  readonly files: readonly NamedFile[];
}

/** What a store has in an export's folder. */
export interface RemoteState {
  /** The files that the stored manifest names; undefined if there is no manifest that can be read. */
  readonly named: readonly NamedFile[] | undefined;
  /** By name in the folder. */
  readonly objects: ReadonlyMap<string, ListedObject>;
  /** Whether the last publication finished, so that each named object is as the manifest says. */
  readonly isFinished: boolean;
}

/** What to do so that a store has an export. */
export interface MirrorPlan {
  /** Objects that are already right, if the manifest is to be believed. */
  readonly same: readonly NamedFile[];
  /** Objects of the right size that may be right: a killed run may have sent them. */
  readonly unsure: readonly NamedFile[];
  readonly toSend: readonly NamedFile[];
  /** Objects that the new manifest does not name: of the publication before, of a killed run, or of somebody else. */
  readonly others: readonly string[];
}

/** Compares an export with what a store has of it. Pure. */
export function planMirror(content: ExportContent, remote: RemoteState, ownNames: readonly string[]): MirrorPlan {
  const before = new Map(remote.named?.map((file) => [file.name, file]));
  const plan = { same: [] as NamedFile[], unsure: [] as NamedFile[], toSend: [] as NamedFile[] };
  for (const file of content.files) {
    const there = remote.objects.get(file.name);
    const known = before.get(file.name);
    if (there === undefined || there.bytes !== file.bytes) plan.toSend.push(file);
    else if (remote.isFinished && known !== undefined) {
      (known.sha256 === file.sha256 ? plan.same : plan.toSend).push(file);
    } else plan.unsure.push(file);
  }
  const kept = new Set([...content.files.map(({ name }) => name), content.manifestName, ...ownNames]);
  return { ...plan, others: [...remote.objects.keys()].filter((name) => !kept.has(name)).sort() };
}
