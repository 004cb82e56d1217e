import { act } from '../../base/next-step.ts';
import { moneyOf, roughly, sumOf } from '../../money/money.ts';
import { counted } from '../../text/counted.ts';
import { type Finding, findingOf } from '../finding.ts';
import { byAccount, type DataKind, isRead, throughOf } from '../kind.ts';
import { alertRows } from '../rows.ts';

/** A time without costs, half-open. */
interface SilentTime {
  readonly start: string;
  readonly end: string;
  /** What as many hours usually cost: USD, decimal text. */
  readonly usualCost: string;
}

interface Row extends SilentTime {
  readonly account: string;
}

/** An account that costs something in every hour had none for some hours, and the platform's totals agree. */
export interface SilentFact extends Finding<'silent'> {
  /** Newest first. */
  readonly times: readonly SilentTime[];
  /** USD of all of them. */
  readonly usualCost: string;
}

export const silent: DataKind<SilentFact, Row> = {
  name: 'silent',
  read: async (connection) =>
    (await alertRows(connection, 'silent_hours')).map((row) => ({
      account: String(row['account']),
      start: String(row['silent_from']),
      end: String(row['silent_to']),
      usualCost: String(row['usual_cost']),
    })),
  findings: (rows, world) =>
    byAccount(rows, world).map(({ account, own: times }) => ({
      ...findingOf('silent', [account], {
        ...{ account, severity: 'warning', completeThrough: throughOf(world, account) },
      }),
      times,
      usualCost: sumOf(times.map(({ usualCost }) => usualCost)),
    })),
  isLookedFor: isRead,
  // Another time without costs is news; that one goes on is not.
  causes: ({ times }) => times.map(({ start }) => start).toReversed(),
  words: ({ account, times, usualCost, completeThrough }) => {
    const [newest] = times;
    const goesOn = newest?.end === completeThrough;
    const since = goesOn ? `since ${newest?.start}` : `from ${newest?.start} to ${newest?.end}`;
    const more = times.length > 1 ? ` and at ${counted(times.length - 1, 'earlier time')}` : '';
    return {
      title: `About ${roughly(moneyOf(usualCost))} may be missing: ${account} has no cost ${since}${more}`,
      sentences: [
        `That much is usual in as many hours${goesOn ? `, until ${newest?.end}, the last hour read` : ''}. The platform's totals show none either, so the books match them: either everything was stopped, or the platform shows these costs late, or it has lost them.`,
      ],
      ...(times.length > 1 && {
        list: {
          label: 'Times without costs',
          items: times.map((time) => `${time.start}/${time.end}: about ${roughly(moneyOf(time.usualCost))}`),
        },
      }),
    };
  },
  over: ({ account }) => ({
    title: `hours without costs of ${account} are over for a week, or their costs have come`,
    sentences: [],
  }),
  step: ({ account }) =>
    act(
      `ask those who run ${account} whether everything was stopped then. If it was, nothing is missing. If not, ask the platform's support for the costs of these hours. Every run looks for late ones and loads them.`,
    ),
  amount: ({ usualCost }) => usualCost,
  size: ({ usualCost }) => Number(usualCost),
  isDated: true,
  isRefreshed: true,
};
