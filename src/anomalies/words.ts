import { act, handedOver, type NextStep } from '../base/next-step.ts';
import { mainDriverOf } from '../budgets/forecasts/index.ts';
import { unitOfDimension } from '../budgets/rules/index.ts';
import {
  cents,
  centsAddingUp,
  difference,
  inUnit,
  moneyOf,
  roughly,
  rounded,
  sumOf,
  usd,
  withSeparators,
} from '../money/money.ts';
import { counted } from '../text/counted.ts';
import { shellWord } from '../text/shell-word.ts';
import { dayWords, monthName } from '../time/day-words.ts';
import { dayName, dayNamed, hourMs } from '../time/time.ts';
import { deploymentSentences } from './deployment-words.ts';
import type { AnomalyDriver, RunawayHours } from './detail.ts';
import type { AnomalyFact } from './fact.ts';
import { barAbove, wholeDay } from './feedback.ts';
import { feedbackSentences } from './feedback-words.ts';
import type { AnomalyPart } from './one-cause.ts';
import { pressedSentences } from './pressed-budgets.ts';

/** The text of an alert about an anomaly. */
export interface AnomalyWords {
  readonly title: string;
  readonly sentences: readonly string[];
  readonly next?: NextStep;
  readonly fields: readonly { readonly label: string; readonly value: string }[];
  readonly list: { readonly label: string; readonly items: readonly string[] } | undefined;
}

const driversShown = 3;
/** USD: less would be shown as nothing. */
const smallestRest = 0.005;
const partsShown = 5;

/** An anomaly as text: what it cost, what it will cost, what drives it, and what to do next. Pure. */
export function anomalyWords(fact: AnomalyFact): AnomalyWords {
  const [budget, ...otherBudgets] = pressedSentences(fact.budgets ?? [], fact.completeThrough);
  const deployments = deploymentSentences({
    deployments: fact.deployments ?? [],
    deploymentCount: fact.deploymentCount ?? 0,
  });
  const [said, cause] = [feedbackSentences(fact), drivenWords(fact)];
  const isNews = fact.notice === 'unfixed' && said.length > 0;
  return {
    title: titleOf(fact),
    sentences: [
      ...(isNews ? said : [cause]),
      ...partlyKnownWords(fact),
      ...(budget === undefined ? [] : [budget]),
      ...otherBudgetsNamed(fact.budgets ?? []),
      ...(fact.isOver && fact.anomaly !== 'missing' ? ['It has ended.'] : []),
    ],
    next: stepOf(fact, silenceWords(fact)),
    fields: [
      ...fieldsOf(fact),
      ...fieldOf('Last message', noticeWords(fact)),
      ...(isNews ? fieldOf('Cause', [cause]) : fieldOf('Feedback', said)),
      ...fieldOf('Other budgets', otherBudgets),
      ...fieldOf('Deployments', deployments),
      ...fieldOf('Exclusion that has ended', endedExclusionWords(fact)),
    ],
    list: listOf(fact),
  };
}

/** Names the budgets after the first: a message of several alerts shows no fields. */
function otherBudgetsNamed([, ...others]: NonNullable<AnomalyFact['budgets']>): string[] {
  if (others.length === 0) return [];
  const names = others.slice(0, partsShown).map(({ name }) => name);
  const more = others.length > names.length ? [`${others.length - names.length} more`] : [];
  return [`Its cost also counts in ${others.length === 1 ? 'budget' : 'budgets'} ${[...names, ...more].join(', ')}.`];
}

/** A field with these sentences; none without any. */
function fieldOf(label: string, sentences: readonly string[]): AnomalyWords['fields'] {
  return sentences.length === 0 ? [] : [{ label, value: sentences.join(' ') }];
}

/** What of an anomaly is no news of its last days: what an exclusion accepted, and what corrections brought later. */
function partlyKnownWords({ formerlyExcluded: ended, corrected, impact, lastDay }: AnomalyFact): string[] {
  return [
    ...(ended?.impactSince === undefined || ended.until === null
      ? []
      : [
          `${usd(ended.impactSince, true)} of it came since the exclusion "${ended.reason}" ended on ${dayWords(ended.until, lastDay)}.`,
        ]),
    ...(corrected === undefined
      ? []
      : [
          `${moneyOf(corrected) >= moneyOf(impact) ? 'All' : usd(corrected, true)} of it came by corrections of the platform, after these days were first loaded.`,
        ]),
  ];
}

