import { act } from '../../base/next-step.ts';
import { sumOf, usd } from '../../money/money.ts';
import { textOrNull } from '../../tables/optional-text.ts';
import { type Finding, findingOf } from '../finding.ts';
import { byAccount, type DataKind, isRead, throughOf } from '../kind.ts';
import { alertRows } from '../rows.ts';

interface Row {
  readonly account: string;
  /** Null for resources whose costs name none. */
  readonly workspace: string | null;
  /** USD of the last 30 days, decimal text. */
  readonly cost: string;
}

/** Workspaces whose costs have no owners, because no listing ever showed a resource of theirs. */
export interface UnlistedFact extends Finding<'unlisted'> {
  /** The dearest first. */
  readonly workspaces: readonly Omit<Row, 'account'>[];
  /** USD of the last 30 days, of all of them. */
  readonly cost: string;
}

/** One finding for an account: the token reaches its costs, but not all of its workspaces. */
export const unlisted: DataKind<UnlistedFact, Row> = {
  name: 'unlisted',
  read: async (connection) =>
    (await alertRows(connection, 'unlisted_workspaces')).map((row) => ({
      account: String(row['account']),
      workspace: textOrNull(row['workspace']),
      cost: String(row['cost']),
    })),
  findings: (rows, world) =>
    byAccount(rows, world).map(({ account, own: workspaces }) => ({
      ...findingOf('unlisted', [account], {
        ...{ account, severity: 'warning', completeThrough: throughOf(world, account) },
      }),
      workspaces,
      cost: sumOf(workspaces.map(({ cost }) => cost)),
    })),
  isLookedFor: isRead,
  words: ({ account, cost, workspaces }) => ({
    title: `${usd(cost)} of ${account} in 30 days has no labels, so no owners by label: the token cannot list the resources`,
    sentences: ['The token reads these costs, but it does not reach their workspaces.'],
    list: {
      label: 'Workspaces',
      items: workspaces.map((one) => `${one.workspace ?? 'not named in costs'}: ${usd(one.cost)}`),
    },
  }),
  over: ({ account }) => ({
    title: `every workspace of ${account} with costs is listed, or listings are switched off`,
    sentences: [],
  }),
  step: () =>
    act(
      'use a token that reaches every workspace, or give each workspace a token of its own under inventory.tokens in costbook.yaml.',
    ),
  amount: ({ cost }) => cost,
  size: ({ cost }) => Math.abs(Number(cost)),
  isDated: true,
  isRefreshed: true,
};
