import { createRequire } from 'node:module';
import type ICAL from 'ical.js';
import { messageOf } from '../base/errors.ts';
import { once } from '../base/once.ts';
import { counted } from '../text/counted.ts';
import { oneLine } from '../text/safe-text.ts';
import { dayMs } from '../time/time.ts';

/** An event that repeats for ever is read up to this year. */
const lastYear = 2100;
const mostInterval = 1000;
/** The most days that the events of a file have, and that their repetitions are looked for on: about a second of work. */
const mostDays = 100_000;

/** Loaded with the first calendar file: most projects have none. */
const icalendar = once(() => {
  const library = createRequire(import.meta.url)('ical.js') as typeof ICAL;
  const budget = { left: mostDays };
  function spend(days: number): void {
    budget.left -= days;
    if (budget.left >= 0) return;
    throw new Error(
      `found more than ${mostDays} days of events and their repetitions, expected holidays; remove the other events`,
    );
  }
  // The library looks for the next day of a rule for ever if there is none, such as a daily one on 30 February.
  const { prototype } = library.RecurIterator;
  const fulfils = prototype.check_contracting_rules;
  prototype.check_contracting_rules = function check(this: ICAL.RecurIterator): boolean {
    spend(1);
    return this.last.year > lastYear || fulfils.call(this);
  };
  return { library, budget, spend };
});

/** Whole days: the first as a number since 1970-01-01, and how many. */
interface Days {
  readonly first: number;
  readonly count: number;
}

/** An event that replaces one repetition of another, or all from it on. */
interface Override {
  readonly event: ICAL.Event;
  readonly id: ICAL.Time;
  readonly isForAllLater: boolean;
}

/**
 * The days of an iCalendar text (RFC 5545) as numbers since 1970-01-01: each whole day of its events and of their
 * repetitions, as later events move or cancel them. An event of hours has none. Throws for a text that has no such day. Pure.
 */
export function daysOfCalendar(text: string): ReadonlySet<number> {
  const { library, budget, spend } = icalendar();
  budget.left = mostDays;
  const days = new Set<number>();
  const fates = { events: 0, cancelled: 0, timed: 0 };
  function add({ first, count }: Days): void {
    spend(count);
    for (let day = first; day < first + count; day += 1) days.add(day);
  }
  for (const calendar of calendarsIn(text, library)) {
    for (const one of calendar.getAllSubcomponents('vevent')) spendLists(one, spend);
    const events = calendar.getAllSubcomponents('vevent').map((one) => new library.Event(one, { exceptions: [] }));
    const overrides = overridesOf(events);
    for (const event of events) {
      fates.events += 1;
      const own = daysOf(event);
      if (isCancelled(event)) fates.cancelled += 1;
      else if (own === undefined) fates.timed += 1;
      else if (overrideOf(event) !== undefined || !event.isRecurring()) add(own);
      else for (const repetition of repetitionsOf(event, own, overrides.get(event.uid) ?? [])) add(repetition);
    }
  }
  if (fates.events === 0) throw new Error('found no event, expected a VEVENT for each holiday');
  if (days.size === 0) throw new Error(withoutDays(fates));
  return days;
}

function withoutDays({ events, cancelled, timed }: Record<'events' | 'cancelled' | 'timed', number>): string {
  const why = [
    ...(timed > 0 ? [`${timed} of only some hours`] : []),
    ...(cancelled > 0 ? [`${cancelled} cancelled`] : []),
  ].join(' and ');
  return (
    `found ${counted(events, 'event')} but no whole day: ${why || 'none of their repetitions is left'}; expected whole days such ` +
    'as DTSTART;VALUE=DATE:20261225, or from midnight to midnight'
  );
}

/** The library takes minutes for many zones, which it goes through for each event, and for a line of many parameters. */
const mostZones = 500;
const mostParameters = 10_000;

/** Throws for a text that the library would read for minutes. */
function refuseSlow(text: string): void {
  const zones = text.match(/^BEGIN:VTIMEZONE/gim)?.length ?? 0;
  if (zones > mostZones) throw new Error(`found ${zones} time zones, expected at most ${mostZones}; remove the others`);
  let parameters = 0;
  for (const line of text.split('\n')) {
    const own = line.split(';').length - 1;
    parameters = /^[ \t]/.test(line) ? parameters + own : own;
    if (parameters <= mostParameters) continue;
    throw new Error(`found a line of more than ${mostParameters} parameters, expected holidays; remove it`);
  }
}