/** `2026-10-13: load test of the crawler`: why its place raised no alerts before. */
function endedExclusionWords({ formerlyExcluded: ended }: AnomalyFact): string[] {
  return ended === undefined ? [] : [`${ended.until}: ${ended.reason}`];
}

/** The end of an anomaly as text. Pure. */
export function anomalyOverWords(fact: AnomalyFact): AnomalyWords {
  const subject = anomalySubject(fact);
  const amount = `${amountOf(fact.impact)} ${fact.isUp ? 'more' : 'less'} than usual`;
  const days = anomalySpan(fact);
  const head = { fields: [], list: undefined };
  if (fact.isRestated && fact.isByAccess === true) {
    return {
      ...head,
      title: `${subject} is no longer evaluated as before: the role of the token has changed`,
      sentences: [
        'Only an admin token sees the workspace of rows without a resource UUID, such as those of volumes. Since the role ' +
          'changed, these costs are in another workspace or in none. The platform did not change them.',
      ],
    };
  }
  if (fact.isRestated) {
    return {
      ...head,
      title: `the cost of ${subject} is not unusual by the present numbers and rules`,
      sentences: [`Since it was reported, the platform has corrected the cost ${days}, or the rules have changed.`],
    };
  }
  if (fact.isUsual === true) {
    return {
      ...head,
      title: `${subject} cost ${amount} ${days}: Costbook now treats this cost as usual`,
      sentences: [
        `Total difference: ${usd(fact.impact, true)}${rateWords(fact)}. Costbook reports it again only if it changes.`,
      ],
      next: stepOf(fact),
    };
  }
  const verb = fact.anomaly === 'drop' ? 'has costs again' : 'is back to its usual cost';
  const total = `Total difference: ${usd(fact.impact, true)} ${days}${rateWords(fact)}.`;
  return { ...head, title: `${subject} ${verb}, after ${amount}`, sentences: [total] };
}

/** The money first: what it has cost so far, and by the end of the month if it goes on. */
function titleOf(fact: AnomalyFact): string {
  const { anomaly, isUp, isOver, firstDay, lastDay } = fact;
  const subject = anomalySubject(fact);
  const amount = amountOf(fact.impact);
  const usual = `${amount} ${isUp ? 'more' : 'less'} than usual`;
  const when = `${anomalySpan(fact)}${monthEndWords(fact)}`;
  switch (anomaly) {
    case 'new':
      return `${amount} for ${subject}, never billed for ${billedWords(fact)} before, ${when}`;
    case 'drop': {
      if (isCredit(fact))
        return `${subject} was credited ${amountOf(fact.cost)} more than it cost ${dayWords(firstDay, lastDay)}`;
      const nothing = isOver
        ? `cost nothing ${anomalySpan(fact)}`
        : `has cost nothing since ${dayWords(firstDay, lastDay)}`;
      return `${subject} ${nothing}; usual: ${amountOf(fact.expected)} a day`;
    }
    case 'price': {
      const percent = shareOf(difference(fact.cost, fact.expected), fact.expected);
      return `${usual} ${when}: the price of ${subject} ${isUp ? 'rose' : 'fell'} by ${percent} %`;
    }
    case 'spike':
    case 'step':
    case 'dip':
      return `${usual}${mainDriver(fact) !== undefined && hasOthers(fact) ? ', mostly' : ''} for ${subject} ${when}`;
    case 'missing':
      return `${usual} ${when}: the recurring cost of ${subject} did not come`;
  }
}

/** The resource that explains most of an anomaly, or where it happened. */
export function anomalySubject(fact: AnomalyFact): string {
  const billed = fact.billingDimension ?? 'no billing dimension';
  if (fact.anomaly === 'price') return billed;
  const main = mainDriver(fact);
  const names = namesOf(fact.parts);
  if (names !== undefined) return names;
  if (main !== undefined) return nameOf(main);
  return fact.parts === undefined ? `${billed} of ${placeOf(fact)}` : placesOf(fact.parts);
}

/** Names of resources that a subject has. */
const namesShown = 3;

