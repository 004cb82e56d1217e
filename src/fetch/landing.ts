import { mkdir, open, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
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
      const incoming = join(root, 'incoming', `${process.pid}-${begun}`);
      await rm(incoming, { recursive: true, force: true });
      await mkdir(incoming, { recursive: true });
      const landed = new Map<string, LandedPage>();
      return {
        path: incoming,
        async page(query, number, body) {
          const file = `${fileStem(query)}-${String(number).padStart(4, '0')}.json${body.gzipped ? '.gz' : ''}`;
          await writeFile(join(incoming, file), body.bytes);
          landed.set(file, { file, query: describeQuery(query), request: queryParameters(account, query) });
        },
        async restart(query) {
          const stem = `${fileStem(query)}-`;
          for (const file of [...landed.keys()]) {
            if (!file.startsWith(stem) || !/^\d{4}\.json/.test(file.slice(stem.length))) continue;
            landed.delete(file);
            await rm(join(incoming, file), { force: true });
          }
        },
        async file(loadNumber, role, seenAt) {
          const place = join(folderName(account), loadFolder(loadNumber));
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
          await writeDurably(join(incoming, 'load.json'), `${text}\n`);
          await mkdir(join(root, folderName(account)), { recursive: true });
          await rm(target, { recursive: true, force: true });
          await rename(incoming, target);
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
      await rm(join(root, 'incoming'), { recursive: true, force: true });
      const unfinished = loadFolder(lastLoadNumber + 1);
      for (const account of await readdir(root).catch(() => [])) {
        await rm(join(root, account, unfinished), { recursive: true, force: true });
      }
    },
  };
}

export type Landing = ReturnType<typeof openLanding>;

/** An account id as the name of one folder: whatever is in it, it stays one name below the root. */
function folderName(account: string): string {
  return encodeURIComponent(account).replaceAll('.', '%2E').replaceAll('*', '%2A');
}

function fileStem(query: Query): string {
  return encodeURIComponent(describeQuery(query).replaceAll(' ', '-')).replaceAll('.', '%2E').slice(0, 150);
}

function loadFolder(loadNumber: number): string {
  return `load-${String(loadNumber).padStart(9, '0')}`;
}

async function writeDurably(path: string, text: string): Promise<void> {
  const file = await open(path, 'w');
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
}