/** The calendars of a text, which may have several. Dates are read as such also where nothing says that they have no time. */
function calendarsIn(text: string, { Component, parse }: typeof ICAL): ICAL.Component[] {
  refuseSlow(text);
  try {
    const [first, ...others] = parse(text) as unknown[];
    const calendars = typeof first === 'string' ? [[first, ...others]] : [first, ...others];
    return calendars.map((calendar) => {
      const component = new Component(calendar as unknown[]);
      for (const event of component.getAllSubcomponents('vevent')) for (const one of event.jCal[1]) toDate(one);
      return component;
    });
  } catch (error) {
    throw new Error(`found no iCalendar file: ${oneLine(messageOf(error), 200)}`, { cause: error });
  }
}

/**
 * What the library goes through one by one, however many there are: lists of days and of rules, each beside all others of it,
 * and the weeks of a duration.
 */
function spendLists(event: ICAL.Component, spend: (days: number) => void): void {
  for (const [name, free] of [
    ['rdate', 1000],
    ['exdate', 1000],
    ['rrule', 1],
  ] as const) {
    const count = event.getAllProperties(name).reduce((sum, { jCal }) => sum + jCal.length, 0);
    spend(count * Math.ceil(count / free));
  }
  const duration = event.getFirstPropertyValue('duration') as ICAL.Duration | null;
  if (duration !== null) spend(Math.abs(duration.toSeconds()) / (dayMs / 1000));
}

/** `DTSTART:20261225`, which the library reads as a time without digits. */
function toDate(property: unknown[]): void {
  const [, , type, ...values] = property;
  if (type !== 'date-time' || !values.every((value) => typeof value === 'string' && value.endsWith('T::'))) return;
  property.splice(2, property.length, 'date', ...values.map((value) => String(value).slice(0, '2026-12-25'.length)));
}

function overrideOf(event: ICAL.Event): Override | undefined {
  const property = event.component.getFirstProperty('recurrence-id');
  if (property === null) return undefined;
  const isForAllLater = String(property.getParameter('range') ?? '').toUpperCase() === 'THISANDFUTURE';
  return { event, id: property.getFirstValue() as ICAL.Time, isForAllLater };
}

/** The overrides by the UID of the event that they change. */
function overridesOf(events: readonly ICAL.Event[]): ReadonlyMap<string, readonly Override[]> {
  const overrides = new Map<string, Override[]>();
  for (const event of events) {
    const override = overrideOf(event);
    if (override === undefined) continue;
    const others = overrides.get(event.uid);
    if (others === undefined) overrides.set(event.uid, [override]);
    else others.push(override);
  }
  return overrides;
}

function isCancelled(event: ICAL.Event): boolean {
  return String(event.component.getFirstPropertyValue('status') ?? '').toUpperCase() === 'CANCELLED';
}

/** The days of an event itself; undefined for one of hours. Some programs write whole days from midnight to midnight. */
function daysOf({ startDate, endDate }: ICAL.Event): Days | undefined {
  if (startDate === null) return undefined;
  const first = dayOf(startDate);
  if (startDate.isDate) return { first, count: Math.max(1, endDate === null ? 1 : dayOf(endDate) - first) };
  if (endDate === null || minuteOf(startDate) !== 0) return undefined;
  const lastMinute = 24 * 60 - 1;
  const isWhole = minuteOf(endDate) === 0 || minuteOf(endDate) === lastMinute;
  const count = dayOf(endDate) - first + (minuteOf(endDate) === lastMinute ? 1 : 0);
  return isWhole && count > 0 ? { first, count } : undefined;
}

/** The repetitions of an event that no override replaces, moved as an override of all later ones says. */
function* repetitionsOf(event: ICAL.Event, own: Days, overrides: readonly Override[]): Generator<Days> {
  const zone = event.startDate.zone;
  const changed = overrides.map((override) => {
    const { id } = override;
    return { ...override, day: dayOf(id.isDate ? id : id.convertToZone(zone)), days: daysOf(override.event) };
  });
  const replaced = new Set(changed.map(({ day }) => day));
  const later = changed.filter(({ isForAllLater }) => isForAllLater).sort((a, b) => a.day - b.day);
  for (const rule of event.component.getAllProperties('rrule')) {
    const { interval } = rule.getFirstValue() as ICAL.Recur;
    // The library counts to it.
    if (interval > mostInterval) throw new Error(`found INTERVAL=${interval}, expected at most ${mostInterval}`);
  }
  const iterator = event.iterator();
  for (let next = iterator.next(); next && next.year <= lastYear; next = iterator.next()) {
    const first = dayOf(next);
    if (replaced.has(first)) continue;
    const since = later.findLast(({ day }) => day <= first);
    if (since === undefined) yield { first, count: own.count };
    else if (since.days !== undefined && !isCancelled(since.event)) {
      yield { first: first + since.days.first - since.day, count: since.days.count };
    }
  }
}

/** As a number of days since 1970-01-01. */
function dayOf({ year, month, day }: ICAL.Time): number {
  return Date.UTC(year, month - 1, day) / dayMs;
}

function minuteOf({ hour, minute }: ICAL.Time): number {
  return hour * 60 + minute;
}
