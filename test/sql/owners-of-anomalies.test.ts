import { expect, test } from 'vitest';
import type { AnomalyFact } from '../../src/anomalies/index.ts';
import { withOwners } from '../../src/findings/owners.ts';
import { exampleRunaway } from '../support/example-alerts.ts';
import { givenBooks } from '../support/given-books.ts';

const allocation = `
rules:
  - {name: demos, when: {resource_name: 'demo-*'}, owner: {team: Demos, product: Sales}}
  - {name: shared, when: {resource_name: 'gateway'}, split: {by: cost}}
`;

function anomalyOf(uuid: string | null, more: Partial<AnomalyFact> = {}): AnomalyFact {
  const { owner: _, ...fact } = exampleRunaway;
  const driver = { resourceName: 'any', resourceUuid: uuid, cost: '9', expected: '1', part: 90 };
  return { ...fact, account: 'acc_one', drivers: [driver], ...more };
}

test('an anomaly that goes on names the owner of the resource that drives it, if there is exactly one', async () => {
  const costs = [
    { resource_name: 'demo-analyst', resource_uuid: 'agt-1', cost: '1' },
    { resource_name: 'box', resource_uuid: 'sbx-1', cost: '1' },
    { resource_name: 'gateway', resource_uuid: 'mcp-1', cost: '1' },
    // The same UUID with two names, of which one has another owner.
    { resource_name: 'demo-old', resource_uuid: 'agt-2', cost: '1' },
    { resource_name: 'old', resource_uuid: 'agt-2', cost: '1' },
  ];
  const { connection, close } = await givenBooks({ costs, allocation });
  const facts = await withOwners(connection, [
    anomalyOf('agt-1'),
    anomalyOf('agt-1', { account: 'acc_two' }),
    anomalyOf('agt-1', { isOver: true }),
    anomalyOf('sbx-1'),
    anomalyOf('mcp-1'),
    anomalyOf('agt-2'),
    anomalyOf(null),
    anomalyOf('agt-1', { drivers: [] }),
  ]);
  close();
  expect(facts.map(({ owner = 'nobody' }) => owner)).toEqual([
    'team Demos, product Sales',
    ...new Array<string>(7).fill('nobody'),
  ]);
});
