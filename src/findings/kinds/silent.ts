import { act, handedOver } from '../../base/next-step.ts';
import { moneyOf, roughly, sumOf } from '../../money/money.ts';
import { counted } from '../../text/counted.ts';
import { hourMs } from '../../time/time.ts';
import { type Finding, findingOf } from '../finding.ts';
import { byAccount, type DataKind, isRead, throughOf } from '../kind.ts';
import { ownersOf } from '../owners.ts';
import { alertRows } from '../rows.ts';

/** A time without costs, half-open. */
interface SilentTime {
  /** The workspace that had none; left out if the whole account had none. */
  readonly workspace?: string;
  readonly start: string;
  readonly end: string;
  /** What as many hours usually cost: USD, decimal text. */
  readonly usualCost: string;
  /** What cost most in the week before, the largest first: `agent support-bot`; up to three. */
  readonly resources?: readonly string[];
  /** How many resources cost anything in that week. */
  readonly resourceCount?: number;
}

interface Row extends SilentTime {
  readonly account: string;
  readonly owner?: string | undefined;
}

/** An account or a workspace that costs something in every hour had none for some hours, and the platform's totals agree. */
export interface SilentFact extends Finding<'silent'> {
  /** Newest first. */
  readonly times: readonly SilentTime[];
  /** USD of all of them. */
  readonly usualCost: string;
  /** Who owns the workspace, or the account, of the newest: `team Research`; left out if nobody is known, or if several do. */
  readonly owner?: string;
}

export const silent: DataKind<SilentFact, Row> = {
  name: 'silent',
  read: async (connection) => {
    const rows = (await alertRows(connection, 'silent_hours')).map((row) => ({
      account: String(row['account']),
      ...(row['workspace'] === null ? {} : { workspace: String(row['workspace']) }),
      start: String(row['silent_from']),
      end: String(row['silent_to']),
      usualCost: String(row['usual_cost']),
      resources: JSON.parse(String(row['resources'] ?? '[]')) as string[],
      resourceCount: Number(row['resource_count']),
    }));
    const asked = rows.map(({ account, workspace, start }, place) => ({
      ...{ place, account, day: start.slice(0, 10) },
      ...(workspace === undefined ? {} : { workspace }),
    }));
    const owners = await ownersOf(connection, asked);
    return rows.map((row, place) => ({ ...row, owner: owners.get(place) }));
  },
  findings: (rows, world) =>
    byAccount(rows, world).map(({ account, own }) => {
      const times = own.map(({ owner: _, ...time }) => time);
      const [owner] = own.map((newest) => newest.owner);
      return {
        ...findingOf('silent', [account], {
          ...{ account, severity: 'warning', completeThrough: throughOf(world, account) },
        }),
        times,
        usualCost: sumOf(times.map(({ usualCost }) => usualCost)),
        ...(owner === undefined ? {} : { owner }),
      };
    }),
  isLookedFor: isRead,
  // Another time without costs is news; that one goes on is not.
  causes: ({ times }) =>
    times.map(({ start, workspace }) => (workspace === undefined ? start : `${start} ${workspace}`)).toReversed(),
  words: ({ account, times, usualCost, completeThrough }) => {
    const [newest] = times;
    const goesOn = newest?.end === completeThrough;
    const since = goesOn ? `since ${newest?.start}` : `from ${newest?.start} to ${newest?.end}`;
    const more = times.length > 1 ? `, and ${counted(times.length - 1, 'other time')} without costs` : '';
    return {
      title: `About ${roughly(moneyOf(usualCost))} may be missing: ${placeWords(account, newest)} has no cost ${since}${more}`,
      sentences: [
        `${usualWords(times)}${goesOn ? `, until ${newest?.end}, the end of the last hour read` : ''}. The platform's totals show none either: everything there was stopped, or the platform shows these costs late, or it has lost them.`,
      ],
      ...(times.length > 1 && {
        list: {
          label: 'Times without costs',
          items: times.map(
            (time) =>
              `${placeWords(account, time)}, ${time.start}/${time.end}: about ${roughly(moneyOf(time.usualCost))}`,
          ),
        },
      }),
    };
  },
  over: ({ account }) => ({
    title: `times without costs of ${account} are a week old, or their costs have come`,
    sentences: [],
  }),
  step: ({ account, owner, times: [newest] }) => ({
    ...act(
      `check whether ${stoppedWords(account, newest)} was stopped then. If it was, nothing is missing. If not, ${handedOver("ask the platform's support for the costs of these hours", owner)}: every run loads late ones.`,
    ),
    by: owner,
  }),
  amount: ({ usualCost }) => usualCost,
  size: ({ usualCost }) => Number(usualCost),
  isDated: true,
  isRefreshed: true,
};

/** `acc_main`, or `workspace research of acc_main`. */
function placeWords(account: string | null, time: SilentTime | undefined): string {
  return time?.workspace === undefined ? `${account}` : `workspace ${time.workspace} of ${account}`;
}

/** `everything in acc_main (agent support-bot, sandbox ci-runner)`. */
function stoppedWords(account: string | null, newest: SilentTime | undefined): string {
  const { resources = [], resourceCount = 0 } = newest ?? {};
  const more = resourceCount - resources.length;
  const named = more > 0 ? [...resources, `${more} more`] : resources;
  return `everything in ${placeWords(account, newest)}${named.length === 0 ? '' : ` (${named.join(', ')})`}`;
}

/** `These 5 hours usually cost that much`. */
function usualWords(times: readonly SilentTime[]): string {
  const hours = times.reduce((sum, { start, end }) => sum + (Date.parse(end) - Date.parse(start)) / hourMs, 0);
  return hours === 1 ? 'This hour usually costs that much' : `These ${hours} hours usually cost that much`;
}
