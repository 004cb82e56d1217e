import { createRequire } from 'node:module';
import { isAbsolute, join } from 'node:path';
import type ICAL from 'ical.js';
import { quoted } from '../choices.ts';
import { messageOf, UsageError } from '../errors.ts';
import type { Holidays } from '../month-days.ts';
import { once } from '../once.ts';
import { dayMs } from '../time.ts';
import { readTextFile } from './text-file.ts';
import { type Given, gatherProblems, itemsOf, type Parse, type Problems, parseText, readValue } from './yaml.ts';

/** Loaded with the first calendar file: most projects have none. */
const icalendar = once(() => createRequire(import.meta.url)('ical.js') as typeof ICAL);

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
  if (problems.length > 0) throw new UsageError(problems.join('\n'));
  return asSettings(entries);
}

function isDate(text: string): boolean {
  const at = /^\d{4}-\d{2}-\d{2}$/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isFinite(at) && new Date(at).toISOString().startsWith(text);
}

/** An event that repeats for ever is read up to this year. */
const lastYear = 2100;
/** An event has at most so many days. */
const mostDays = 60;
const mostRepeats = 1000;

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
      for (const day of daysIn(text)) found.add(day);
    } catch (error) {
      problems.report({ where: path }, `${messageOf(error)}; correct the file, or the setting calendar`);
    }
  }
  problems.throwIfAny();
  return found;
}

function daysIn(text: string): number[] {
  const { Component, Event, parse } = icalendar();
  let calendar: ICAL.Component;
  try {
    calendar = new Component(parse(text));
  } catch (error) {
    throw new Error(`found no iCalendar file: ${messageOf(error).slice(0, 200)}`, { cause: error });
  }
  const events = calendar.getAllSubcomponents('vevent').map((event) => new Event(event));
  if (events.length === 0) throw new Error('found no event, expected a VEVENT for each holiday');
  return events.flatMap(daysOf);
}

/** The days of an event without a time, with its repetitions; an event with a time is no holiday. */
function daysOf(event: ICAL.Event): number[] {
  const { startDate, endDate } = event;
  if (startDate === null || !startDate.isDate) return [];
  const first = dayOf(startDate);
  const days = Math.min(mostDays, Math.max(1, endDate === null ? 1 : dayOf(endDate) - first));
  const starts = event.isRecurring() ? repeatsOf(event) : [first];
  return starts.flatMap((start) => Array.from({ length: days }, (_, index) => start + index));
}

function repeatsOf(event: ICAL.Event): number[] {
  const starts: number[] = [];
  const iterator = event.iterator();
  for (let next = iterator.next(); next && starts.length < mostRepeats; next = iterator.next()) {
    if (next.year > lastYear) break;
    starts.push(dayOf(next));
  }
  return starts;
}

/** As a number of days since 1970-01-01. */
function dayOf({ year, month, day }: ICAL.Time): number {
  return Date.UTC(year, month - 1, day) / dayMs;
}
