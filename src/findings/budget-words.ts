import { anomalySpan, excludedWords } from '../anomalies/index.ts';
import { act, handedOver, type NextStep } from '../base/next-step.ts';
import { aboutDay } from '../budgets/forecasts/index.ts';
import type { BudgetFact, Driver } from '../budgets/spend/index.ts';
import {
  centsAddingUp,
  inUnit,
  isRatio,
  moneyOf,
  moneyText,
  percentOf,
  roughly,
  typedDecimal,
  usd,
} from '../money/money.ts';
import type { Card, SpentShare } from '../sinks/index.ts';
import { counted, listed } from '../text/counted.ts';
import { dayMs } from '../time/time.ts';
import type { BudgetAlertFact, Threshold } from './budget-fact.ts';
import { type BudgetOutlook, bothEnds, budgetOutlook, endIfStopped } from './budget-outlook.ts';
import type { Words } from './words.ts';

/** A threshold as its message needs it. */
export type BudgetWords = Omit<BudgetAlertFact, 'state'>;
type Forecast = NonNullable<BudgetFact['forecast']>;

/** A reached threshold of spend as text: what is spent, where the period ends, and what to do. Pure. */
export function spentBudgetWords(fact: BudgetWords): Words {
  const outlook = fact.per === undefined ? budgetOutlook(fact) : perOutlook(fact.per);
  return {
    title: `Budget ${fact.budget}: ${spentWords(fact)}${outlook.short === undefined ? '' : `, ${outlook.short}`}`,
    share: shareOf(fact),
    sentences: outlook.sentences,
    next: outlook.next ?? budgetStepOf(fact),
    fields: [...budgetFields(fact), ...unusualField(fact)],
    list: driversOf(fact),
  };
}

/** What a cost per unit is made of: it does not add up over its period. */
function perOutlook({ name, count, cost, through }: NonNullable<BudgetWords['per']>): BudgetOutlook {
  const last = `the last ${through.length === 7 ? 'month' : 'day'} with counts`;
  const sentences = [`It is ${usd(cost)} for ${count} × ${name}, through ${through}, ${last}.`];
  return { short: undefined, sentences, next: undefined };
}

/** A forecast above a threshold as text. Pure. */
export function forecastWords(fact: BudgetWords, forecast: Forecast): Words {
  const { step, observations, historyEnd, exceedsOn } = forecast;
  const outlook = budgetOutlook(fact);
  // Where costs are unusual now, a range that is learned from usual days says little.
  const hasRange = endIfStopped(fact.end) === undefined;
  return {
    title: `Budget ${fact.budget}${forecastTitle(fact, forecast)}`,
    share: shareOf(fact),
    next: outlook.next ?? budgetStepOf(fact),
    sentences: hasRange
      ? [
          forecastSentence(fact, forecast),
          ...(exceedsOn === null
            ? []
            : [`It is expected to exceed ${inUnit(fact.limit, fact.unit)} ${aboutWhen(fact, forecast)}.`]),
        ]
      : outlook.sentences,
    fields: [
      ...budgetFields(fact),
      ...unusualField(fact),
      ...(forecast.changes === undefined ? [] : [{ label: 'Planned changes', value: forecast.changes.join('; ') }]),
      ...previousField(fact, forecast),
      { label: 'Forecast from', value: `${counted(observations, `complete ${step}`)} before ${historyEnd}` },
    ],
    list: driversOf(fact),
  };
}