/** The resources of several anomalies, the largest first; undefined if they are of one resource, or if one has none. */
function namesOf(parts: readonly AnomalyPart[] = []): string | undefined {
  const largest = parts.toSorted((a, b) => Math.abs(Number(b.impact)) - Math.abs(Number(a.impact)));
  const names = [...new Set(largest.map(({ driver }) => driver))].flatMap((name) => name ?? []);
  if (names.length < 2 || parts.some(({ driver }) => driver == null)) return undefined;
  const shown = names.slice(0, namesShown);
  const hidden = names.length - shown.length;
  const [listed, last] = hidden > 0 ? [shown, `${hidden} more`] : [shown.slice(0, -1), shown.at(-1)];
  return `${listed.join(', ')} and ${last}`;
}

/** The resource types and workspaces of several anomalies. */
function placesOf(parts: readonly AnomalyPart[]): string {
  const types = [...new Set(parts.map(({ resourceType }) => resourceType ?? 'no resource type'))];
  const workspaces = [...new Set(parts.map(({ workspace }) => workspace ?? 'no workspace'))];
  const where = workspaces.length > 2 ? `${workspaces.length} workspaces` : workspaces.join(' and ');
  return `${types.length > 2 ? `${types.length} resource types` : types.join(' and ')} in ${where}`;
}

function mainDriver({ drivers }: AnomalyFact): AnomalyDriver | undefined {
  return mainDriverOf(drivers);
}

function nameOf({ resourceName }: AnomalyDriver): string {
  return resourceName ?? 'a resource without a name';
}

function placeOf({ workspace, resourceType }: Pick<AnomalyFact, 'workspace' | 'resourceType'>): string {
  return `${resourceType ?? 'no resource type'} in ${workspace ?? 'no workspace'}`;
}

/** `on 20 Oct`, `since 15 Nov`, or once it has ended `from 15 to 17 Nov`. `in 2 hours` if its day is not complete. */
export function anomalySpan({
  firstDay,
  lastDay,
  isOver,
  hours,
}: Pick<AnomalyFact, 'firstDay' | 'lastDay' | 'isOver'> & Partial<Pick<AnomalyFact, 'hours'>>): string {
  if (hours !== undefined && !isOver) return `in ${counted(hoursOf(hours), 'hour')}`;
  const first = dayWords(firstDay, lastDay);
  if (firstDay === lastDay) return `on ${first}`;
  if (!isOver) return `since ${first}`;
  const isOneMonth = firstDay.slice(0, 7) === lastDay.slice(0, 7);
  return `from ${isOneMonth ? Number(firstDay.slice(8)) : first} to ${dayWords(lastDay, lastDay)}`;
}

function hoursOf({ from, to }: RunawayHours): number {
  return Math.round((Date.parse(to) - Date.parse(from)) / hourMs);
}

/** ` (about 92 USD on a whole day)`; empty if it has lasted one day. */
function rateWords({ dailyImpact }: AnomalyFact): string {
  return dailyImpact === null || dailyImpact === undefined ? '' : ` (about ${roughly(dailyImpact)} on a whole day)`;
}

/** What the last message reported, and that it got worse since. */
function noticeWords({ notice, lastNotice, lastDay }: AnomalyFact): string[] {
  if (lastNotice === null || lastNotice === undefined) return [];
  const before = `${usd(lastNotice.impact, true)} through ${dayWords(lastNotice.day, lastDay)}`;
  return [notice === 'worse' ? `${before}; it got worse since` : before];
}

/** `, in all about 1,245 USD more by the end of November if it continues`; empty if it does not continue. */
function monthEndWords({ monthEnd, anomaly, isUp }: AnomalyFact): string {
  if (monthEnd === null || monthEnd === undefined) return '';
  const than = anomaly === 'new' ? '' : isUp ? ' more' : ' less';
  return `, in all about ${roughly(monthEnd.impact)}${than} by the end of ${monthName(monthEnd.month)} if it continues`;
}

/** ` in the last 3 hours of the day, about 88 USD on a whole day`; empty if a day of it is not known. */
function paceWords(fact: AnomalyFact): string {
  const { anomaly, isUp, isOver, firstDay, lastDay, firstHour, pace, dailyImpact, hours: found } = fact;
  if (found !== undefined) {
    if (isOver) return '';
    const times = found.times === null ? '' : `, ${withSeparators(String(found.times))} times its usual cost`;
    return `, about ${roughly(found.pace)} on a whole day${times}`;
  }
  if (dailyImpact !== null && dailyImpact !== undefined) return `, about ${roughly(dailyImpact)} on a whole day`;
  if (!isUp || isOver || anomaly === 'price' || firstDay !== lastDay || firstHour === null) return '';
  const hours = 24 - Number(firstHour.slice(11, 13));
  if (hours >= 24 || pace === null || pace === undefined) return '';
  return ` in the last ${counted(hours, 'hour')} of the day, about ${roughly(pace)} on a whole day`;
}

