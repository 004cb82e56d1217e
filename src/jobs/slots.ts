import { dayMs, floorDay, type Instant, type Zone } from '../time/time.ts';
import type { Timetable } from './timetable.ts';

const minuteMs = 60_000;

/** A run for a slot further ahead came from a fast clock. A clock that is set back by less runs nothing twice. */
export const farAheadMs = 2 * dayMs;

/** Every timetable has a slot in a period of this length: at the turn of most centuries there is no 29 February. */
const farthestMs = 9 * 366 * dayMs;

/**
 * The instants at which a timetable is due, after one instant (exclusive) and up to another (inclusive), ascending.
 *
 * The timetable uses local time. A local time that is skipped is due once, right after the gap; one that occurs twice is
 * due the first time. A timetable of every hour follows real hours: it is due whenever the clock shows its minutes.
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

/** The last slots after one instant and up to another: at most `limit`, ascending, and whether there are earlier ones. */
export function lastSlots(
  timetable: Timetable,
  zone: Zone,
  { after, through, limit }: { readonly after: Instant; readonly through: Instant; readonly limit: number },
): { readonly slots: readonly Instant[]; readonly isCut: boolean } {
  // From the end, in growing steps: years of minutes may have been missed.
  for (let days = 2; ; days *= 4) {
    const from = Math.max(after, through - days * dayMs);
    const slots = [...slotsBetween(timetable, zone, from, through)];
    if (slots.length > limit) return { slots: slots.slice(-limit), isCut: true };
    if (from === after) return { slots, isCut: false };
  }
}

/** The slots of a local day (its midnight, as if the zone were UTC), ascending. */
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

/** The instant between two at which the clocks jump forward. */
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
