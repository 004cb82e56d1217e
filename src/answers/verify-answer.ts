import { stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { exitCodes, UsageError } from '../base/errors.ts';
import { expectProject } from '../base/project-folder.ts';
import type { CommandInput } from '../options/read.ts';
import {
  differingWords,
  exportsInOthers,
  findExports,
  readExportsJournal,
  revokedExports,
  revokedWords,
  type VerifiedExport,
  verifyExport,
} from '../reports/exports/index.ts';
import { openExportVerifier } from '../reports/publishing/index.ts';
import { readReports } from '../reports/questions/index.ts';
import { statementReports } from '../statement/index.ts';
import { counted } from '../text/counted.ts';
import { forTerminal } from '../text/safe-text.ts';
import { openScratch } from '../warehouse/store/index.ts';
import type { ChildContext } from './context.ts';
import { differenceLines } from './difference-lines.ts';

/** Verifies exports, in a child process: it runs reports again, and their SQL may be the user's. */
export async function answerVerify(input: CommandInput, context: ChildContext): Promise<number> {
  const root = resolve(context.folder, input.arguments[0] ?? join(context.dir, 'exports'));
  const isFolder = await stat(root).then(
    (found) => found.isDirectory(),
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return false;
      throw error;
    },
  );
  const folders = isFolder ? await findExports(root, (await readExportsJournal(context.dir)).folders) : [];
  if (folders.length === 0) {
    if (input.arguments[0] === undefined) {
      expectProject(context);
      throw new UsageError(
        `there is nothing to verify yet: ${root} has no export. Run "costbook report <name> --out exports" first`,
      );
    }
    throw new UsageError(
      `${root} ${isFolder ? 'contains no export: there is no manifest below it' : 'is not a folder'}; ` +
        'name a folder that "costbook report" wrote to, or run "costbook report <name>" first',
    );
  }
  const reports = [...Object.values(await statementReports()), ...(await readReports(join(context.dir, 'sql')))];
  const scratch = await openScratch(root);
  const verified: VerifiedExport[] = [];
  const others = exportsInOthers(root, folders);
  const files = await scratch.connect(context.signal);
  const verifier = await openExportVerifier(context.dir, reports, { ...context, files });
  try {
    for (const [index, folder] of folders.entries()) {
      context.progress(`export ${index + 1} of ${folders.length}, ${folder}`);
      context.signal.throwIfAborted();
      const one = await verifyExport(root, folder, files, verifier, others);
      verified.push(one);
      if (!context.json) await context.write(describe(one));
    }
  } finally {
    verifier.close();
    scratch.close();
  }
  const differences = verified.reduce((sum, one) => sum + one.differences.length, 0);
  const unproven = verified.filter(({ isUnproven }) => isUnproven).length;
  const isUsual = root === join(context.dir, 'exports');
  const out = isUsual ? undefined : root;
  const revoked = await revokedExports(root, verifier.shown, out);
  const isRevoked = new Set(revoked.map(({ folder }) => folder));
  const differing = verified.filter((one) => one.differences.length > 0 && !isRevoked.has(one.folder));
  const again = await differingWords(root, new Set(differing.map(({ folder }) => folder)), out);
  await context.answer({ folder: root, exports: verified, differences, revoked }, () => {
    const open = unproven === 0 ? '' : `, ${unproven} not compared`;
    const found = `${differences === 0 ? 'no differences' : counted(differences, 'difference')}${open}`;
    const steps = [revokedWords(revoked), again].filter((words) => words !== undefined);
    return [`${counted(verified.length, 'export')}: ${found}`, ...steps, ''].join('\n');
  });
  return differences + unproven === 0 ? exitCodes.done : exitCodes.unproven;
}

function describe(one: VerifiedExport): string {
  const { folder, files, rows, cost, costColumn, asOf, notCompared, differences, notes } = one;
  const outcome = differences.length > 0 ? 'DIFFERS' : notCompared === null ? 'same   ' : 'UNKNOWN';
  const what =
    asOf === null
      ? ''
      : `  ${files} file${files === 1 ? '' : 's'}, ${counted(rows ?? 0, 'row')}${cost === null ? '' : `, ${costColumn} ${cost} USD`}, as of ${asOf}`;
  return (
    [
      `${outcome}  ${folder}${what}`,
      ...differenceLines(differences),
      ...(notCompared === null ? [] : [`  not compared with the books: ${notCompared}`]),
      ...notes.map((note) => `  note: ${note}`),
    ]
      // Names, paths and values of a manifest may come from anybody.
      .map((line) => `${forTerminal(line)}\n`)
      .join('')
  );
}
