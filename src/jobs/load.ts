import { existsSync, readdirSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { oneOf, quoted, readYamlFile } from '../config/index.ts';
import { nearest } from '../did-you-mean.ts';
import { UsageError } from '../errors.ts';
import type { Job } from './definition.ts';
import { type JobInput, parseJob } from './parse.ts';

/** Files of jobs/ that are no jobs: whom costs are for, and what may be spent. */
export const reservedNames = ['allocation', 'budgets'] as const;

/** Where the built-in jobs lie: beside `src` in a checkout, beside `dist` in a package. */
const builtIn = fileURLToPath(new URL('../../jobs', import.meta.url));

/** What reading a project's jobs takes. */
export type JobsPlace = Omit<JobInput, 'text' | 'file' | 'isBuiltIn'> & {
  /** The project folder: jobs lie in its jobs/. */
  readonly dir: string;
};

/**
 * Every job by name: a project's own, and the built-in ones where it has none of that name.
 * Throws one UsageError that lists what is wrong with any of them.
 */
export function loadJobs(place: JobsPlace): readonly Job[] {
  const problems: string[] = [];
  const jobs = jobNames(place.dir).flatMap((name) => {
    try {
      return [loadNamed(name, place)];
    } catch (error) {
      if (!(error instanceof UsageError)) throw error;
      problems.push(error.message);
      return [];
    }
  });
  if (problems.length > 0) throw new UsageError(problems.join('\n'));
  return jobs;
}

/** One job. Throws UsageError where there is none of the name, or where it has a mistake. */
export function loadJob(name: string, place: JobsPlace): Job {
  const names = jobNames(place.dir);
  if (names.includes(name)) return loadNamed(name, place);
  if (reservedNames.some((reserved) => reserved === name)) {
    throw new UsageError(`jobs/${name}.yaml is no job: expected one of ${oneOf(names)}`);
  }
  const guess = nearest(name, names);
  const hint = guess === undefined ? '' : ` (did you mean ${guess}?)`;
  throw new UsageError(
    `there is no job ${quoted(name)}${hint}: expected one of ${oneOf(names)}; a file jobs/<name>.yaml in the project folder is one more`,
  );
}

/** The names of all jobs, sorted. */
export function jobNames(dir: string): readonly string[] {
  const own = namesIn(join(dir, 'jobs'));
  return [...new Set([...namesIn(builtIn), ...own])].sort();
}

function namesIn(folder: string): readonly string[] {
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return [];
  const names = readdirSync(folder).filter((name) => !name.startsWith('.'));
  const strays = names.filter((name) => name.endsWith('.yml'));
  if (strays.length > 0) {
    throw new UsageError(
      strays.map((name) => `${join(folder, name)}: found this file, expected the ending .yaml; rename it`).join('\n'),
    );
  }
  const jobs = names
    .filter((name) => name.endsWith('.yaml'))
    .map((name) => basename(name, '.yaml'))
    .filter((name) => !reservedNames.some((reserved) => reserved === name));
  for (const name of jobs) {
    if (!/^[A-Za-z0-9][A-Za-z0-9_.-]{0,99}$/.test(name)) {
      throw new UsageError(
        `${join(folder, `${name}.yaml`)}: found ${quoted(name)} as a job's name, expected letters, digits and . _ -; rename the file`,
      );
    }
  }
  return jobs;
}

function loadNamed(name: string, { dir, ...input }: JobsPlace): Job {
  const own = join(dir, 'jobs', `${name}.yaml`);
  const isBuiltIn = !existsSync(own);
  const file = isBuiltIn ? join(builtIn, `${name}.yaml`) : own;
  return parseJob({ ...input, file, isBuiltIn, text: readYamlFile(file) ?? '' });
}
