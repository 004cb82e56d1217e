import { cp, mkdir, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { afterFile } from './clean-up.ts';
import { type Given, givenBooks } from './given-books.ts';
import { newProject, startCli, startMain } from './project.ts';

export const hostileNames = [
  '<img src=x onerror=alert(1)>',
  '"><script>alert(2)</script>',
  'abc\u202Edcba',
  `${'long'.repeat(2500)}`,
];

/** The instant through which the given books are complete. */
export const through = '2026-10-04T12:00:00Z';
const hours = (start: string, end: string) => {
  const texts: string[] = [];
  for (let at = Date.parse(start); at < Date.parse(end); at += 3_600_000)
    texts.push(new Date(at).toISOString().slice(0, 19).replace('T', ' '));
  return texts;
};

/** A month and four and a half days of two workspaces; `south` costs a tenth of a cent more in each hour from October on. */
export function dashboardBooks(extra: Given = {}): Given {
  const rows = (name: string, workspace: string, cost: string, start: string, end: string) =>
    hours(start, end).map((bucket_start) => ({
      workspace,
      resource_name: name,
      resource_uuid: `id-${name.slice(0, 20)}`,
      bucket_start,
      cost,
      usage: '10',
    }));
  return {
    ...extra,
    accounts: [{}],
    loads: [{ window_start: '2026-09-01', window_end: '2026-10-04 12:00:00', platform_at: '2026-10-04 14:00:00' }],
    covered: [{ window_start: '2026-09-01', window_end: '2026-10-04 12:00:00', claimed_end: '2026-10-04 12:00:00' }],
    costs: [
      ...rows('box', 'north', '0.125000000001', '2026-09-20', '2026-10-04 12:00:00Z'.replace(' ', 'T')),
      ...rows('secret-box', 'south', '0.25', '2026-09-25', '2026-10-04T12:00:00Z'),
      ...hostileNames.map((name, index) => ({
        workspace: 'north',
        resource_name: name,
        resource_uuid: `h-${index}`,
        bucket_start: '2026-10-02 05:00:00',
        cost: '1.5',
        usage: '1',
      })),
      ...(extra.costs ?? []),
    ],
  };
}

/** The usual books, which most tests of a file read; made once. */
let usual: Promise<string> | undefined;

/** A project whose published books hold the given rows, and those that the statements of `fill` insert. */
export async function dashboardProject(given?: Given, fill?: string): Promise<string> {
  const dir = await newProject();
  await mkdir(join(dir, 'data'), { recursive: true });
  if (given !== undefined || fill !== undefined) await publishGiven(dir, given ?? dashboardBooks(), fill);
  else {
    usual ??= dashboardProject(dashboardBooks());
    afterFile(() => {
      usual = undefined; // its folder goes with the file that made it
    });
    await cp(join(await usual, 'data'), join(dir, 'data'), { recursive: true });
  }
  return dir;
}

let published = 0;

/** Puts books in the place of the published ones, as a run does: in one step. */
export async function publishGiven(dir: string, given: Given, fill?: string): Promise<void> {
  published += 1;
  const file = join(dir, 'data', `given-${published}.duckdb`);
  const books = await givenBooks(given, file);
  if (fill !== undefined) await books.connection.run(fill);
  books.close();
  await rename(file, join(dir, 'data', 'costbook.duckdb'));
}

export interface Served {
  readonly url: string;
  get(
    path: string,
    headers?: Readonly<Record<string, string>>,
  ): Promise<{ status: number; text: string; headers: Headers }>;
  stop(): Promise<void>;
}

const commandLine = (dir: string, args: readonly string[]) => [
  ...['serve', '--json', '--dir', dir, ...args],
  ...(args.includes('--port') ? [] : ['--port', '0']),
  ...(args.includes('--now') ? [] : ['--now', '2026-10-04T15:00:00Z']),
];

/** `costbook serve` on a free port of this machine. */
export async function serve(
  dir: string,
  args: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
): Promise<Served> {
  const running = startMain(commandLine(dir, args), env);
  return servedAt(await running.firstLine, async () => {
    running.signal('SIGTERM');
    await running.ended;
  });
}

/** `costbook serve` in a process of its own, for what is measured of that process. */
export async function serveApart(dir: string): Promise<Served & { readonly pid: number | undefined }> {
  const { process: server, ended } = startCli(commandLine(dir, []));
  const line = await new Promise<string>((resolve, reject) => {
    let text = '';
    server.stdout?.on('data', (chunk: Buffer) => {
      text += chunk.toString();
      if (text.includes('\n')) resolve(text);
    });
    ended.then(({ stderr }) => reject(new Error(stderr)), reject);
  });
  const served = servedAt(line, async () => {
    server.kill('SIGTERM');
    await ended;
  });
  return { ...served, pid: server.pid };
}

function servedAt(line: string, stop: () => Promise<void>): Served {
  const { url } = JSON.parse(line) as { url: string };
  return {
    url,
    stop,
    async get(path, headers = {}) {
      const answer = await fetch(`${url}${path}`, { headers, redirect: 'manual' });
      return { status: answer.status, text: await answer.text(), headers: answer.headers };
    },
  };
}
