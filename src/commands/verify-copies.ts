import { join } from 'node:path';
import { differenceLines } from '../answers/index.ts';
import { exitCodes, UsageError, worstExitCode } from '../base/errors.ts';
import { isStoreAddress } from '../config/index.ts';
import { landingPlaces } from '../fetch/index.ts';
import type { CommandInput } from '../options/read.ts';
import { copyFacts } from '../reports/exports/index.ts';
import {
  landingHere,
  openStore,
  type StorePlace,
  type VerifiedArchive,
  type VerifiedCopy,
  verifyArchive,
  verifyCopies,
} from '../storage/index.ts';
import { counted } from '../text/counted.ts';
import { forTerminal } from '../text/safe-text.ts';
import type { CommandContext } from './command.ts';
import { configOf, destinationOf, rootOf } from './exports-in-store.ts';

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
    const { exportsTo, landing } = configOf(context);
    // An index of an archive that somebody puts beside exports does not make them one.
    const isArchive = landing.archive?.url === store.url && exportsTo?.url !== store.url;
    const facts = await copyFacts(context.dir, rootOf(context.dir));
    const exports = isArchive ? [] : await verifyCopies(store, facts, context.progress);
    if (exports.length > 0) {
      const there = new Set(exports.map(({ folder }) => folder));
      const absent = exportsTo?.url === store.url ? (await facts.here()).filter((folder) => !there.has(folder)) : [];
      return await answerCopies(store.url, exports, absent, context);
    }
    const root = join(context.dir, 'data', 'landing');
    const archive =
      exportsTo?.url === store.url
        ? undefined
        : await verifyArchive(store, context.progress, await landingHere(root, await landingPlaces(root)));
    if (archive !== undefined) return await answerArchive(store.url, archive, context);
    throw new UsageError(
      `${store.url} has no export: there is no manifest below it. Run "costbook report <name>" first`,
    );
  } finally {
    store.close();
  }
}

async function answerCopies(
  url: string,
  exports: readonly VerifiedCopy[],
  absent: readonly string[],
  context: CommandContext,
): Promise<{ exitCode: number; answer: object }> {
  const differences = exports.reduce((sum, one) => sum + one.differences.length, 0);
  const unproven = exports.filter(({ isUnproven }) => isUnproven).length;
  const answer = { store: url, exports, absent, differences };
  if (context.json) await context.write(`${JSON.stringify(answer)}\n`);
  else {
    for (const one of exports) await context.write(describe(url, one));
    const open = unproven === 0 ? '' : `, ${unproven} unknown`;
    const found = differences === 0 ? 'no differences' : counted(differences, 'difference');
    await context.write(`${counted(exports.length, 'copy', 'copies')} in ${url}: ${found}${open}\n`);
    if (absent.length > 0) {
      const names = counted(absent.length, 'export');
      await context.write(
        safe([`${names} of this project without a copy there: ${absent.join(', ')}. "costbook report" sends it`]),
      );
    }
  }
  return { exitCode: differences + unproven === 0 ? exitCodes.done : exitCodes.unproven, answer };
}

async function answerArchive(
  url: string,
  { loads, pages, through, unsent, unknown, differences }: VerifiedArchive,
  { json, write }: CommandContext,
): Promise<{ exitCode: number; answer: object }> {
  const answer = { store: url, loads, pages, through, unsent, unknown, differences };
  const lines = [
    ...differenceLines(differences),
    `${counted(loads, 'load')} with ${counted(pages, 'page')} in ${url}, complete through load ${through}: ${
      differences.length === 0 ? 'no differences' : counted(differences.length, 'difference')
    }${unknown === 0 ? '' : `, ${unknown} unknown`}`,
    ...(unsent === 0
      ? []
      : [
          `  note: ${counted(unsent, 'load')} of this project ${unsent === 1 ? 'is' : 'are'} not in it: the next run sends them`,
        ]),
    ...(unknown === 0
      ? []
      : [
          `  note: ${counted(unknown, 'load')} of it ${unknown === 1 ? 'is' : 'are'} not in data/landing: nobody can say whether ${unknown === 1 ? 'it was' : 'they were'} changed`,
        ]),
  ];
  await write(json ? `${JSON.stringify(answer)}\n` : safe(lines));
  return { exitCode: differences.length + unknown === 0 ? exitCodes.done : exitCodes.unproven, answer };
}

function describe(url: string, { folder, files, bytes, differences, isUnproven, notes }: VerifiedCopy): string {
  const outcome = differences.length > 0 ? 'DIFFERS' : isUnproven ? 'UNKNOWN' : 'same   ';
  return safe([
    `${outcome}  ${url}/${folder}  ${counted(files, 'file')}, ${bytes} bytes`,
    ...differenceLines(differences),
    ...notes.map((note) => `  note: ${note}`),
  ]);
}

/** Lines for a terminal: names of objects, and what manifests say, may come from anybody. */
function safe(lines: readonly string[]): string {
  return lines.map((line) => `${forTerminal(line)}\n`).join('');
}
