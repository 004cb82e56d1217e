import {
  type FiscalYear,
  monthNames,
  weekdayNames,
  weekPatterns,
  weekStarts,
  yearNames,
} from '../../time/fiscal-year.ts';
import { choiceParser, type Given, keysOf, type Problems, readValue } from '../../yaml/index.ts';
import { fiscalYearRule } from './file-keys.ts';

const parseMonth = choiceParser(monthNames);
const parseWeekday = choiceParser(weekdayNames);
const parseWeeks = choiceParser(weekPatterns);
const parseWeekStart = choiceParser(weekStarts);
const parseNamed = choiceParser(yearNames);

/** The fiscal year of a budget file; undefined if there is none or a mistake in it, which is reported. */
export function readFiscalYear(given: Given | undefined, problems: Problems): FiscalYear | undefined {
  const keys = given && keysOf(given, fiscalYearRule, problems);
  if (given === undefined || keys === undefined) return undefined;
  if (!keys.has('start')) problems.report(given, 'found no start, expected a month such as start: april; add it');
  const start = readValue(keys.get('start'), parseMonth, problems);
  const weeks = readValue(keys.get('weeks'), parseWeeks, problems);
  const weekday = readValue(keys.get('weekday'), parseWeekday, problems);
  const weekStart = readValue(keys.get('weekStart'), parseWeekStart, problems);
  const named = readValue(keys.get('named'), parseNamed, problems) ?? 'end';
  for (const key of ['weekday', 'weekStart']) {
    const place = keys.get(key);
    if (place === undefined || keys.has('weeks')) continue;
    problems.report(
      place,
      `found ${key} without weeks, so that months start on their first day; add weeks: 4-4-5, or remove it`,
    );
  }
  if (start === undefined) return undefined;
  return { start, named, weeks, weekday: weekday ?? 'sunday', weekStart: weekStart ?? 'nearest' };
}
