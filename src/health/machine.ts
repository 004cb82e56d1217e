import { access, constants, stat } from 'node:fs/promises';
import { totalmem } from 'node:os';
import { join } from 'node:path';
import { exitCodes, UsageError } from '../base/errors.ts';
import { memoryLimitMb } from '../base/memory.ts';
import { describeMisplaced, misplacedFiles } from '../base/misplaced.ts';
import { act, repair } from '../base/next-step.ts';
import { nodeVersion, version } from '../base/version.ts';
import { type LocalConfig, umaskOf } from '../config/index.ts';
import { bytesWords } from '../text/bytes.ts';
import { fullDiskRemedy } from '../text/full-disk.ts';
import { spaceOf } from '../warehouse/integrity/index.ts';
import type { HealthContext } from './context.ts';
import { type Found, fail, ok, warn } from './found.ts';

const nodeAtLeast = [20, 19] as const;

export function program(): readonly Found[] {
  const [major = 0, minor = 0] = nodeVersion.split('.').map(Number);
  const isOld = major < nodeAtLeast[0] || (major === nodeAtLeast[0] && minor < nodeAtLeast[1]);
  const words = `Costbook ${version} on Node ${nodeVersion}`;
  return [
    isOld
      ? fail(exitCodes.machine, `${words}, which is too old`, act(`install Node ${nodeAtLeast.join('.')} or newer.`))
      : ok(words),
  ];
}

export async function disk({ dir }: HealthContext): Promise<readonly Found[]> {
  await access(dir, constants.W_OK).catch(() => {
    throw new UsageError(
      `this user cannot write to ${dir}: grant write access, or choose another project folder with --dir`,
    );
  });
  const space = await spaceOf(dir);
  const { free, needed, books } = space;
  const words = `${bytesWords(free)} free in ${dir}; the books use ${bytesWords(books)}`;
  if (free < needed) return [{ ...fail(exitCodes.machine, words, act(`${fullDiskRemedy(space)}.`)), cause: 'disk' }];
  if (free < 2 * needed) return [warn(words, act('free some space soon; landing.keepDays removes old pages.'))];
  return [ok(words)];
}

/** Folders in place of files of the books, and files in place of their folders. */
export function misplaced({ dir }: HealthContext): readonly Found[] {
  const remedy = repair(', which moves it aside');
  return misplacedFiles(dir).map((each) =>
    each.stopsRuns
      ? fail(exitCodes.unproven, `${describeMisplaced(each)}, so no ingest can load`, remedy)
      : warn(describeMisplaced(each), remedy),
  );
}

/** Whether files are readable by more users than `fileMode` permits: older files keep their mode. */
export async function fileModes(config: LocalConfig | undefined, { dir }: HealthContext): Promise<readonly Found[]> {
  const mode = config?.fileMode ?? 0o600;
  const folder = join(dir, 'data');
  const found = await stat(folder).catch(() => undefined);
  if (found === undefined) return [];
  const wanted = 0o777 & ~umaskOf(mode);
  const octal = (bits: number) => `0${(bits & 0o777).toString(8)}`;
  const words = `${folder} has mode ${octal(found.mode)}`;
  if ((found.mode & 0o777 & ~wanted) === 0) return [ok(`${words}, as fileMode ${octal(mode)} permits`)];
  const who = (bits: number) => `${bits & 4 ? 'r' : ''}${bits & 2 ? 'w' : ''}${bits & 4 ? 'X' : ''}`;
  return [
    warn(
      `${words}: more users may read the books than fileMode ${octal(mode)} permits`,
      act(`run "chmod -R g=${who(mode >> 3)},o=${who(mode)} ${folder}", or change fileMode.`),
    ),
  ];
}

export function memory(): readonly Found[] {
  const words = `DuckDB may use ${memoryLimitMb(false)} MB in an ingest, ${memoryLimitMb(true)} MB in a reader`;
  return [
    totalmem() < 0.9 * 1024 ** 3
      ? warn(words, act('give the machine (or container) at least 1 GB of memory.'))
      : ok(words),
  ];
}
