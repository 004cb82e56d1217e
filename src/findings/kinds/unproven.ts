import { longestDiffering, unprovenStepAfter } from '../../base/next-step.ts';
import { cents, moneyOf, roundDecimal, sumOf, usd, usdDecimals } from '../../money/money.ts';
import type { UnprovenText } from '../../warehouse/ledger/index.ts';
import { nightsCause } from '../causes.ts';
import { type Finding, findingOf, type OutOfDate } from '../finding.ts';
import { type DataKind, outOfDateIn } from '../kind.ts';
import {
  comparisonWords,
  differenceWords,
  monthsTouched,
  monthWords,
  sumOfDifferences,
  windowsOf,
} from '../unproven-words.ts';
import { changeWords, partlyLateWords } from './sentences.ts';

/** Hours of an account do not add up to the platform's own totals. */
export interface UnprovenFact extends Finding<'unproven'> {
  /** Months that the windows touch, newest first. */
  readonly months: readonly string[];
  /** The sum of the largest cost differences of all windows, USD, decimal text; null if only usage differs. */
  readonly difference: string | null;
  /** Number of windows. */
  readonly count: number;
  /** The newest windows. */
  readonly windows: readonly {
    readonly start: string;
    readonly end: string;
    readonly reason: string;
    /** Its largest difference in cost: USD, decimal text without sign; left out if no cost differs. */
    readonly costDifference?: string | undefined;
    /** On how many days it has failed since its hours were last proven. */
    readonly nights?: number;
    /** The first of these days: `2026-10-14`. */
    readonly failingSince?: string;
  }[];
  readonly outOfDate: OutOfDate;
}

/** An alert shows this many windows and counts all. */
const windowsShown = 3;

/** The newest windows; the one that has failed for the most nights is among them, because it decides the next step. */
function mostUrgent(unproven: readonly UnprovenText[]): UnprovenFact['windows'] {
  const all = windowsOf(unproven);
  const newest = all.slice(0, windowsShown);
  // Of several, the oldest, as the step names it.
  const oldest = longestDiffering(all);
  const shown = oldest === undefined || newest.includes(oldest) ? newest : [...newest.slice(0, -1), oldest];
  return shown.map(({ costDifference, nights, failingSince, ...window }) => ({
    ...window,
    ...(costDifference === null ? {} : { costDifference }),
    ...(nights ? { nights } : {}),
    ...(failingSince === undefined ? {} : { failingSince }),
  }));
}

/** `: 8.39 USD`: the difference of the windows that are not shown, so that all add up; empty if no cost differs. */
function othersWords({ difference, windows }: UnprovenFact): string {
  if (difference == null) return '';
  const shown = windows.map(({ costDifference = '0' }) => cents(roundDecimal(costDifference, usdDecimals)));
  return `: ${usd(moneyOf(cents(difference)) - moneyOf(sumOf(shown)))}`;
}

export const unproven: DataKind<UnprovenFact, never> = {
  name: 'unproven',
  findings: (_, { accounts, now }) =>
    accounts
      .filter(({ unproven: windows }) => windows.length > 0)
      .map(({ account, completeThrough, unproven: windows, ...state }) => ({
        ...findingOf('unproven', [account], { account, severity: 'critical', completeThrough }),
        months: monthsTouched(windows),
        difference: sumOfDifferences(windows) ?? null,
        count: windowsOf(windows).length,
        windows: mostUrgent(windows),
        // By the limit of `status`: a day that is missing alone is no other cause.
        outOfDate: outOfDateIn({ accounts: [{ account, completeThrough, unproven: windows, ...state }], now }),
      })),
  causes: ({ months, windows }) => [
    // That the books get out of date follows, and is no news.
    // A new month is a new cause: readers still trust its numbers.
    ...months.toSorted(),
    ...(unprovenStepAfter(windows).who === 'Act' ? [nightsCause] : []),
  ],
  causeWords: ({ months }) => `only costs in ${monthWords(months)} differed`,
  words: (fact) => ({
    title: `Costs of ${fact.account} ${differenceWords(fact.difference ?? undefined, fact.count, fact.months)}${fact.outOfDate.length === 0 ? '' : ', and its books are out of date'}`,
    sentences: [
      `Reports and exports have these hours as they matched the totals last; hours that never did are missing there as a whole.`,
      ...changeWords(fact),
      ...partlyLateWords(fact),
    ],
    list: {
      label: `Windows (${fact.count})`,
      items: [
        ...fact.windows.map(({ start, end, ...window }) => `${start}/${end}: ${comparisonWords(window)}`),
        ...(fact.count > fact.windows.length
          ? [`and ${fact.count - fact.windows.length} more${othersWords(fact)}`]
          : []),
      ],
    },
  }),
  over: ({ account, months }) => ({
    title: `costs of ${account} in ${monthWords(months)} match the platform's totals again`,
    sentences: [],
  }),
  step: ({ windows }) => unprovenStepAfter(windows),
  amount: ({ difference }) => difference ?? undefined,
  isRefreshed: true,
};
