import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { ingestCommandLine, newProject, startCli } from '../support/project.ts';
import { series, startScriptedPlatform } from '../support/scripted-platform.ts';

interface FileOperation {
  readonly name: string;
  readonly path: string | undefined;
}

/** What a process asked of the file system, in order, from Node's own trace of it. */
async function operationsIn(trace: string): Promise<FileOperation[]> {
  const { traceEvents } = JSON.parse(await readFile(trace, 'utf8')) as {
    traceEvents: { ph: string; cat: string; name: string; args: { path?: string; new_path?: string } }[];
  };
  return traceEvents
    .filter(({ ph, cat }) => ph === 'b' && cat.includes('node.fs.async'))
    .map(({ name, args }) => ({ name, path: args.new_path ?? args.path }));
}

test('the files of a load are on disk, bytes and names, before the load commits', async () => {
  const dir = await newProject();
  const trace = join(dir, 'trace.json');
  const box = { workspace: 'n', type: 'sandbox', name: 'b', uuid: 'u', dimension: 'sandbox_image_storage_gbs' };
  const platform = await startScriptedPlatform(series(box, '2026-09-03T05', [1, 2]));
  const [args, env] = ingestCommandLine(dir, platform, { now: '2026-09-05T12:30:00Z' });
  const traced = `--trace-event-categories=node.fs.async --trace-event-file-pattern=${trace}`;
  expect((await startCli(args, { ...env, NODE_OPTIONS: traced }).ended).exitCode).toBe(0);

  const place = join(dir, 'data', 'landing', 'acc_one', 'load-000000001');
  const { pages } = JSON.parse(await readFile(join(place, 'load.json'), 'utf8')) as { pages: unknown[] };
  const operations = await operationsIn(trace);
  const filed = operations.findIndex(({ name, path }) => name === 'rename' && path === place);
  expect(filed).toBeGreaterThan(0);
  // The journal syncs its own events before and after: count from the first page that is opened a second time.
  const opened = operations.map(({ name, path }) =>
    name === 'open' && path?.includes('/.incoming/') ? path : undefined,
  );
  const synced = opened.findIndex((path, index) => path !== undefined && opened.indexOf(path) < index);
  const before = operations.slice(synced, filed).filter(({ name }) => name === 'fsync');
  expect(before).toHaveLength(pages.length + 2); // and load.json, and the folder that names them all
  const after = operations.slice(filed + 1);
  const folder = after.findIndex(({ name, path }) => name === 'open' && path === dirname(place));
  expect(after[folder + 1]).toEqual({ name: 'fsync', path: undefined });
});
