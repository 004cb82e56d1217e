import { existsSync, readdirSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { mistakesIn, UsageError } from '../base/errors.ts';
import { shipped } from '../base/places.ts';
import { nearest, oneOf, quoted } from '../text/choices.ts';
import { readYamlFile } from '../yaml/index.ts';
import type { Job } from './definition.ts';
import { type JobInput, type JobReading, readJob } from './parse.ts';

/** Files in jobs/ that are not jobs. */
export const reservedNames = ['allocation', 'budgets'] as const;

/** The built-in jobs: next to `src` in a checkout, next to `dist` in a package. */
const builtIn = shipped('jobs');

/** The inputs for reading a project's jobs. */
export type JobsPlace = Omit<JobInput, 'text' | 'file' | 'isBuiltIn'> & {
  /** The project folder; its jobs are in jobs/. */
  readonly dir: string;
};

/**
 * Reads every job file: the project's own, and, unless `onlyOwn`, built-in ones whose name the project does not use.
 * Mistakes are in `problems`.
 */
export function readJobs({
  onlyOwn = false,
  ...place
}: JobsPlace & { readonly onlyOwn?: boolean }): readonly JobReading[] {
  const { names, strays } = onlyOwn ? filesIn(join(place.dir, 'jobs')) : filesOf(place.dir);
  return [...names.map((name) => readFile(name, place)), ...strays];
}

/** Every job. Throws one UsageError that lists the mistakes in all of them. */
export function loadJobs(place: JobsPlace): readonly Job[] {
  const readings = readJobs(place);
  const problems = readings.flatMap(({ problems }) => problems);
  if (problems.length > 0) throw new UsageError(problems);
  return readings.flatMap(({ job }) => job ?? []);
}

/** Reads one job file. Throws UsageError if there is no job of that name. */
export function readNamedJob(name: string, place: JobsPlace): JobReading {
  const { names, strays } = filesOf(place.dir);
  if (names.includes(name)) return withStrays(readFile(name, place), strays);
  if (strays.length > 0) throw new UsageError(strays.flatMap(({ problems }) => problems));
  if (reservedNames.some((reserved) => reserved === name)) {
    throw new UsageError(`jobs/${name}.yaml is not a job: expected one of ${oneOf(names)}`);
  }
  const guess = nearest(name, names);
  const hint = guess === undefined ? '' : ` (did you mean ${guess}?)`;
  throw new UsageError(
    `there is no job ${quoted(name)}${hint}: expected one of ${oneOf(names)}; to add a job, create jobs/<name>.yaml in the project folder`,
  );
}

/** One job. Throws UsageError if there is no job of that name, or if it has mistakes. */
export function loadJob(name: string, place: JobsPlace): Job {
  const { job, problems } = readNamedJob(name, place);
  if (job === undefined) throw new UsageError(problems);
  return job;
}

/** The names of all jobs, sorted. Throws UsageError for files with an invalid name. */
export function jobNames(dir: string): readonly string[] {
  const { names, strays } = filesOf(dir);
  if (strays.length > 0) throw new UsageError(strays.flatMap(({ problems }) => problems));
  return names;
}

/** The names of all jobs, sorted, and the project's files with invalid names. */
function filesOf(dir: string): { names: readonly string[]; strays: readonly JobReading[] } {
  const own = filesIn(join(dir, 'jobs'));
  return { names: [...new Set([...filesIn(builtIn).names, ...own.names])].sort(), strays: own.strays };
}

/** A job's reading together with mistakes in the folder, so that one does not hide another. */
function withStrays(reading: JobReading, strays: readonly JobReading[]): JobReading {
  if (strays.length === 0) return reading;
  return { ...reading, job: undefined, problems: [...strays, reading].flatMap(({ problems }) => problems) };
}

/** The names of a folder's jobs, and its files with invalid names. */
function filesIn(folder: string): { names: readonly string[]; strays: readonly JobReading[] } {
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return { names: [], strays: [] };
  const files = readdirSync(folder).filter((name) => !name.startsWith('.'));
  const strays: JobReading[] = [];
  const names: string[] = [];
  function refuse(name: string, fault: string): void {
    const file = join(folder, name);
    strays.push({ name, file, job: undefined, steps: [], problems: [{ found: `${file}: ${fault}`, file }] });
  }
  for (const file of files.sort()) {
    if (!/\.ya?ml$/i.test(file)) continue;
    if (!file.endsWith('.yaml')) {
      refuse(file, 'found this file, expected the ending .yaml; rename it');
      continue;
    }
    const name = basename(file, '.yaml');
    const reserved = reservedNames.find((each) => each === name.toLowerCase());
    if (reserved === name) continue;
    if (reserved !== undefined) {
      refuse(file, `found this file, expected the name ${reserved}.yaml; rename it`);
      continue;
    }
    if (/^[A-Za-z0-9][A-Za-z0-9_.-]{0,99}$/.test(name)) names.push(name);
    else {
      refuse(file, `found ${quoted(name)} as a job's name, expected letters, digits and . _ -; rename the file`);
    }
  }
  return { names, strays };
}

function readFile(name: string, { dir, ...input }: JobsPlace): JobReading {
  const own = join(dir, 'jobs', `${name}.yaml`);
  const isBuiltIn = !existsSync(own);
  const file = isBuiltIn ? join(builtIn, `${name}.yaml`) : own;
  try {
    return readJob({ ...input, file, isBuiltIn, text: readYamlFile(file) ?? '' });
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    return { name, file, job: undefined, steps: [], problems: mistakesIn(error) };
  }
}
