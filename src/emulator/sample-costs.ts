import { addCalendarMonths, floorMonth, hourMs, type Instant } from '../time/time.ts';
import { hourOfWeek, shapes } from './activity-shapes.ts';
import { hashText, mix, toUnit, uuidOf } from './random.ts';
import {
  accountOfStory,
  cast,
  type Habit,
  type Part,
  priceChangeMonths,
  type Tariff,
  tariffs,
  workspaces,
} from './sample-resources.ts';

/** Usage is counted in thousandths of a unit, as whole numbers. */
export const usageScale = 1_000;
/** Costs are counted in billionths of a dollar, as whole numbers. */
export const costScale = 1_000_000_000;

/** The five dimensions of a series; absent ones are undefined. */
export interface Dimensions {
  readonly workspace: string | undefined;
  readonly resourceType: string;
  readonly resourceName: string;
  readonly resourceUuid: string | undefined;
  readonly billingDimension: string;
}

/** One series of the story and everything that its costs depend on. Hours are counted since 1970-01-01T00:00:00Z. */
export interface Series extends Dimensions {
  readonly index: number;
  /** Its key for random numbers, independent of the rest of the story. */
  readonly key: number;
  readonly fromHour: number;
  /** Exclusive. */
  readonly toHour: number;
  readonly shape: Float64Array;
  readonly habit: Habit;
  readonly tariff: Tariff;
  /** Hours in which it does many times its usual work, at any hour of the week. */
  readonly runaway: { readonly fromHour: number; readonly toHour: number } | undefined;
}

export interface Story {
  readonly account: { readonly id: string; readonly displayName: string };
  readonly tokens: { readonly admin: string; readonly member: string };
  /** Tokens by workspace, which list its contents and nothing else. */
  readonly workspaceTokens: ReadonlyMap<string, string>;
  /** Tokens by the only OAuth scope that they have. */
  readonly scopedTokens: { readonly 'functions:list': string };
  readonly seed: number;
  /** The history's first instant. */
  readonly since: Instant;
  readonly priceChangeHour: number;
  readonly series: readonly Series[];
}

/** What the story depends on; nothing in it depends on the clock. */
export interface StoryOptions {
  readonly seed: number;
  /** Number of resources: the cast of sixty, in part or many times over. */
  readonly resources: number;
  /** First instant of the history; the start of a month. */
  readonly since: Instant;
  /** The agent has runaway cost in the seven days before this instant. */
  readonly storyEnd: Instant;
  /** How long an ended sandbox stays listed. */
  readonly retentionMs: number;
}

// The short-lived sandboxes of the cast fill thirteen months; then they return as new ones at this interval.
const returnDays = 400;
const returns = 5;
// Nothing grows forever.
const growingMonths = 18;
const monthHours = 730;
const runawayFactor = 14;

/** The first month of the history by default. */
export const defaultSince: Instant = Date.UTC(2025, 9, 1);

/**
 * The start of history for a story that ends at `storyEnd`: 2025-10-01, always the same, so that a later clock shows
 * the same past; only a clock before 2025-11 gets thirteen months of its own instead.
 */
export function sinceFor(storyEnd: Instant): Instant {
  if (storyEnd >= addCalendarMonths(defaultSince, 1)) return defaultSince;
  return addCalendarMonths(floorMonth(storyEnd), -13);
}

/** One resource's life: a resource of the cast in one copy of the cast, for the first time or again. */
export interface Appearance {
  readonly part: Part;
  /** 0 for the sixty of the cast, 1 and more for the twins of a larger story. */
  readonly copy: number;
  /** Independent of the rest of the story; two volumes with the same name have two. */
  readonly identity: string;
  readonly name: string;
  /** Hours since 1970. */
  readonly fromHour: number;
  /** When its work ends; infinite if it continues. Exclusive. */
  readonly toHour: number;
}

/** All appearances, in a fixed order. */
export function appearances(options: StoryOptions): Appearance[] {
  const all: Appearance[] = [];
  for (let number = 0; number < options.resources; number++) {
    const place = number % cast.length;
    const part = cast[place];
    if (part === undefined) break;
    const copy = Math.floor(number / cast.length);
    for (let coming = 0; coming < (part.recurs === true ? returns : 1); coming++) {
      const identity = `${place}/${copy}/${coming}`;
      // Copies start on other days, so that a large story is not just a multiple of a small one.
      const delayDays = copy === 0 ? 0 : toUnit(hashText(options.seed, `delay ${identity}`)) * 60;
      const fromHour =
        options.since / hourMs +
        Math.floor((part.fromDay + delayDays + coming * returnDays) * 24) +
        bornAtHour(part, identity);
      const toHour = part.days === undefined ? Number.POSITIVE_INFINITY : fromHour + part.days * 24;
      all.push({ part, copy, identity, name: nameOf(part, copy, coming), fromHour, toHour });
    }
  }
  return all;
}

