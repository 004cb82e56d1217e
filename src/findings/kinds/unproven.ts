import { longestDiffering, unprovenStepAfter } from '../../base/next-step.ts';
import { centsAddingUp, groupedAmount, moneyOf, usd } from '../../money/money.ts';
import { textOrNull } from '../../tables/optional-text.ts';
import { counted } from '../../text/counted.ts';
import type { UnprovenText } from '../../warehouse/ledger/index.ts';
import { nightsCause } from '../causes.ts';
import { type Finding, findingOf, type OutOfDate } from '../finding.ts';
import { type DataKind, outOfDateIn } from '../kind.ts';
import { alertRows } from '../rows.ts';
import {
  costOf,
  differenceWords,
  monthsTouched,
  monthWords,
  sumOfDifferences,
  windowLine,
  windowsOf,
} from '../unproven-words.ts';
import { usualCosts, usualCostWords } from '../usual-costs.ts';
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
  /** Hours of these windows that never matched, so that the books have none of their costs; left out if there are none. */
  readonly missing?: {
    readonly hours: number;
    /** What a day usually costs, USD as decimal text; left out if it is unknown. */
    readonly usualDaily?: string | undefined;
    /** What the platform's lines and totals say that these hours cost, USD as decimal text; left out if it is unknown. */
    readonly platform?: { readonly lines: string; readonly totals: string };
  };
  /** Days of which hours differed in the last week and match now: `2026-10-11, 2026-10-12`; left out if there are none. */
  readonly matched?: string;
  /** False if the account is no longer configured; otherwise left out. */
  readonly isConfigured?: boolean;
  readonly outOfDate: OutOfDate;
}

type Row = Pick<UnprovenFact, 'missing' | 'matched'> & { readonly account: string };

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

/** The windows that are shown, and the others as one: their cents add up to the difference of all. */
function windowItems({ difference, windows, count }: UnprovenFact): string[] {
  const costs = windows.map(costOf);
  const rest = moneyOf(difference ?? '0') - costs.reduce((sum, cost) => sum + cost, 0n);
  const others = count - windows.length;
  const shown = centsAddingUp([...costs, ...(others > 0 ? [rest] : [])], difference ?? '0');
  const more = difference === null ? '' : `: ${usd(shown.at(-1) ?? '0')}`;
  return [
    ...windows.map((one, index) => windowLine(one, shown[index])),
    ...(others > 0 ? [`and ${others} more${more}`] : []),
  ];
}

/** What reports and exports have of the hours. */
function booksWords({ missing, matched, difference }: UnprovenFact): string {
  const again = matched === undefined ? '' : ` Hours of ${matched} that differed before match now.`;
  if (missing === undefined) return `Reports and exports have these hours as they matched the totals last.${again}`;
  const { platform } = missing;
  const said = platform === undefined ? '' : ` say ${usd(platform.lines)} and ${usd(platform.totals)}: they`;
  const differ = `The platform's lines and totals of these hours${said} differ${difference === null ? '' : ` by ${usd(difference)}`}`;
  return `${differ}, so they were not loaded: reports and exports have all other proven hours.${again}`;
}

/** What reports lack, if they lack anything; otherwise what differs. */
function titleOf({ account, missing, difference, count, months, windows }: UnprovenFact): string {
  if (missing === undefined) return `Costs of ${account} ${differenceWords(difference ?? undefined, count, months)}`;
  const { hours, usualDaily, platform } = missing;
  const [start] = windows.map((one) => one.start).toSorted();
  const end = windows
    .map((one) => one.end)
    .toSorted()
    .at(-1);
  const when = count > windows.length ? `in ${monthWords(months)}` : `from ${start} to ${end}`;
  const amount =
    platform !== undefined
      ? eitherWords(platform)
      : usualDaily === undefined
        ? undefined
        : `A${usualCostWords(usualDaily, hours).slice(1)}`;
  const whole = counted(hours, 'hour');
  return amount === undefined
    ? `${whole} of ${account} ${hours === 1 ? 'is' : 'are'} not in the books: ${when}`
    : `${amount} of ${account} are not in the books: ${whole} ${when}`;
}

/** `17.28 or 18.48 USD`: which of them is right is not known. */
function eitherWords({ lines, totals }: { readonly lines: string; readonly totals: string }): string {
  const [one, other] = [groupedAmount(lines), groupedAmount(totals)];
  return one === other ? usd(lines) : `${one} or ${usd(totals)}`;
}

export const unproven: DataKind<UnprovenFact, Row> = {
  name: 'unproven',
  read: async (connection, { accounts }) => {
    if (accounts.every(({ unproven: windows }) => windows.length === 0)) return [];
    const rows = await alertRows(connection, 'hours_never_proven');
    const usual = rows.length === 0 ? undefined : await usualCosts(connection);
    const missing = rows.map((row) => {
      const [account, hours] = [String(row['account']), Number(row['hours'])];
      const [lines, totals] = [textOrNull(row['lines']), textOrNull(row['totals'])];
      const platform = lines === null || totals === null ? {} : { platform: { lines, totals } };
      return { account, missing: { hours, usualDaily: usual?.get(account), ...platform } };
    });
    const again = await alertRows(connection, 'days_matched_again');
    return [...missing, ...again.map((row) => ({ account: String(row['account']), matched: String(row['days']) }))];
  },
  findings: (rows, { accounts, now }) =>
    accounts
      .filter(({ unproven: windows }) => windows.length > 0)
      .map(({ account, completeThrough, unproven: windows, ...state }) => ({
        ...findingOf('unproven', [account], { account, severity: 'critical', completeThrough }),
        months: monthsTouched(windows),
        difference: sumOfDifferences(windows) ?? null,
        count: windowsOf(windows).length,
        windows: mostUrgent(windows),
        ...Object.assign({}, ...rows.filter((row) => row.account === account)),
        ...(state.isConfigured ? {} : { isConfigured: false }),
        // By the limit of `status`: a day that is missing alone is no other cause.
        outOfDate: outOfDateIn({ accounts: [{ account, completeThrough, unproven: windows, ...state }], now }),
      })),
  causes: ({ months, windows, isConfigured = true }) => [
    // That the books get out of date follows, and is no news.
    // A new month is a new cause: readers still trust its numbers.
    ...months.toSorted(),
    ...(unprovenStepAfter(windows, { isConfigured }).who === 'Act' ? [nightsCause] : []),
  ],
  causeWords: ({ months }) => `only costs in ${monthWords(months)} differed`,
  words: (fact) => ({
    title: titleOf(fact),
    sentences: [booksWords(fact), ...changeWords(fact), ...partlyLateWords(fact)],
    list: {
      label: `Windows (${fact.count})`,
      items: windowItems(fact),
    },
  }),
  over: ({ account, months }) => ({
    title: `costs of ${account} in ${monthWords(months)} match the platform's totals again`,
    sentences: [],
  }),
  step: ({ windows, isConfigured = true }) => unprovenStepAfter(windows, { isConfigured }),
  amount: ({ difference }) => difference ?? undefined,
  isRefreshed: true,
};
