import { decimalOfWhole, wholeOfDecimal } from '../../decimals.ts';
import { rounded } from '../budgets.ts';
import { usd } from '../money.ts';
import type { AnomalyDriver, AnomalyFact } from './fact.ts';

/** What is said of an anomaly, as cards of alerts say it. */
export interface AnomalyWords {
  readonly title: string;
  readonly sentences: readonly string[];
  readonly fields: readonly { readonly label: string; readonly value: string }[];
  readonly list: { readonly label: string; readonly items: readonly string[] } | undefined;
}

const decimals = 12;
const driversShown = 3;

/** What people are told of an anomaly when it shows: what, how much against what was expected, since when, and who. Pure. */
export function anomalyWords(fact: AnomalyFact): AnomalyWords {
  const { cost, expected, firstDay, lastDay, isOver } = fact;
  const difference = minus(cost, expected);
  const stays = lastDay === firstDay ? '' : isOver ? `, until ${lastDay}` : `, and still on ${lastDay}`;
  const since = fact.firstHour === null ? '' : ` It began about ${fact.firstHour}.`;
  return {
    title: titleOf(fact),
    sentences: [
      `${usd(cost)} on ${firstDay}, ${expectedWords(fact)}: ${usd(difference, true)}${shareWords(difference, expected)}${stays}.${since}`,
      ...movedWords(fact),
      ...(isOver ? ['It is over.'] : []),
      lookAt(fact),
    ],
    fields: [
      { label: 'Cost', value: `${usd(cost)} on ${firstDay}` },
      { label: 'Expected', value: rangeWords(fact) },
      { label: 'Impact so far', value: usd(fact.impact, true) },
      { label: 'Where', value: whereWords(fact) },
    ],
    list: fact.drivers.length === 0 ? undefined : { label: 'Driven by', items: driverItems(fact.drivers) },
  };
}

/** What people are told when it is over. Pure. */
export function anomalyOverWords(fact: AnomalyFact): AnomalyWords {
  const days = fact.firstDay === fact.lastDay ? `on ${fact.firstDay}` : `from ${fact.firstDay} to ${fact.lastDay}`;
  const what = `${fact.billingDimension ?? 'no dimension'} of ${whereWords(fact)}`;
  const sentence = fact.isRestated
    ? 'The platform changed the numbers of those days: as they are now there was nothing unusual.'
    : `It came to ${usd(fact.impact, true)} against what was expected, ${days}.`;
  return { title: `${what} costs what is expected again`, sentences: [sentence], fields: [], list: undefined };
}

function titleOf(fact: AnomalyFact): string {
  const what = `${fact.billingDimension ?? 'no dimension'} of ${whereWords(fact)}`;
  switch (fact.anomaly) {
    case 'new':
      return `${what} is new: ${usd(fact.cost)} a day`;
    case 'drop':
      return isCredit(fact) ? `${what} is credited more than it costs` : `${what} costs nothing any more`;
    case 'price':
      return `The price of ${what} has moved${shareWords(minus(fact.cost, fact.expected), fact.expected)}`;
    case 'step':
      return `${what} costs ${fact.isUp ? 'more' : 'less'} and stays there`;
    case 'spike':
    case 'dip':
      return `${what} costs ${fact.isUp ? 'more' : 'less'} than expected`;
  }
}

function whereWords({ workspace, resourceType }: AnomalyFact): string {
  return `${resourceType ?? 'no type'} in ${workspace ?? 'no workspace'}`;
}

function expectedWords(fact: AnomalyFact): string {
  if (fact.anomaly === 'new') return 'where there were no costs before';
  return `${usd(fact.expected)} expected (${rangeWords(fact)})`;
}

function rangeWords({ expectedLow, expectedHigh, anomaly }: AnomalyFact): string {
  if (anomaly === 'new') return 'nothing';
  return isNothing(expectedLow) ? `up to ${usd(expectedHigh)}` : `${usd(expectedLow)} to ${usd(expectedHigh)}`;
}

function movedWords({ moved, priceEffect, volumeEffect, anomaly }: AnomalyFact): string[] {
  if (moved === null || priceEffect === null || volumeEffect === null || anomaly === 'drop') return [];
  if (moved === 'price') return [`The price moved, not the usage: ${usd(priceEffect, true)} of it.`];
  if (moved === 'usage') return [`The usage moved, not the price: ${usd(volumeEffect, true)} of it.`];
  return [`Price and usage moved: ${usd(priceEffect, true)} and ${usd(volumeEffect, true)}.`];
}

/** Whether more was taken back on the first day than it cost. */
function isCredit({ cost }: Pick<AnomalyFact, 'cost'>): boolean {
  return wholeOfDecimal(cost, decimals) < 0n;
}

function lookAt({ anomaly, drivers, isUp, cost }: AnomalyFact): string {
  const [first] = drivers;
  if (anomaly === 'price')
    return 'Compare the price with your contract: "costbook report price_volume" has it by resource.';
  if (first === undefined) return '"costbook report anomalies" has all of it.';
  const name = first.resourceName ?? 'the resource without a name';
  if (isCredit({ cost })) return `Look what the credit of ${name} is for.`;
  if (!isUp) return `Look whether ${name} was meant to ${anomaly === 'drop' ? 'stop' : 'cost less'}.`;
  return first.part >= 50
    ? `Look at ${name} first: ${first.part.toFixed(0)} % of it.`
    : 'No single resource drives it: look at what they have in common.';
}

function driverItems(drivers: readonly AnomalyDriver[]): string[] {
  return drivers
    .filter(({ part }) => Math.abs(part) >= 1)
    .slice(0, driversShown)
    .map(({ resourceName, cost, expected, part }) => {
      const before = isNothing(expected) ? 'nothing expected' : `${usd(expected)} expected`;
      return `${resourceName ?? '(no name)'}: ${usd(cost)}, ${before} (${part.toFixed(0)} %)`;
    });
}

/** ` (+270 %)`; nothing where nothing was expected. */
function shareWords(difference: string, expected: string): string {
  const whole = wholeOfDecimal(expected, decimals);
  if (whole <= 0n) return '';
  const percent = rounded(wholeOfDecimal(difference, decimals) * 100n, whole);
  return ` (${percent > 0n ? '+' : ''}${percent} %)`;
}

function minus(one: string, other: string): string {
  return decimalOfWhole(wholeOfDecimal(one, decimals) - wholeOfDecimal(other, decimals), decimals);
}

function isNothing(text: string): boolean {
  return wholeOfDecimal(text, decimals) === 0n;
}