/** What the period before cost, what of it is not expected to come again, and how a day of it compares with the forecast. */
function previousField(fact: BudgetWords, forecast: Forecast): Card['fields'] {
  const { previous, unit, period, periodStart, periodEnd } = fact;
  if (previous === undefined) return [];
  const { unusual, days } = previous;
  const label = 'Period before';
  const cost = `${previous.period}: ${inUnit(previous.value, unit)}`;
  const whole = unusual === null ? cost : `${cost}, of which ${usd(unusual)} were unusual and have ended`;
  if (days === undefined || unit !== undefined) return [{ label, value: whole }];
  const before = moneyOf(previous.value) - moneyOf(unusual ?? '0');
  const daily = moneyText(before / BigInt(days));
  const length = BigInt(Math.round((Date.parse(periodEnd) - Date.parse(periodStart)) / dayMs));
  const next = moneyText(moneyOf(forecast.value) / length);
  const percent = percentOf(next, daily) - 100;
  const change = `${percent >= 0 ? '+' : ''}${percent.toFixed(1)} %`;
  const rest = unusual === null ? 'that is' : 'the rest is';
  const value = `${whole}; ${rest} ${usd(daily)} a day, and the forecast for ${period} is ${usd(next)} a day (${change})`;
  return [{ label, value }];
}

/** The anomalies in the spend, or behind its forecast. */
function unusualField({ unusual = [] }: BudgetWords): Card['fields'] {
  if (unusual.length === 0) return [];
  const parts = unusual.map((one) => {
    const goesOn = one.daily === null ? '' : `, still about ${roughly(one.daily)} a day`;
    const quiet = one.excluded === undefined ? '' : ` (${excludedWords(one.excluded)})`;
    return `${usd(one.impact)} for ${one.subject} ${anomalySpan(one)}${one.isOver ? ', ended' : goesOn}${quiet}`;
  });
  return [{ label: 'Unusual costs', value: parts.join('; ') }];
}

function budgetStepOf(fact: BudgetWords): NextStep {
  return { ...act(budgetAdviceOf(fact)), by: fact.owner };
}

/** What to do if a budget is reached, or is forecast to be: stop, save, raise or accept, each with its amount. */
function budgetAdviceOf(fact: BudgetWords): string {
  const { unit, period, unusual = [], end } = fact;
  const [expected, planned] = [endTold(fact), moneyOf(fact.amount)];
  const about = (whole: bigint) => `about ${roughly(whole, unit)}`;
  const isOfSum = fact.per === undefined;
  const file = fact.amountFile ?? 'jobs/budgets.yaml';
  const keyOf = (whole: bigint) =>
    fact.amountFile === undefined ? ` (limits: { ${period}: ${roundedUp(whole, unit)} })` : '';
  const by = fact.owner;
  const raiseTo = (whole: bigint) =>
    handedOver(
      whole > planned && isOfSum
        ? `raise the budget for ${period} to at least ${about(whole)} in ${file}${keyOf(whole)}`
        : `raise the budget in ${file}`,
      by,
    );
  const raise = raiseTo(expected);
  const isOfUse = unit !== undefined && !isRatio(unit);
  const save = isOfUse ? 'lower other usage by' : 'save';
  const running = unusual.find(({ isOver }) => !isOver);
  if (running !== undefined) {
    const ifStopped = endIfStopped(end);
    const stopped = ifStopped === undefined ? planned : moneyOf(ifStopped);
    const over = stopped - planned;
    // Nobody saves more than what is still to come.
    const alone = isNearlyAll(over, stopped - moneyOf(fact.value))
      ? `${raiseTo(stopped)}, or accept the excess`
      : `${save} ${about(over)}${isOfUse ? '' : ' elsewhere'}, or ${raiseTo(stopped)}`;
    const rest = over > 0n && isOfSum ? ` This alone is not enough: ${alone}.` : '';
    const parts = rest === '' ? '' : containedWords(fact);
    const first = running.isPrice
      ? 'compare the price with your contract: "costbook report price_volume" lists it by resource.'
      : `check ${running.subject} first, and stop it if it should not run.`;
    return `${first}${rest}${parts} If ${running.isPrice ? 'it is right' : 'its cost is intended'}, ${raise}.`;
  }
  const largest = isOfUse ? 'what is used most' : 'the largest costs';
  const areThey = isOfUse ? 'it is' : 'they are';
  if (isOfSum && isPast(fact)) {
    return `check ${largest}. If ${areThey} intended, ${handedOver(`raise the budget for later periods in ${file}`, by)}: ${period} is over.`;
  }
  if (isByEnded(fact)) {
    const [first, ...others] = unusual.filter(({ isOver }) => isOver);
    const causes =
      others.length > 0 || first === undefined ? 'costs that have ended' : `${first.subject}, which has ended`;
    return `accept the excess, or ${raise}. It comes from ${causes}.${containedWords(fact)}`;
  }
  const spent = moneyOf(fact.value);
  if (expected > planned && isOfSum && fact.completeThrough !== null) {
    const parts = containedWords(fact);
    if (spent > planned) {
      const more = about(expected - spent);
      return `check ${largest}, and stop what is not needed: ${more} more will be ${isOfUse ? 'used' : 'spent'} in ${period} if nothing changes. If ${areThey} intended, ${raise}.${parts}`;
    }
    const less = about(expected - planned);
    const rest = expected - spent;
    // Who would have to stop nearly all that is still to come can only raise.
    if (isNearlyAll(expected - planned, rest)) return `${raise}, or accept the excess.`;
    if (4n * (expected - planned) > 3n * rest) {
      const ofRest = `${less}${isOfUse ? ' less' : ''} of the ${about(rest)} still to come`;
      return `${raise}. To stay within it instead, ${isOfUse ? 'use' : 'save'} ${ofRest}: check ${largest}.${parts}`;
    }
    return `check ${largest} and ${isOfUse ? `use ${less} less` : `save ${less}`} in ${period}, or ${raise}.${parts}`;
  }
  return `check ${largest}. If ${areThey} intended, ${raise}.`;
}

