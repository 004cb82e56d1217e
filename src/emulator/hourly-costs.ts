import { mix, toUnit } from './random.ts';
import { costOf, type Series, type Story, usageOf } from './sample-costs.ts';
import type { UsageChanges } from './usage-changes.ts';

/** A half-open range of hours, counted since 1970. */
export interface Hours {
  readonly fromHour: number;
  /** Exclusive. */
  readonly toHour: number;
}

/**
 * Sums over ranges of hours, one per range: whole numbers in the story's scales, so the order of adding does not
 * matter.
 */
export interface Sums {
  /** Billionths of a dollar. */
  readonly costs: Float64Array;
  /** Thousandths of a unit. */
  readonly usages: Float64Array;
}

/** Reads costs and usage of the story. */
export interface HourlyCosts {
  /**
   * Adds what a series shows in each range, as seen at `seenHour`: only hours that have ended, and late hours only in
   * part.
   */
  addTo(sums: Sums, series: Series, stretches: readonly Hours[], seenHour: number): void;
}

/** Sums of zero. */
export function emptySums(stretches: number): Sums {
  return { costs: new Float64Array(stretches), usages: new Float64Array(stretches) };
}

const chunkHours = 168;
// 86 MB at most. Sixty resources need an eighth of it for thirteen months.
const maxCachedChunks = 64_000;

// Delays of late series: 2 to 47 hours for all hours, up to nine days for single hours.
const minLagHours = 2;
const lagHours = 46;
const minCorrectionHours = 72;
const correctionHours = 144;
const horizonHours = minCorrectionHours + correctionHours + 1;
const correctedShare = 1 / 240;

/**
 * Costs of a story and what clients changed in it, computed on demand and cached in bounded memory. `lateShareNow` is the
 * share of series whose hours arrive late (0: everything is there when its hour ends). Late or not, the final numbers are
 * the same.
 */
export function openHourlyCosts(story: Story, lateShareNow: () => number, changes: UsageChanges): HourlyCosts {
  const chunks = new Map<number, Float64Array>();
  const scratch = new Float64Array(chunkHours);

  /** Without `isKept`, the next call overwrites the result. */
  function chunkOf(series: Series, chunk: number, isKept: boolean): Float64Array {
    const key = chunk * 4_194_304 + series.index;
    const known = chunks.get(key);
    if (known !== undefined) return known;
    const usage = isKept ? new Float64Array(chunkHours) : scratch;
    for (let i = 0; i < chunkHours; i++) usage[i] = usageOf(story, series, chunk * chunkHours + i);
    if (isKept) chunks.set(key, usage);
    if (chunks.size > maxCachedChunks) {
      // Evict the oldest chunk. Tracking the least recently used one would cost more than computing chunks again.
      for (const oldest of chunks.keys()) {
        chunks.delete(oldest);
        break;
      }
    }
    return usage;
  }

  return {
    addTo(sums, series, stretches, seenHour) {
      const lateShare = lateShareNow();
      const change = changes.of(series);
      const unsettledFrom = lateShare > 0 ? seenHour - horizonHours : Number.POSITIVE_INFINITY;
      const lastHour = Math.min(series.toHour, seenHour);
      const firstHour = Math.max(stretches[0]?.fromHour ?? 0, series.fromHour);
      const spanHours = Math.min(stretches.at(-1)?.toHour ?? 0, lastHour) - firstHour;
      // More than fits the cache would only evict itself.
      const isKept = (spanHours / chunkHours + 1) * story.series.length <= maxCachedChunks;
      let usages: Float64Array | undefined;
      let offset = Number.NaN;
      for (const [i, stretch] of stretches.entries()) {
        let cost = 0;
        let usage = 0;
        const end = Math.min(stretch.toHour, lastHour);
        for (let hour = Math.max(stretch.fromHour, series.fromHour); hour < end; hour++) {
          if (usages === undefined || hour - offset >= chunkHours) {
            const chunk = Math.floor(hour / chunkHours);
            offset = chunk * chunkHours;
            usages = chunkOf(series, chunk, isKept);
          }
          const own = usages[hour - offset] ?? 0;
          const whole = change === undefined ? own : change(hour, own);
          if (whole === 0) continue;
          const seen = hour >= unsettledFrom ? arrived(series, hour, whole, seenHour, lateShare) : whole;
          usage += seen;
          cost += costOf(story, series, hour, seen);
        }
        sums.costs[i] = (sums.costs[i] ?? 0) + cost;
        sums.usages[i] = (sums.usages[i] ?? 0) + usage;
      }
    },
  };
}

/**
 * The part of an hour's usage that has arrived by `seenHour`. Some series arrive over hours or two days, and some
 * single hours change only after three to nine days: up, down, or from nothing.
 */
function arrived(series: Series, hour: number, whole: number, seenHour: number, lateShare: number): number {
  const ageHours = seenHour - hour - 1;
  const quantum = series.tariff.quantum ?? 1;
  const chance = mix(series.key, hour, 0x1a7e);
  if (toUnit(chance) < correctedShare) {
    const settlesAfterHours = minCorrectionHours + (mix(series.key, hour, 0xc0) % correctionHours);
    if (ageHours < settlesAfterHours) return toQuantum(whole * ([0, 0.75, 1.25, 0.5][chance % 4] ?? 0), quantum);
  }
  const lag = mix(series.key, 0, 0x1a6);
  if (toUnit(lag) >= lateShare) return whole;
  const lasts = minLagHours + (lag % lagHours);
  return ageHours >= lasts ? whole : toQuantum((whole * (ageHours + 1)) / (lasts + 1), quantum);
}

function toQuantum(usage: number, quantum: number): number {
  return Math.floor(usage / quantum) * quantum;
}
