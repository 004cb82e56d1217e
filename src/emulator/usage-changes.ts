import { hourMs, type Instant } from '../time/time.ts';
import { groupBy } from './maps.ts';
import { type Series, type Story, usageScale } from './sample-costs.ts';

/** Whose usage grows. */
export interface UsedBy {
  readonly workspace: string;
  readonly name: string;
  readonly dimension: string;
}

/** Hours of the past that change afterwards. */
export interface Restatement {
  readonly fromHour: number;
  /** Exclusive. */
  readonly toHour: number;
  /** What the usage of these hours is multiplied by. */
  readonly factor: number;
  /** Undefined for every resource. */
  readonly resourceName: string | undefined;
}

/** What clients added to the story's usage, and what was restated. */
export interface UsageChanges {
  /** How the usage of a series differs in an hour, in thousandths of a unit; undefined if it does not differ at all. */
  of(series: Series): ((hour: number, usage: number) => number) | undefined;
  /** Adds units to the hour of an instant. They show when that hour has ended, as all usage does. */
  add(by: UsedBy, at: Instant, units: number): void;
  restate(restatement: Restatement): void;
  /** Another number after each change of the past. */
  revision(): number;
  reset(): void;
}

/** No changes yet. */
export function openUsageChanges(story: Story): UsageChanges {
  const added = new Map<Series, Map<number, number>>();
  const restatements: Restatement[] = [];
  let revision = 0;
  let places: Map<string, Series[]> | undefined;

  function seriesOf({ workspace, name, dimension }: UsedBy, hour: number): Series | undefined {
    places ??= groupBy(story.series, (each) => [each.workspace, each.resourceName, each.billingDimension].join('\n'));
    const found = places.get([workspace, name, dimension].join('\n')) ?? [];
    return found.find(({ fromHour, toHour }) => hour >= fromHour && hour < toHour);
  }

  return {
    of(series) {
      const own = added.get(series);
      const rules = restatements.filter(
        ({ resourceName }) => (resourceName ?? series.resourceName) === series.resourceName,
      );
      if (own === undefined && rules.length === 0) return undefined;
      const quantum = series.tariff.quantum ?? 1;
      return (hour, usage) =>
        rules
          .filter(({ fromHour, toHour }) => hour >= fromHour && hour < toHour)
          .reduce((sum, { factor }) => Math.round((sum * factor) / quantum) * quantum, usage + (own?.get(hour) ?? 0));
    },
    add(by, at, units) {
      const hour = Math.floor(at / hourMs);
      const series = seriesOf(by, hour);
      if (series === undefined) return;
      const hours = added.get(series) ?? new Map<number, number>();
      hours.set(hour, (hours.get(hour) ?? 0) + Math.round(units * usageScale));
      added.set(series, hours);
      revision += 1;
    },
    restate(restatement) {
      restatements.push(restatement);
      revision += 1;
    },
    revision: () => revision,
    reset() {
      added.clear();
      restatements.length = 0;
      revision += 1;
    },
  };
}