/** An amount as a file takes it, a little above: `4040 USD`. */
function roundedUp(whole: bigint, unit = 'USD'): string {
  const step = moneyOf(whole >= moneyOf('100') ? '10' : '0.01');
  return `${typedDecimal(moneyText(((whole + step - 1n) / step) * step))} ${unit}`;
}

/** Whether somebody who saves this would have to stop nearly all that is still to come. */
function isNearlyAll(saved: bigint, toCome: bigint): boolean {
  return 10n * saved > 9n * toCome;
}

/** ` What is saved in budget production counts here too: do not add up their amounts.` */
function containedWords({ contains = [], containsMore = 0 }: BudgetWords): string {
  if (contains.length === 0) return '';
  const names = [...contains, ...(containsMore === 0 ? [] : [`${containsMore} more`])];
  const noun = names.length === 1 ? 'budget' : 'budgets';
  return ` What is saved in ${noun} ${listed(names)} counts here too: do not add up their amounts.`;
}

/** Whether all hours of the period are complete. */
function isPast({ completeThrough, periodEnd }: BudgetWords): boolean {
  return completeThrough !== null && Date.parse(completeThrough) >= Date.parse(periodEnd);
}

/** Where the period ends, as far as it is known: an estimate, or what is spent. In trillionths. */
function endTold({ value, forecast, end }: BudgetWords): bigint {
  return moneyOf(end?.continued ?? end?.expected ?? forecast?.value ?? value);
}

export function shareOf(fact: BudgetWords): SpentShare {
  return { percent: percentOf(fact.value, fact.amount), word: usedWord(fact).trim() };
}

/** Whether the period would end within the budget without the anomalies that have ended. */
function isByEnded({ unusual = [], ...fact }: BudgetWords): boolean {
  const expected = endTold(fact);
  const ended = unusual.filter(({ isOver }) => isOver).reduce((sum, { impact }) => sum + moneyOf(impact), 0n);
  const planned = moneyOf(fact.amount);
  return ended > 0n && expected > planned && expected - ended <= planned;
}

