import { dayMs, floorDay, formatInstant, hourMs, type Instant } from '../time/time.ts';
import { hashText, mix } from './random.ts';
import type { Resource } from './sample-listings.ts';

/** One snapshot of a sandbox. */
export interface Snapshot {
  readonly source: Resource;
  /** Unique among the snapshots of its sandbox. */
  readonly name: string;
  /** Unique in the workspace. */
  readonly id: string;
  readonly takenAt: Instant;
}

// The document has no operation that takes or lists snapshots. Here every sandbox has one of each night.
const takenAtHour = 2;
const keptNights = 14;

/** The snapshots of a sandbox at an instant, newest first: of the last fourteen nights of its life. */
export function snapshotsOf(source: Resource, at: Instant): Snapshot[] {
  const { createdAt, terminatedAt, storedUntil } = source;
  if (at >= storedUntil) return [];
  const last = floorDay(Math.min(at, terminatedAt - 1) - takenAtHour * hourMs) + takenAtHour * hourMs;
  const taken = Array.from({ length: keptNights }, (_, night) => last - night * dayMs);
  return taken
    .filter((takenAt) => takenAt >= createdAt)
    .map((takenAt) => ({
      source,
      name: `nightly-${formatInstant(takenAt).slice(0, 10)}`,
      id: `snap-${idPart(source.key, takenAt)}${idPart(mix(source.key, 1), takenAt)}`,
      takenAt,
    }));
}

function idPart(key: number, takenAt: Instant): string {
  return hashText(key, String(takenAt)).toString(16).padStart(8, '0');
}