/** Whether price or usage changed, for what and where, and since which hour. */
function drivenWords(fact: AnomalyFact): string {
  const { moved, priceEffect, volumeEffect, anomaly, isUp, firstHour, resourceType } = fact;
  const main = mainDriver(fact);
  const names = namesOf(fact.parts);
  const of =
    names !== undefined
      ? names
      : main === undefined
        ? fact.parts === undefined
          ? placeOf(fact)
          : placesOf(fact.parts)
        : moved === 'price' && hasOthers(fact)
          ? `every ${placeOf(fact)}`
          : `${resourceType ?? 'the resource'} ${nameOf(main)} in ${placeOfWorkspace(fact)}`;
  const billed = `${billedWords(fact)} of ${of}`;
  const hasStopped = fact.isOver || isUsualSince(fact);
  // The title counts from the first unusual day.
  const since =
    firstHour === null || firstHour.slice(0, 10) < fact.firstDay
      ? ''
      : `, ${hasStopped ? 'from' : 'since'} about ${dayWords(firstHour.slice(0, 10), fact.lastDay)}, ${firstHour.slice(11, 16)} UTC${fact.isOver || !hasStopped ? '' : `; since ${dayWords(dayName(dayNamed(fact.lastDay) + 1), fact.lastDay)} its cost has been usual again`}`;
  const direction = isUp ? 'up' : 'down';
  if (anomaly === 'drop' && !isCredit(fact)) {
    const until =
      firstHour === null
        ? 'Before, it'
        : `Until about ${dayWords(firstHour.slice(0, 10), fact.lastDay)}, ${firstHour.slice(11, 16)} UTC, it`;
    return `${until} was billed for ${billed}.`;
  }
  if (
    moved === null ||
    priceEffect === null ||
    volumeEffect === null ||
    anomaly === 'drop' ||
    anomaly === 'missing' ||
    anomaly === 'new'
  ) {
    return `Billed for ${billed}${since}.`;
  }
  if (moved === 'price')
    return `The unit price went ${direction}${pricesWords(fact)}, not the usage: ${billed}${since}.`;
  if (moved === 'usage') return `Usage went ${direction}, not the price: ${billed}${since}.`;
  return `Price and usage both changed (${usd(priceEffect, true)} and ${usd(volumeEffect, true)}): ${billed}${since}.`;
}

/** ` from 0.0414 USD per GB-hour to 0.0621 USD per GB-hour`; empty if the prices are not known. */
function pricesWords({ prices, billingDimension }: AnomalyFact): string {
  if (prices === undefined) return '';
  const isGbSeconds = unitOfDimension(billingDimension ?? '') === 'GB-seconds';
  const [size, unit] = isGbSeconds ? [3600n, 'USD per GB-hour'] : [1n, 'USD per unit'];
  return ` from ${inUnit(moneyOf(prices.before) * size, unit)} to ${inUnit(moneyOf(prices.since) * size, unit)}`;
}

/** `compute runtime`, or `2 billing dimensions`. */
function billedWords(fact: AnomalyFact): string {
  const several = new Set(fact.parts?.map(({ billingDimension }) => billingDimension)).size;
  return several > 1 ? `${several} billing dimensions` : dimensionWords(fact);
}

/** Whether a day after its last one is complete, though it is not over yet. */
function isUsualSince({ isOver, lastDay, hours, completeThrough }: AnomalyFact): boolean {
  if (isOver || hours !== undefined || completeThrough === null) return false;
  return Date.parse(completeThrough) >= Date.parse(lastDay) + 48 * hourMs;
}

/** Whether its amount is not that of its main driver alone. */
function hasOthers({ parts, drivers, impact }: AnomalyFact): boolean {
  return parts === undefined && driverItems(drivers, impact).length > 1;
}

/** What was billed, in words: `compute runtime` for `agent_compute_runtime_gbs` of agents. */
function dimensionWords({ billingDimension, resourceType }: AnomalyFact): string {
  if (billingDimension === null) return 'no billing dimension';
  const prefix = `${resourceType ?? ''}_`;
  const own = billingDimension.startsWith(prefix) ? billingDimension.slice(prefix.length) : billingDimension;
  return own.replace(/(?<=.)_(gbs?|hours|count)$/, '').replaceAll('_', ' ');
}

