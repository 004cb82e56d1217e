import { dayMs, floorDay, type Instant, type Zone } from '../time.ts';
import type { Timetable } from './timetable.ts';

const minuteMs = 60_000;

/** A slot that lies further ahead was run by a fast clock. A clock that goes back by less runs nothing twice. */
export const farAheadMs = 2 * dayMs;

/** A timetable names some day in any stretch as long: 29 February is left out once in a century. */
const farthestMs = 9 * 366 * dayMs;

/**
 * The instants at which a timetable is due after one instant (exclusive) and up to another (inclusive), growing.
 *
 * The timetable is read off the clocks of the zone. A time that they pass over is due once, when they go on; one that
 * they show twice is due the first time. A timetable of every hour goes by the hours that there are: it is due each
 * time that the clocks show its minutes, and never else.
 */
export function* slotsBetween(timetable: Timetable, zone: Zone, after: Instant, through: Instant): Generator<Instant> {
  let last = after;
  const lastDay = floorDay(through + zone.offsetAt(through)) + dayMs;
  for (let day = floorDay(after + zone.offsetAt(after)) - dayMs; day <= lastDay; day += dayMs) {
    for (const slot of slotsOfDay(timetable, zone, day)) {
      if (slot <= last) continue;
      if (slot > through) return;
      last = slot;
      yield slot;
    }
  }
}

/** The first slot after an instant. */
export function nextSlot(timetable: Timetable, zone: Zone, after: Instant): Instant | undefined {
  return slotsBetween(timetable, zone, after, after + farthestMs).next().value ?? undefined;
}

/** The last slots after one instant and up to another, at most `limit`, growing, and whether there are more before them. */
export function lastSlots(
  timetable: Timetable,
  zone: Zone,
  { after, through, limit }: { readonly after: Instant; readonly through: Instant; readonly limit: number },
): { readonly slots: readonly Instant[]; readonly isCut: boolean } {
  // From the end, in growing steps: what was missed may be years of minutes.
  for (let days = 2; ; days *= 4) {
    const from = Math.max(after, through - days * dayMs);
    const slots = [...slotsBetween(timetable, zone, from, through)];
    if (slots.length > limit) return { slots: slots.slice(-limit), isCut: true };
    if (from === after) return { slots, isCut: false };
  }
}

/** The slots of a local day (its midnight, as if the zone were UTC), growing. */
function slotsOfDay(timetable: Timetable, zone: Zone, day: number): readonly Instant[] {
  const date = new Date(day);
  if (
    !timetable.months.includes(date.getUTCMonth() + 1) ||
    !timetable.days.includes(date.getUTCDate()) ||
    !timetable.weekdays.includes(date.getUTCDay())
  ) {
    return [];
  }
  const isEveryHour = timetable.hours.length === 24;
  const offsets = [...new Set([zone.offsetAt(day - dayMs), zone.offsetAt(day + 2 * dayMs)])];
  const slots = timetable.hours.flatMap((hour) =>
    timetable.minutes.flatMap((minute) => {
      const local = day + (hour * 60 + minute) * minuteMs;
      const shown = offsets.map((offset) => local - offset);
      if (offsets.length === 1) return shown;
      const real = shown.filter((instant) => instant + zone.offsetAt(instant) === local).sort((a, b) => a - b);
      if (isEveryHour) return real;
      return real[0] ?? goOnAt(zone, Math.min(...shown), Math.max(...shown));
    }),
  );
  return [...new Set(slots)].sort((a, b) => a - b);
}

/** The instant between two at which the clocks go on after what they pass over. */
function goOnAt(zone: Zone, from: Instant, to: Instant): Instant {
  const before = zone.offsetAt(from);
  let [low, high] = [from, to];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (zone.offsetAt(middle) === before) low = middle;
    else high = middle;
  }
  return high;
}