/** What an amount of a budget is, with a space behind it; nothing for a cost per unit. */
function usedWord({ unit }: BudgetWords): string {
  return unit === undefined ? 'spent ' : isRatio(unit) ? '' : 'used ';
}

/** `1234.56 of 1000.00 USD spent in 2026-10 (123.5 %)`. */
export function spentWords(fact: BudgetWords): string {
  return `${ofAmount(fact, fact.value)} ${usedWord(fact)}in ${fact.period} (${percentOf(fact.value, fact.amount)} %)`;
}

/** `1234.56 USD expected in 2026-10 (123.5 % of 1000.00 USD)`. */
function forecastOf(fact: BudgetWords, { value }: Forecast): string {
  const share = `${percentOf(value, fact.amount)} % of ${inUnit(fact.amount, fact.unit)}`;
  return `${inUnit(value, fact.unit)} expected in ${fact.period} (${share})`;
}

/**
 * `: 5718.34 USD expected in 2026-12, about 218 USD over its 5500.00 USD`, or its share of the amount; if costs are unusual now,
 * where it ends in both cases, in the same words on each night.
 */
function forecastTitle(fact: BudgetWords, forecast: Forecast): string {
  const { amount, unit, period } = fact;
  const ends = bothEnds(fact);
  if (ends !== undefined) return `, ${inUnit(amount, unit)} in ${period}: ${ends}`;
  const over = moneyOf(forecast.value) - moneyOf(amount);
  if (over <= 0n) return `: ${forecastOf(fact, forecast)}`;
  const excess = `about ${roughly(over, unit)} over its ${inUnit(amount, unit)}`;
  return `: ${inUnit(forecast.value, unit)} expected in ${period}, ${excess}`;
}

function ofAmount({ amount, unit }: BudgetWords, value: string): string {
  return `${inUnit(value, unit).replace(` ${unit ?? 'USD'}`, '')} of ${inUnit(amount, unit)}`;
}

function forecastSentence({ unit, amount, period }: BudgetWords, { low, high, value, level }: Forecast): string {
  const [least, expected, planned] = [low, value, amount].map((text) => moneyOf(text)) as [bigint, bigint, bigint];
  const mayKeep = expected > planned && least <= planned ? ': it may still stay within the budget' : '';
  const verb = unit === undefined || isRatio(unit) ? 'cost' : 'use';
  return `${period} will ${verb} ${inUnit(low, unit)} to ${inUnit(high, unit)} in all, with ${level} % probability${mayKeep}.`;
}

/** `around 23 Oct`; in hourly forecasts, `around 2026-10-23T17:00:00Z`. */
function aboutWhen({ periodStart }: BudgetWords, { step, exceedsAt, exceedsOn }: Forecast): string {
  if (step === 'hour' || exceedsOn === null) return `around ${exceedsAt}`;
  return aboutDay(exceedsOn, periodStart);
}

/** The end of an alert about a forecast as text. Pure. */
export function forecastOverWords(fact: BudgetWords): Words {
  const { forecast } = fact;
  const head = { share: shareOf(fact), fields: budgetFields(fact) };
  if (!forecast) {
    return {
      ...head,
      title: `budget ${fact.budget} stayed below ${fact.threshold}, unlike its forecast: ${spentWords(fact)}`,
      sentences: [],
    };
  }
  return {
    ...head,
    title: `budget ${fact.budget} is no longer forecast to reach ${fact.threshold}: ${forecastOf(fact, forecast)}`,
    sentences: [forecastSentence(fact, forecast), `${spentWords(fact)}.`],
  };
}

export function budgetFields(fact: BudgetWords): Card['fields'] {
  return [
    {
      label: fact.per !== undefined ? 'Cost' : fact.unit === undefined ? 'Spent' : 'Used',
      value: `${inUnit(fact.value, fact.unit)}${incompleteWords(fact)}`,
    },
    { label: 'Budget', value: budgetAmount(fact) },
    ...(fact.parts === undefined ? [] : [{ label: 'Parts', value: partWords(fact.parts, fact) }]),
    { label: 'Threshold', value: [fact, ...(fact.also ?? [])].map(thresholdWords).join(', ') },
    { label: 'Period', value: `${fact.periodStart}/${fact.periodEnd}` },
  ];
}

