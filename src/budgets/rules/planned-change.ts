import { UsageError } from '../../base/errors.ts';
import { inUnit, moneyOf, moneyText, wholeOfDecimal } from '../../money/money.ts';
import { refuseSeparators } from '../../money/typed-number.ts';
import type { AddedChange, PeriodForecast } from '../../outlook/index.ts';
import { dayMs, formatInstant, type Instant, parseRfc3339 } from '../../time/time.ts';
import type { ChangeEffect, PlannedChange } from './budget.ts';
import { hundredPercent, percentDecimals } from './planned-amount.ts';

/** A change, and the part of it that concerns a forecast. */
export interface ChangePart {
  readonly change: PlannedChange;
  /**
   * Of a percentage: the share of the forecast costs that are in the change's scope. Of USD: the share of them that falls into
   * the forecast. Undefined if it is unknown, for this reason.
   */
  readonly share: number | undefined;
  readonly reason?: string | undefined;
}

/** `+30%`, `-100%`, `+500 USD` or `+20 USD daily`. Throws UsageError with what was found and expected. */
export function parseEffect(text: string): ChangeEffect {
  const [, sign, percentText] = /^([+-])(\d{1,4}(?:\.\d{1,4})?)%$/.exec(text) ?? [];
  if (percentText !== undefined) {
    const size = wholeOfDecimal(percentText, percentDecimals);
    const percent = sign === '-' ? -size : size;
    if (percent !== 0n && percent >= -hundredPercent) return { percent };
  }
  if (!text.endsWith('%')) refuseSeparators(text);
  const [, usdSign, digits, every] = /^([+-])(\d{1,12}(?:\.\d{1,12})?) USD( daily)?$/.exec(text) ?? [];
  if (digits !== undefined) {
    const size = moneyOf(digits);
    if (size !== 0n) return { usd: usdSign === '-' ? -size : size, every: every === undefined ? 'once' : 'daily' };
  }
  throw new UsageError(
    `found ${JSON.stringify(text)}, expected a change other than 0 such as +30%, -100%, +500 USD or "+20 USD daily"`,
  );
}

/** The start of a day such as `2026-12-10` in UTC. Throws UsageError. */
export function parseDay(text: string): Instant {
  const day = /^\d{4}-\d\d-\d\d$/.test(text) ? parseRfc3339(`${text}T00:00:00Z`) : undefined;
  if (day === undefined) throw new UsageError(`found ${JSON.stringify(text)}, expected a day such as 2026-12-10`);
  return day;
}

/**
 * A forecast with planned changes added after the model. A change that has begun before the last known cost adds nothing,
 * because the costs show it. Percentages are of the forecast without changes, and widen the interval with the mean. Pure.
 */
export function withChanges(
  forecast: PeriodForecast,
  parts: readonly ChangePart[],
  {
    spent,
    completeThrough,
    end,
    unit,
  }: {
    readonly spent: bigint;
    readonly completeThrough: Instant;
    readonly end: Instant;
    readonly unit?: string | undefined;
  },
): PeriodForecast {
  if (parts.length === 0) return forecast;
  const steps = forecast.path.map(({ start, spent: until }, index) => ({
    start,
    end: forecast.path[index + 1]?.start ?? end,
    cost: Number(until - (forecast.path[index - 1]?.spent ?? spent)),
  }));
  const path = forecast.path.map((step) => step.spent);
  let [mean, low, high] = [forecast.mean, forecast.low, forecast.high];
  const changes = parts.map(({ change, share, reason }): AddedChange => {
    const about = { name: change.name, on: change.on, effectText: change.effectText, unit };
    if (share === undefined || share === 0) return { ...about, added: 0n, reason };
    if (change.on < completeThrough) {
      return { ...about, added: 0n, reason: `it began before ${formatInstant(completeThrough)}, so the costs show it` };
    }
    if (change.on >= end) return { ...about, added: 0n, reason: 'it begins after the period' };
    let added = 0n;
    for (const [index, step] of steps.entries()) {
      added += BigInt(Math.round(addedIn(step, change, share)));
      path[index] = (path[index] ?? 0n) + added;
    }
    // A percentage also widens what is uncertain; USD only moves it.
    const rest = Number(forecast.mean - spent);
    const scale = 'percent' in change.effect && rest !== 0 ? Number(added) / rest : undefined;
    const move = (edge: bigint) => (scale === undefined ? added : BigInt(Math.round(scale * Number(edge - spent))));
    mean += added;
    low += move(forecast.low);
    high += move(forecast.high);
    return { ...about, added };
  });
  const widened = forecast.path.map((step, index) => ({ ...step, spent: path[index] ?? step.spent }));
  return { ...forecast, mean, low, high, path: widened, changes };
}

/** What a change adds in a step, in trillionths of a USD. */
function addedIn(
  { start, end, cost }: { readonly start: Instant; readonly end: Instant; readonly cost: number },
  { on, effect }: PlannedChange,
  share: number,
): number {
  const length = Math.max(0, end - Math.max(start, on));
  if ('percent' in effect) {
    return end <= start
      ? 0
      : (cost * share * (length / (end - start)) * Number(effect.percent)) / Number(hundredPercent);
  }
  if (effect.every === 'daily') return (Number(effect.usd) * share * length) / dayMs;
  return on >= start && on < end ? Number(effect.usd) * share : 0;
}

/** `launch on 2026-12-10 (+30%) adds 120.00 USD`. */
export function changeWords(change: AddedChange): string {
  const { added, unit } = change;
  const about = aboutChange(change);
  return added >= 0n ? `${about} adds ${inUnit(added, unit)}` : `${about} subtracts ${inUnit(-added, unit)}`;
}

/**
 * What planned changes add to forecasts, one sentence for each forecast that they move, and one for each change that moves
 * none, with its reasons.
 */
export function describeChanges(
  lines: readonly {
    readonly name: string;
    readonly forecast: Pick<PeriodForecast, 'kind' | 'changes'> | { readonly kind: 'none' };
  }[],
): string[] {
  const made = lines.flatMap(({ name, forecast }) =>
    forecast.kind === 'forecast' && forecast.changes !== undefined ? [{ name, changes: forecast.changes }] : [],
  );
  const moved = made.flatMap(({ name, changes }) => {
    const words = changes.filter(({ added }) => added !== 0n).map(changeWords);
    return words.length === 0 ? [] : [`${name}: the forecast includes planned changes: ${words.join('; ')}`];
  });
  const all = made.flatMap(({ changes }) => changes);
  const idle = [...new Set(all.map(({ name }) => name))].flatMap((name) => {
    const own = all.filter((change) => change.name === name);
    const [first] = own;
    if (first === undefined || own.some(({ added }) => added !== 0n)) return [];
    const reasons = [...new Set(own.map(({ reason }) => reason ?? noCost))];
    return [`planned change ${aboutChange(first)} changes no forecast: ${reasons.join('; ')}`];
  });
  return [...moved, ...idle];
}

const noCost = 'no cost of its scope is forecast';

function aboutChange({ name, on, effectText }: AddedChange): string {
  return `${name} on ${formatInstant(on).slice(0, 10)} (${effectText})`;
}

/** A change as data: amounts are in the unit of the forecast. */
export function changeJson({ name, on, effectText, added, reason }: AddedChange): Record<string, unknown> {
  return {
    name,
    on: formatInstant(on).slice(0, 10),
    effect: effectText,
    added: moneyText(added),
    reason: reason ?? null,
  };
}
