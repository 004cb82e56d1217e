import { usd } from '../../money/money.ts';
import { type Finding, findingOf } from '../finding.ts';
import { type DataKind, throughOf } from '../kind.ts';
import { alertRows } from '../rows.ts';

interface Row {
  readonly account: string;
  readonly dimension: string;
  readonly firstHour: string;
  /** USD so far, decimal text. */
  readonly cost: string;
}

/** Costs in a billing dimension that the platform does not list. */
export type DimensionFact = Finding<'dimension'> & Omit<Row, 'account'>;

export const dimension: DataKind<DimensionFact, Row> = {
  name: 'dimension',
  read: async (connection) =>
    (await alertRows(connection, 'unknown_dimensions')).map((row) => ({
      account: String(row['account']),
      dimension: String(row['dimension']),
      firstHour: String(row['first_hour']),
      cost: String(row['cost']),
    })),
  findings: (rows, world) =>
    rows.map(({ account, ...row }) => ({
      ...findingOf('dimension', [account, row.dimension], {
        ...{ account, severity: 'info', completeThrough: throughOf(world, account) },
      }),
      ...row,
    })),
  words: ({ account, dimension: name, cost, firstHour }) => ({
    title: `Unknown billing dimension ${name}: ${usd(cost)} so far`,
    sentences: [`${account} has been charged for it since ${firstHour}. The platform does not list it.`],
  }),
  over: ({ dimension: name }) => ({ title: `the platform now lists the billing dimension ${name}`, sentences: [] }),
  step: () => ({
    who: 'No action needed',
    words: 'all totals, budgets and other alerts include this amount already.',
  }),
  amount: ({ cost }) => cost,
  size: ({ cost }) => Math.abs(Number(cost)),
  isDated: true,
  isRefreshed: true,
  page: () => '/explore?group=billing_dimension',
};