function placeOfWorkspace({ workspace, parts }: AnomalyFact): string {
  const workspaces = new Set(parts?.map((part) => part.workspace));
  return workspaces.size > 1 ? `${workspaces.size} workspaces` : (workspace ?? 'no workspace');
}

/** The owner acts, if one is known. What is said to Costbook, its operator says. */
function stepOf(fact: AnomalyFact, more: readonly string[] = []): NextStep {
  return { ...act([adviceOf(fact), ...more].join(' ')), by: actingOwner(fact) };
}

/** Who can change an unusual cost: no owner of resources changes a price. Undefined if nobody is known. */
function actingOwner({ owner, anomaly }: AnomalyFact): string | undefined {
  return anomaly === 'price' ? undefined : owner;
}

function adviceOf(fact: AnomalyFact): string {
  const { anomaly, isUp, billingDimension, corrected, impact } = fact;
  if (anomaly === 'price') {
    return 'compare the price with your contract. "costbook report price_volume" lists it by resource. If the contract has another price, ask the platform\'s support for a correction.';
  }
  const main = mainDriver(fact);
  if (main === undefined) {
    return `check what the ${fact.parts === undefined ? 'resources' : 'parts'} below have in common. No single resource drives it.`;
  }
  const name = nameOf(main);
  if (isCredit(fact)) return `check what the credit of ${name} is for.`;
  if (anomaly === 'missing') return `check whether ${name} has run.`;
  if (anomaly === 'drop') {
    return `check whether ${name} was meant to stop. If not, start it again. If it was, ${handedOver(`run "costbook alerts ack ${shellWord(fact.key)} --as expected"`, actingOwner(fact))}.`;
  }
  if (!isUp) return `check whether ${name} was meant to cost less.`;
  if (corrected !== undefined && 2n * moneyOf(corrected) >= moneyOf(impact))
    return `check whether ${name} used that much. If not, ask the platform's support about these corrections.`;
  if (billingDimension?.includes('_storage_') === true) return `check what ${name} stores.`;
  if (anomaly === 'new') return `check who runs ${name}, and whether it is meant to run.`;
  return isUsualSince(fact)
    ? `find out what ${name} ran then, so that it does not come again.`
    : `check what ${name} runs and when; stop what should not run.`;
}

/** How to raise the bar, and to what. Lower costs have none: they are reported once. */
function silenceWords(fact: AnomalyFact): string[] {
  const { isUp, isOver, feedback = [], firstDay, lastDay, cost, expected, largestDay, hours } = fact;
  if (!isUp || isOver || feedback.some(({ as }) => as !== 'fixed')) return [];
  const pace = hours?.pace ?? (firstDay === lastDay ? fact.pace : undefined);
  const bar = roughly(barAbove(wholeDay(largestDay ?? cost, expected, pace)));
  const ended = fact.formerlyExcluded;
  const later = ended === undefined ? 'If it is intended' : 'If it is intended from now on';
  return [
    ...(ended === undefined
      ? []
      : [
          `If "${ended.reason}" goes on, ${handedOver('give that exclusion a later day in jobs/budgets.yaml', actingOwner(fact))}.`,
        ]),
    `${later}, ${handedOver(`run "costbook alerts ack ${shellWord(fact.key)} --as expected"`, actingOwner(fact))}. ` +
      `Costbook then reports it again only above about ${bar} a day.`,
  ];
}

function fieldsOf(fact: AnomalyFact): AnomalyWords['fields'] {
  const { firstDay, lastDay, cost, costSoFar, impact, account } = fact;
  const until = fact.hours === undefined || fact.isOver ? '' : `, before ${fact.hours.to.slice(11, 16)} UTC`;
  const days = `${firstDay === lastDay ? firstDay : `${firstDay} to ${lastDay}`}${until}`;
  const total = costSoFar ?? cost;
  // Beside drivers and all others, the title names one resource: the amounts are of all.
  const whose = hasOthers(fact) ? ` of every ${placeOf(fact)}` : '';
  const usual = fact.anomaly === 'new' ? 'nothing' : exactly(usualOf(fact, total));
  return [
    { label: 'Cost', value: `${usd(total)}${whose}, ${days}` },
    { label: firstDay === lastDay ? 'Usual' : 'Usual in these days', value: usual },
    ...(firstDay === lastDay && fact.anomaly !== 'new' && fact.hours === undefined
      ? [{ label: fact.isUp ? 'Unusual above' : 'Unusual below', value: limitWords(fact) }]
      : []),
    {
      label: 'Total difference',
      value: `${usd(impact, true)}${paceWords(fact)}`,
    },
    {
      label: 'Where',
      value: `${fact.parts === undefined ? placeOf(fact) : placesOf(fact.parts)}, account ${account}`,
    },
    ...(fact.owner === undefined ? [] : [{ label: 'Owner', value: fact.owner }]),
    ...(fact.parts === undefined && fact.billingDimension !== null
      ? [{ label: 'Billed as', value: fact.billingDimension }]
      : []),
  ];
}

