import { act } from '../../base/next-step.ts';
import { moneyOf, roughly } from '../../money/money.ts';
import { dayMs } from '../../time/time.ts';
import { type Finding, findingOf } from '../finding.ts';
import type { DataKind } from '../kind.ts';
import { alertRows } from '../rows.ts';
import { usualCosts } from '../usual-costs.ts';

interface Row {
  readonly account: string;
  readonly endedAt: string;
  readonly completeThrough: string;
  /** What a day usually cost: USD, decimal text; null if its history is too short. */
  readonly usualDaily: string | null;
}

/** An account is no longer in costbook.yaml: somebody may have removed it by mistake. */
export type AccountFact = Finding<'account'> & Pick<Row, 'endedAt' | 'usualDaily'>;

/** Who removed it by mistake notices in this time. */
const shownDays = 14;

export const account: DataKind<AccountFact, Row> = {
  name: 'account',
  async read(connection) {
    const rows = await alertRows(connection, 'ended_accounts');
    const usual = rows.length === 0 ? new Map<string, string>() : await usualCosts(connection);
    return rows.map((row) => ({
      account: String(row['account']),
      endedAt: String(row['ended_at']),
      completeThrough: String(row['complete_through']),
      usualDaily: usual.get(String(row['account'])) ?? null,
    }));
  },
  findings: (rows, { now, accounts }) =>
    rows
      .filter((row) => accounts.some((one) => one.account === row.account && !one.isConfigured))
      .filter(({ endedAt }) => now - Date.parse(endedAt) < shownDays * dayMs)
      .map(({ account: id, completeThrough, ...row }) => ({
        ...findingOf('account', [id], { account: id, severity: 'info', completeThrough }),
        ...row,
      })),
  words: ({ account: id, completeThrough, endedAt, usualDaily }) => ({
    title: `${usualDaily === null ? 'Costs' : `About ${roughly(moneyOf(usualDaily))} a day`} of ${id} since ${completeThrough} are not recorded: it is no longer in costbook.yaml`,
    sentences: [`No run reads it since ${endedAt}. All numbers have its costs of before, and none of after.`],
  }),
  over: ({ account: id }) => ({
    title: `${id} is in costbook.yaml again, or left it two weeks ago`,
    sentences: [],
  }),
  step: ({ account: id }) =>
    act(
      `if ${id} was removed on purpose, do nothing: this alert ends after ${shownDays} days. If not, write it into costbook.yaml again, then run "costbook ingest".`,
      'ingest',
    ),
  amount: ({ usualDaily }) => usualDaily ?? undefined,
  size: ({ usualDaily }) => Number(usualDaily ?? 0),
};
