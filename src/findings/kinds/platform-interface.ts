import { act } from '../../base/next-step.ts';
import { listDifferences } from '../../platform/interface/index.ts';
import { type Finding, findingOf } from '../finding.ts';
import { type DataKind, throughOf } from '../kind.ts';
import { alertRows } from '../rows.ts';

interface Row {
  readonly account: string;
  readonly list: 'dimensions' | 'resource_types';
  readonly name: string;
  /** Whether the platform no longer lists it; otherwise it is new. */
  readonly isMissing: boolean;
}

/** A name on the platform's lists that this version does not know, or one that it needs and is not on them. */
export type InterfaceFact = Finding<'interface'> & Omit<Row, 'account'>;

export const platformInterface: DataKind<InterfaceFact, Row> = {
  name: 'interface',
  read: async (connection) =>
    (await alertRows(connection, 'platform_lists')).flatMap((row) => {
      const account = String(row['account']);
      const [dimensions, resourceTypes] = [namesIn(row['dimensions']), namesIn(row['resource_types'])];
      const { newDimensions, missingDimensions, newResourceTypes } = listDifferences({ dimensions, resourceTypes });
      return [
        ...missingDimensions.map((name) => ({ account, list: 'dimensions' as const, name, isMissing: true })),
        ...newDimensions.map((name) => ({ account, list: 'dimensions' as const, name, isMissing: false })),
        ...newResourceTypes.map((name) => ({ account, list: 'resource_types' as const, name, isMissing: false })),
      ];
    }),
  findings: (rows, world) =>
    rows.map(({ account, ...row }) => ({
      ...findingOf('interface', [account, row.list, row.name], {
        account,
        // Without a dimension that Costbook groups by, the next windows cannot be fetched.
        severity: row.isMissing ? 'critical' : 'info',
        completeThrough: throughOf(world, account),
      }),
      ...row,
    })),
  words: ({ account, list, name, isMissing }) => {
    if (isMissing) return { title: `The platform no longer groups the costs of ${account} by ${name}`, sentences: [] };
    return list === 'dimensions'
      ? {
          title: `New dimension ${name} in the costs of ${account}`,
          sentences: ['This version of Costbook does not store it.'],
        }
      : {
          title: `New resource type ${name} in the costs of ${account}`,
          sentences: ['This version of Costbook does not know it.'],
        };
  },
  over: ({ account, name }) => ({
    title: `the platform's lists of ${account} match its interface again: ${name}`,
    sentences: [],
  }),
  step: ({ list, isMissing }) => {
    if (isMissing)
      return act('ask the platform whether it still groups costs by it: Costbook needs all five dimensions.');
    if (list === 'dimensions')
      return { who: 'No action needed', words: 'no cost is missing. Look for a newer Costbook.' };
    return act('check that budgets and allocation rules cover it. Its costs are stored like all others.');
  },
};

function namesIn(json: unknown): readonly string[] | undefined {
  return json === null ? undefined : (JSON.parse(String(json)) as string[]);
}