/** The usual cost, in cents with which it and the difference add up to the cost. */
function usualOf({ costSoFar, expected, impact }: AnomalyFact, total: string): string {
  const usual = costSoFar ? difference(total, impact) : expected;
  const [shown = usual] = centsAddingUp([usual, cents(impact)], total);
  return shown;
}

/** From which cost on a day is unusual. */
function limitWords({ expectedLow, expectedHigh, isUp }: AnomalyFact): string {
  return `${usd(isUp ? expectedHigh : expectedLow)} a day`;
}

/** The parts of several anomalies of one cause, largest first; otherwise the drivers. */
function listOf({ parts, drivers, impact }: AnomalyFact): AnomalyWords['list'] {
  if (parts !== undefined) {
    const ordered = parts.toSorted((a, b) => Math.abs(Number(b.impact)) - Math.abs(Number(a.impact)));
    const names = namesOf(parts);
    const shown = centsAddingUp(
      ordered.map((part) => part.impact),
      impact,
    );
    const items = ordered.slice(0, partsShown).map((part, index) => {
      const { billingDimension, firstDay, lastDay, isOver } = part;
      const ended = isOver ? `, ended ${dayWords(lastDay, lastDay)}` : '';
      const of = names === undefined || part.driver == null ? placeOf(part) : `${part.driver}, ${placeOf(part)}`;
      return `${billingDimension ?? 'no billing dimension'} of ${of}: ${usd(shown[index] ?? part.impact, true)} since ${dayWords(firstDay, lastDay)}${ended}`;
    });
    const hidden = ordered.length - partsShown;
    return { label: 'Parts', items: hidden > 0 ? [...items, `and ${hidden} more`] : items };
  }
  const items = driverItems(drivers, impact);
  // A single one is the subject: its amounts are above.
  return items.length < 2 ? undefined : { label: 'Driven by', items };
}

/** The largest drivers with their differences, and the difference of all others, so that they add up to the whole. */
function driverItems(drivers: readonly AnomalyDriver[], impact: string): string[] {
  const shown = drivers.filter(({ part }) => Math.abs(part) >= 1).slice(0, driversShown);
  const more = shown.map(({ cost, expected }) => difference(cost, expected));
  const rest = difference(impact, sumOf(more));
  const isSmall = Math.abs(Number(rest)) < smallestRest;
  const parts = centsAddingUp(isSmall ? more : [...more, rest], impact);
  const items = shown.map(({ resourceName, cost, expected }, index) => {
    const usual = `usually ${isNothing(expected) ? 'nothing' : usd(expected)}`;
    return `${resourceName ?? '(no name)'}: ${usd(cost)}, ${usual} (${usd(parts[index] ?? '0', true)})`;
  });
  return shown.length === 0 || isSmall ? items : [...items, `all others: ${usd(parts.at(-1) ?? rest, true)}`];
}

/** Whether credits exceeded costs on the first day. */
function isCredit({ cost }: Pick<AnomalyFact, 'cost'>): boolean {
  return moneyOf(cost) < 0n;
}

/** An estimate, rounded to cents. */
function exactly(text: string): string {
  return `${withSeparators(cents(moneyOf(text)))} USD`;
}

/** An amount without sign: `457.65 USD`, the same figure as in every list. */
function amountOf(text: string): string {
  return usd(text.replace(/^-/, ''));
}

function shareOf(difference: string, expected: string): string {
  const whole = moneyOf(expected);
  const percent = whole <= 0n ? 0n : rounded(moneyOf(difference) * 100n, whole);
  return String(percent < 0n ? -percent : percent);
}

function isNothing(text: string): boolean {
  return moneyOf(text) === 0n;
}
