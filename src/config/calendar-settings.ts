import { isAbsolute, join } from 'node:path';
import { messageOf, UsageError } from '../base/errors.ts';
import { quoted } from '../text/choices.ts';
import { dayMs, type Holidays } from '../time/time.ts';
import {
  type Given,
  gatherProblems,
  itemsOf,
  type Parse,
  type Problems,
  parseText,
  readTextFile,
  readValue,
} from '../yaml/index.ts';
import { daysOfCalendar } from './calendar-file.ts';

/** Days that may cost more or less than others: dates, and calendar files. */
export interface CalendarSettings {
  /** `2026-12-25`. */
  readonly dates: readonly string[];
  /** Paths of ICS files; relative ones are in the project folder. */
  readonly files: readonly string[];
}

const expected = 'a date such as 2026-12-25, or an .ics file such as holidays.ics';

/** Reads `calendar`: a list, or `2026-12-25,holidays.ics` as in an environment variable. */
export function readCalendar(given: Given | undefined, problems: Problems): CalendarSettings {
  if (given === undefined) return { dates: [], files: [] };
  const items: readonly Given[] =
    typeof given.value === 'string'
      ? given.value.split(',').map((value) => ({ ...given, value: value.trim() }))
      : itemsOf(given, `a list of dates and .ics files such as [2026-12-25, holidays.ics]`, problems);
  const entries = items.flatMap((item) => readValue(item, parseEntry, problems) ?? []);
  return asSettings(entries);
}

function asSettings(entries: readonly string[]): CalendarSettings {
  return { dates: entries.filter((entry) => !isFile(entry)), files: entries.filter(isFile) };
}

const isFile = (entry: string) => /\.ics$/i.test(entry);

const parseEntry: Parse<string> = (value) => {
  const text = parseText(value, 1024);
  if (isFile(text) || isDate(text)) return text;
  throw new UsageError(`found ${quoted(text)}, expected ${expected}`);
};

/** The calendar in a text such as `2026-12-25,holidays.ics`. Throws UsageError with every mistake. */
export function parseCalendar(text: string): CalendarSettings {
  const problems: string[] = [];
  const entries = text.split(',').flatMap((entry) => {
    try {
      return parseEntry(entry.trim());
    } catch (error) {
      problems.push(messageOf(error));
      return [];
    }
  });
  if (problems.length > 0) throw new UsageError(problems);
  return asSettings(entries);
}

function isDate(text: string): boolean {
  const at = /^\d{4}-\d{2}-\d{2}$/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isFinite(at) && new Date(at).toISOString().startsWith(text);
}

/**
 * All days of the calendar: those of the configuration, and each whole day of the events in its files. `dir` is the
 * project folder. Throws one UsageError that names every file that cannot be read.
 */
export function holidaysOf({ dates, files }: CalendarSettings, dir: string): Holidays {
  const found = new Set(dates.map((date) => Date.parse(date) / dayMs));
  const problems = gatherProblems();
  for (const file of files) {
    const path = isAbsolute(file) ? file : join(dir, file);
    const text = readTextFile(path, 'a file that the setting calendar names', problems);
    if (text === undefined) continue;
    try {
      for (const day of daysOfCalendar(text)) found.add(day);
    } catch (error) {
      problems.report({ where: path, file: path }, `${messageOf(error)}; correct the file, or the setting calendar`);
    }
  }
  problems.throwIfAny();
  return found;
}
