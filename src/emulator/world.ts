import type { Instant } from '../time/time.ts';
import { groupBy, remember } from './maps.ts';
import { type Look, lookAt, type Resource, type ResourceKind } from './sample-listings.ts';

/** A change of a sandbox's files. */
type FileChange =
  | { readonly at: Instant; readonly path: string; readonly content: string }
  /** All of them, after a restore. */
  | { readonly at: Instant; readonly files: ReadonlyMap<string, string> };

/** A resource that exists, and how it looks. */
export interface Present {
  readonly resource: Resource;
  readonly look: Look;
}

/** An execution of a job: when it began, and how long each of its tasks took. */
export interface Execution {
  readonly id: string;
  readonly at: Instant;
  readonly seconds: readonly number[];
}

/** What clients did to the account: everything that the story does not know. */
export interface World {
  /** Resources of a kind with this name that exist at an instant, in one workspace or in all. */
  find(kind: ResourceKind, name: string, workspace: string | undefined, at: Instant): Present[];
  /** All resources of a kind. */
  all(kind: ResourceKind): readonly Resource[];
  deletedAt(resource: Resource): Instant | undefined;
  remove(resource: Resource, at: Instant): void;
  restoredAt(resource: Resource): Instant | undefined;
  /** Rebuilds a sandbox from the files that another one (or itself) had at an instant. */
  restore(resource: Resource, from: { readonly source: Resource; readonly takenAt: Instant }, at: Instant): void;
  usedAt(resource: Resource): Instant | undefined;
  use(resource: Resource, at: Instant): void;
  /** The files of a sandbox at an instant, by absolute path. */
  filesAt(resource: Resource, at: Instant): ReadonlyMap<string, string>;
  write(resource: Resource, at: Instant, path: string, content: string): void;
  /** The executions of a job that were started, oldest first. */
  executionsOf(resource: Resource): readonly Execution[];
  start(resource: Resource, execution: Execution): void;
  /** What was said in a thread of an agent. Adds one input. */
  say(resource: Resource, thread: string, input: string): readonly string[];
  /** Another number after each change that a listing shows. */
  revision(): number;
  /** Listings change for a reason outside of this world. */
  change(): void;
  reset(): void;
}

/** So much is remembered of threads, files and executions; the oldest goes first. */
const maxThreads = 10_000;
const maxChangesOfSandbox = 1_000;
const maxExecutions = 1_000;

/** A world in which nobody has done anything yet. */
export function openWorld(fleet: readonly Resource[]): World {
  const byKind = groupBy(fleet, ({ kind }) => kind);
  const byName = groupBy(fleet, ({ kind, name }) => `${kind} ${name}`);
  const deleted = new Map<Resource, Instant>();
  const restored = new Map<Resource, Instant>();
  const used = new Map<Resource, Instant>();
  const changes = new Map<Resource, FileChange[]>();
  const threads = new Map<string, string[]>();
  const executions = new Map<Resource, Execution[]>();
  let revision = 0;

  function record(resource: Resource, change: FileChange): void {
    const own = changes.get(resource) ?? [];
    own.push(change);
    if (own.length > maxChangesOfSandbox) own.shift();
    changes.set(resource, own);
  }

  function filesAt(resource: Resource, at: Instant): ReadonlyMap<string, string> {
    let files = new Map(firstFiles(resource));
    for (const change of changes.get(resource) ?? []) {
      if (change.at > at) continue;
      if ('files' in change) files = new Map(change.files);
      else files.set(change.path, change.content);
    }
    return files;
  }

  return {
    find(kind, name, workspace, at) {
      return (byName.get(`${kind} ${name}`) ?? []).flatMap((resource) => {
        const look = lookAt(resource, at);
        const isSeen = (workspace ?? resource.workspace) === resource.workspace;
        return look === undefined || !isSeen || (deleted.get(resource) ?? Number.POSITIVE_INFINITY) <= at
          ? []
          : [{ resource, look }];
      });
    },
    all: (kind) => byKind.get(kind) ?? [],
    deletedAt: (resource) => deleted.get(resource),
    remove(resource, at) {
      deleted.set(resource, at);
      revision += 1;
    },
    restoredAt: (resource) => restored.get(resource),
    restore(resource, { source, takenAt }, at) {
      record(resource, { at, files: filesAt(source, takenAt) });
      restored.set(resource, at);
      revision += 1;
    },
    usedAt: (resource) => used.get(resource),
    use(resource, at) {
      used.set(resource, at);
    },
    filesAt,
    write(resource, at, path, content) {
      record(resource, { at, path, content });
    },
    executionsOf: (resource) => executions.get(resource) ?? [],
    start(resource, execution) {
      executions.set(resource, [...(executions.get(resource) ?? []), execution].slice(-maxExecutions));
    },
    say({ workspace, name }, thread, input) {
      const key = `${workspace}/${name}/${thread}`;
      const said = [...(threads.get(key) ?? []), input];
      remember(threads, key, said, maxThreads);
      return said;
    },
    revision: () => revision,
    change() {
      revision += 1;
    },
    reset() {
      for (const memory of [deleted, restored, used, changes, threads, executions]) memory.clear();
      revision += 1;
    },
  };
}

/** What is in a new sandbox. */
function firstFiles({ name, workspace }: Resource): [string, string][] {
  return [
    ['/app/README.md', `# ${name}\n\nA sandbox of the workspace ${workspace}.\n`],
    ['/app/main.py', 'print("hello from the sandbox")\n'],
    ['/app/data/input.csv', 'id,amount\n1,10\n2,20\n'],
    ['/etc/hostname', `${name}\n`],
  ];
}
