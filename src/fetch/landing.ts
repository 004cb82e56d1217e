import { createHash } from 'node:crypto';
import type { Dirent } from 'node:fs';
import { mkdir, open, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { RawBody } from '../platform/index.ts';
import { formatInstant, formatWindow, type Instant, type Window } from '../time.ts';
import { describeQuery, type Query, queryParameters, type Role } from './grain.ts';

/** The folder in which one window's pages arrive. */
export interface LandingFolder {
  readonly path: string;
  /** Writes one page's body as it came; the same page asked again replaces it. */
  page(query: Query, number: number, body: RawBody): Promise<void>;
  /** Forgets the pages of a query that is asked again from its first page. */
  restart(query: Query): Promise<void>;
  /**
   * Gives the folder its place among the loads, with a `load.json` that says what was asked, when and as whom.
   * Returns the place, relative to the landing root. Called right before the load's transaction commits.
   */
  file(loadNumber: number, role: Role, seenAt: Instant): Promise<string>;
  /** Removes the folder: its window did not prove, or changed nothing that needs keeping. */
  discard(): Promise<void>;
}

interface LandedPage {
  readonly file: string;
  readonly query: string;
  readonly request: Readonly<Record<string, string>>;
}

/**
 * Where the platform's answers are kept as they came, so that the warehouse can be made again from them:
 * `<root>/<account>/load-000000042/{load.json, detail-0001.json.gz, control-0001.json.gz, …}`.
 */
export function openLanding(root: string): {
  begin(account: string, window: Window, askedAt: Instant): Promise<LandingFolder>;
  removeUnfinished(lastLoadNumber: number): Promise<void>;
} {
  let begun = 0;

  return {
    async begin(account, window, askedAt) {
      begun += 1;
      const incoming = join(root, incomingFolder, `${process.pid}-${begun}`);
      await rm(incoming, { recursive: true, force: true });
      await mkdir(incoming, { recursive: true });
      const landed = new Map<string, LandedPage>();
      return {
        path: incoming,
        async page(query, number, body) {
          const plain = pageFile(query, number);
          const [file, other] = body.gzipped ? [`${plain}.gz`, plain] : [plain, `${plain}.gz`];
          await writeFile(join(incoming, file), body.bytes);
          // Asked again, a page may come packed another way; it is still one page.
          if (landed.delete(other)) await rm(join(incoming, other), { force: true });
          landed.set(file, { file, query: describeQuery(query), request: queryParameters(account, query) });
        },
        async restart(query) {
          const name = describeQuery(query);
          for (const page of [...landed.values()]) {
            if (page.query !== name) continue;
            landed.delete(page.file);
            await rm(join(incoming, page.file), { force: true });
          }
        },
        async file(loadNumber, role, seenAt) {
          const place = join(safeName(account), loadFolder(loadNumber));
          const target = join(root, place);
          const text = JSON.stringify(
            {
              loadNumber,
              account,
              window: formatWindow(window),
              role,
              askedAt: formatInstant(askedAt),
              seenAt: formatInstant(seenAt),
              pages: [...landed.values()].sort((a, b) => (a.file < b.file ? -1 : 1)),
            },
            undefined,
            1,
          );
          await writeFile(join(incoming, 'load.json'), `${text}\n`);
          // The load that commits next names these bytes: they must be there after a power cut too. Synced here and
          // not as pages arrive: a window that is asked again or does not prove costs nothing, and disks like company.
          await Promise.all(['load.json', ...landed.keys()].map((name) => sync(join(incoming, name))));
          await sync(incoming);
          const made = await mkdir(dirname(target), { recursive: true });
          await rm(target, { recursive: true, force: true });
          await rename(incoming, target);
          await sync(dirname(target));
          if (made !== undefined) await sync(root);
          return place;
        },
        async discard() {
          await rm(incoming, { recursive: true, force: true });
        },
      };
    },

    /**
     * Removes what a run that was killed left behind: pages still on their way, and the folder of a load whose
     * transaction never committed. Loads are filed one at a time, so only the number after the last can be one.
     */
    async removeUnfinished(lastLoadNumber) {
      await rm(join(root, incomingFolder), { recursive: true, force: true });
      const unfinished = loadFolder(lastLoadNumber + 1);
      const entries = await readdir(root, { withFileTypes: true }).catch((error: NodeJS.ErrnoException): Dirent[] => {
        if (error.code === 'ENOENT') return [];
        throw error;
      });
      for (const entry of entries) {
        if (entry.isDirectory()) await rm(join(root, entry.name, unfinished), { recursive: true, force: true });
      }
    },
  };
}

export type Landing = ReturnType<typeof openLanding>;

/** Where pages arrive; no account's folder can be called so. */
const incomingFolder = '.incoming';

/** What a file name may hold with room for a suffix; a longer name is told apart by its hash. */
const maxNameLength = 120;

/** Any text as one name in a folder: whatever is in it stays below the folder, and no two texts share a name. */
function safeName(text: string): string {
  const name = encodeURIComponent(text.toWellFormed()).replaceAll('.', '%2E').replaceAll('*', '%2A');
  if (name.length <= maxNameLength) return name;
  return `${name.slice(0, maxNameLength)}~${createHash('sha256').update(text).digest('hex').slice(0, 16)}`;
}

function pageFile(query: Query, number: number): string {
  const filters = [query.resourceType, query.billingDimension].filter((filter) => filter !== undefined);
  const stem = [query.purpose, ...filters.map(safeName)].join('-');
  return `${stem}-${String(number).padStart(4, '0')}.json`;
}

function loadFolder(loadNumber: number): string {
  return `load-${String(loadNumber).padStart(9, '0')}`;
}

/** Brings what is written of a file, or the names in a folder, onto the disk. */
async function sync(path: string): Promise<void> {
  const file = await open(path, 'r');
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}