/** The story as series, in a fixed order; about three per resource. */
export function inventStory(options: StoryOptions): Story {
  const { seed } = options;
  const series: Series[] = [];
  for (const appearance of appearances(options)) series.push(...play(appearance, series.length, options));
  return {
    account: accountOfStory,
    tokens: { admin: tokenOf(seed, 'admin'), member: tokenOf(seed, 'member') },
    workspaceTokens: new Map(workspaces.map((name) => [name, tokenOf(seed, `workspace-${name}`)])),
    scopedTokens: { 'functions:list': tokenOf(seed, 'scoped') },
    seed,
    since: options.since,
    priceChangeHour: addCalendarMonths(options.since, priceChangeMonths) / hourMs,
    series,
  };
}

/** The ID of the instance that runs a resource with this UUID. */
export function instanceOf(uuid: string): string {
  return `vm-${uuid.replaceAll('-', '').slice(0, 12)}`;
}

function tokenOf(seed: number, role: string): string {
  return `emulator-${role}-${uuidOf(seed, `token ${role}`).slice(0, 8)}`;
}

/** The series of one appearance. */
function play(appearance: Appearance, firstIndex: number, options: StoryOptions): Series[] {
  const { part, copy, identity, name, fromHour, toHour } = appearance;
  // Copies differ in size, too.
  const size = copy === 0 ? 1 : 0.4 + toUnit(hashText(options.seed, `size ${identity}`));
  const hasUuid = part.type !== 'volume' && part.type !== 'custom_domain';
  const endHour = options.storyEnd / hourMs;
  return part.habits.map((habit, i) => ({
    index: firstIndex + i,
    key: hashText(options.seed, `${identity} ${habit.dimension}`),
    workspace: part.workspace,
    resourceType: part.type,
    resourceName: name,
    resourceUuid: hasUuid ? uuidOf(options.seed, `resource ${identity}`) : undefined,
    billingDimension: habit.dimension,
    fromHour,
    // Stored data outlives the work for a while.
    toHour: isStorage(habit) ? toHour + (part.storedDays ?? 0) * 24 : toHour,
    shape: shapes[habit.shape],
    habit: habit.dimension === 'custom_domain_active_time_hours' ? habit : { ...habit, perHour: habit.perHour * size },
    tariff: tariffs[habit.dimension],
    // It continues until somebody notices the bill.
    runaway:
      part.runsAway === true && copy === 0 && habit.noise > 0 // storage does not run away
        ? { fromHour: runawayHour(options), toHour: endHour + 2 * 24 }
        : undefined,
  }));
}

/** The hour in which the runaway starts: on the evening of the seventh day before the end of the story. */
export function runawayHour({ storyEnd }: StoryOptions): number {
  return storyEnd / hourMs - 7 * 24 + 21;
}

function isStorage({ dimension }: Habit): boolean {
  return dimension.includes('_storage_');
}

/** Resources from the start of the history exist at midnight; a person creates all later ones during the day. */
function bornAtHour(part: Part, identity: string): number {
  return part.fromDay === 0 ? 0 : 7 + (hashText(part.fromDay, identity) % 9);
}

function nameOf(part: Part, copy: number, coming: number): string {
  // A pull request's number grows; a trial or an experiment of the same name is created again, with another UUID.
  const named = part.name.replace(/^pr-(\d+)/, (_, pull: string) => `pr-${Number(pull) + coming * 700}`);
  return copy === 0 ? named : `${named}-${copy + 1}`;
}

/**
 * Thousandths of a unit that a series uses in one hour, from the story alone: independent of the clock and of all other
 * series, so the past is always the same.
 */
export function usageOf(story: Story, series: Series, hour: number): number {
  if (hour < series.fromHour || hour >= series.toHour) return 0;
  const { habit, runaway } = series;
  const isRunaway = runaway !== undefined && hour >= runaway.fromHour && hour < runaway.toHour;
  const level = isRunaway ? runawayFactor : (series.shape[hourOfWeek(hour)] ?? 0);
  if (level === 0) return 0;
  const months = Math.min((hour - story.since / hourMs) / monthHours, growingMonths);
  // Storage grows weekly, when somebody writes to it; work grows with every hour.
  const growth = 1 + habit.growth * (habit.noise === 0 ? Math.floor(months * 4) / 4 : months);
  const noise = habit.noise === 0 ? 1 : 1 + habit.noise * (2 * toUnit(mix(series.key, hour)) - 1);
  const quantum = series.tariff.quantum ?? 1;
  return Math.round((habit.perHour * usageScale * level * growth * noise) / quantum) * quantum;
}

/** Billionths of a dollar for that usage in that hour: usage times the price of the day, minus what is free. */
export function costOf(story: Story, series: Series, hour: number, usage: number): number {
  const { tariff } = series;
  const isLater = tariff.usdPerUnitLater !== undefined && hour >= story.priceChangeHour;
  const price = isLater ? (tariff.usdPerUnitLater ?? 0) : tariff.usdPerUnit;
  const charged = tariff.freePerHour === undefined ? usage : Math.max(0, usage - tariff.freePerHour * usageScale);
  return Math.round(charged * price * (costScale / usageScale));
}
