import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { differenceLines } from '../answers/index.ts';
import { exitCodes, UsageError, worstExitCode } from '../base/errors.ts';
import { isStoreAddress } from '../config/index.ts';
import type { CommandInput } from '../options/read.ts';
import { filesOfManifest, isManifestName } from '../reports/exports/index.ts';
import { type VerifiedArchive, type VerifiedCopy, verifyArchive, verifyCopies } from '../storage/index.ts';
import { counted } from '../text/counted.ts';
import { forTerminal } from '../text/safe-text.ts';
import type { CommandContext } from './command.ts';
import { configOf, destinationOf, rootOf, type StorePlace } from './exports-in-store.ts';
import { openStore } from './send-exports.ts';

/** Verifies the exports of a folder: prints what it finds, or gives it as data. */
export interface VerificationHere {
  verifyHere(): Promise<number>;
  answerHere(): Promise<{ readonly exitCode: number; readonly data: object }>;
}

/**
 * Verifies exports: those of a folder by `verifyHere`, those in an object store by their objects. Without an argument, the
 * project's exports, and their copies if the configuration has `exports.to`. Returns the exit code.
 */
export async function verifyEverywhere(
  input: CommandInput,
  context: CommandContext,
  { verifyHere, answerHere }: VerificationHere,
): Promise<number> {
  const [asked] = input.arguments;
  if (asked !== undefined && !isStoreAddress(asked)) return verifyHere();
  const { exportsTo, storage } = configOf(context);
  const destination = asked === undefined ? exportsTo : destinationOf(asked, 'the place to verify');
  if (destination === undefined) return verifyHere();
  const place = { destination, settings: storage };
  if (asked !== undefined) return (await verifyStore(place, context)).exitCode;
  if (!context.json) return worstExitCode([await verifyHere(), (await verifyStore(place, context)).exitCode]);
  const here = await answerHere();
  const quiet = { ...context, write: async () => undefined };
  const { exitCode, answer } = await verifyStore(place, quiet);
  await context.write(`${JSON.stringify({ ...here.data, copies: answer })}\n`);
  return worstExitCode([here.exitCode, exitCode]);
}

async function verifyStore(place: StorePlace, context: CommandContext): Promise<{ exitCode: number; answer: object }> {
  const store = await openStore(place, context);
  try {
    const archive = await verifyArchive(store, context.progress);
    if (archive !== undefined) return await answerArchive(store.url, archive, context);
    const root = rootOf(context.dir);
    const exports = await verifyCopies(
      store,
      {
        isManifestName,
        filesOf: filesOfManifest,
        localManifest: (folder, name) => readFile(join(root, folder, name), 'utf8').catch(() => undefined),
      },
      context.progress,
    );
    if (exports.length === 0) {
      throw new UsageError(
        `${store.url} has no export: there is no manifest below it. Run "costbook report <name>" first`,
      );
    }
    const differences = exports.reduce((sum, one) => sum + one.differences.length, 0);
    const answer = { store: store.url, exports, differences };
    if (context.json) await context.write(`${JSON.stringify(answer)}\n`);
    else {
      for (const one of exports) await context.write(describe(store.url, one));
      const found = differences === 0 ? 'no differences' : counted(differences, 'difference');
      await context.write(`${counted(exports.length, 'copy', 'copies')} in ${store.url}: ${found}\n`);
    }
    return { exitCode: differences === 0 ? exitCodes.done : exitCodes.unproven, answer };
  } finally {
    store.close();
  }
}

async function answerArchive(
  url: string,
  { loads, pages, through, differences }: VerifiedArchive,
  { json, write }: CommandContext,
): Promise<{ exitCode: number; answer: object }> {
  const answer = { store: url, loads, pages, through, differences };
  const lines = [
    ...differenceLines(differences),
    `${counted(loads, 'load')} with ${counted(pages, 'page')} in ${url}, complete through load ${through}: ${
      differences.length === 0 ? 'no differences' : counted(differences.length, 'difference')
    }`,
  ];
  await write(json ? `${JSON.stringify(answer)}\n` : safe(lines));
  return { exitCode: differences.length === 0 ? exitCodes.done : exitCodes.unproven, answer };
}

function describe(url: string, { folder, files, bytes, differences, notes }: VerifiedCopy): string {
  return safe([
    `${differences.length === 0 ? 'same   ' : 'DIFFERS'}  ${url}/${folder}  ${counted(files, 'file')}, ${bytes} bytes`,
    ...differenceLines(differences),
    ...notes.map((note) => `  note: ${note}`),
  ]);
}

/** Lines for a terminal: names of objects, and what manifests say, may come from anybody. */
function safe(lines: readonly string[]): string {
  return lines.map((line) => `${forTerminal(line)}\n`).join('');
}