/** `80% (880.00 USD)`, or `forecast above 100% (1,100.00 USD)`. Pure. */
export function thresholdWords({ threshold, limit, of, unit }: Omit<Threshold, 'key'>): string {
  return `${of === 'forecast' ? 'forecast above ' : ''}${threshold} (${inUnit(limit, unit)})`;
}

/** `, of which 7.28 USD in hours that are not complete yet`. The largest costs have these hours too. */
function incompleteWords({ incomplete, value, unit }: BudgetWords): string {
  if (incomplete === undefined) return '';
  const isAll = moneyOf(incomplete) === moneyOf(value);
  return `, ${isAll ? 'all' : `of which ${inUnit(incomplete, unit)}`} in hours that are not complete yet`;
}

function budgetAmount({ amount, carried, unit }: BudgetWords): string {
  const whole = inUnit(amount, unit);
  return carried === undefined ? whole : `${whole}, of which ${inUnit(carried, unit)} are left from earlier periods`;
}

function partWords(parts: NonNullable<BudgetWords['parts']>, { unit, value: whole }: BudgetWords): string {
  const known = parts.flatMap(({ value }) => value ?? []);
  const shown = unit === undefined && known.length === parts.length ? centsAddingUp(known, whole) : undefined;
  return parts
    .map(({ name, value }, index) => `${name} ${value === null ? 'not known' : inUnit(shown?.[index] ?? value, unit)}`)
    .join(', ');
}

/** The largest resources of a budget. */
function driversOf({ previous, unit, ...fact }: BudgetWords): Card['list'] {
  const drivers = previous?.drivers ?? fact.drivers;
  const of = previous === undefined ? '' : ` in ${previous.period}`;
  if (unit === undefined || isRatio(unit)) {
    // Fractions of a cent say nothing beside larger costs.
    const shown = drivers.filter(({ cost }) => Number(cost) >= 0.005);
    return driverList(`Largest costs${of}`, shown.length === 0 ? drivers : shown, {
      ended: previous?.ended,
      unusual: previous?.unusual,
    });
  }
  if (drivers.length === 0) return undefined;
  return {
    label: `Used most${of}`,
    items: drivers.map((driver) => `${nameOf(driver, drivers)}: ${inUnit(driver.cost, unit)}`),
  };
}

/** The costs of resources; `ended` names those whose unusual cost has ended, and `unusual` is what they cost together. */
export function driverList(
  label: string,
  drivers: readonly Driver[],
  {
    isSigned = false,
    ended = [],
    unusual = null,
  }: { isSigned?: boolean; ended?: readonly string[] | undefined; unusual?: string | null | undefined } = {},
): Card['list'] {
  if (drivers.length === 0) return undefined;
  const part = ended.length === 1 && unusual !== null ? `of which ${usd(unusual)} unusual` : 'unusual';
  return {
    label,
    items: drivers.map((driver) => {
      const note = driver.resourceName !== null && ended.includes(driver.resourceName) ? ` (${part}, has ended)` : '';
      return `${nameOf(driver, drivers)}: ${usd(driver.cost, isSigned)}${note}`;
    }),
  };
}

/** The name of a resource; with its account if a list has several. */
function nameOf({ account, workspace, resourceType, resourceName }: Driver, all: readonly Driver[]): string {
  const name = `${resourceType ?? '(no type)'} ${resourceName ?? '(no name)'}`;
  const of = all.some((other) => other.account !== account) ? `, account ${account}` : '';
  return workspace === null ? `${name}${of}` : `${name} in ${workspace}${of}`;
}
