import { expect, test } from 'vitest';
import { listedCosts } from '../../src/findings/owner-sources.ts';
import { givenBooks } from '../support/given-books.ts';

const allocation = `
rules:
  - {name: demos, when: {resource_name: 'demo-*'}, owner: {team: Demos}}
  - {name: team, owner: {team: {label: team}}}
`;

test('costs are divided by what gave them their owner, and those that no listing ever showed are named by workspace', async () => {
  const box = { resource_type: 'sandbox', resource_uuid: null };
  const { connection, close } = await givenBooks({
    allocation,
    accounts: [{ history_start: '2026-09-01' }],
    covered: [{ window_start: '2026-09-01', window_end: '2026-09-11', claimed_end: '2026-09-11' }],
    listings: [
      { resource_type: 'sandbox', outcome: 'read', resources: '2', run_number: 2, read_at: '2026-09-10 02:00:00' },
      { token_workspace: 'renamed', resource_type: 'sandbox', outcome: 'read', read_at: '2026-09-04 02:00:00' },
    ],
    resources: [
      { ...box, resource_name: 'box', labels: '{"team": "Search"}', volumes: '["disk"]' },
      { ...box, resource_name: 'demo-box' },
    ],
    costs: [
      { ...box, resource_name: 'box', cost: '4' },
      { ...box, resource_name: 'demo-box', cost: '2' },
      { ...box, resource_name: 'gone', cost: '1.5' },
      { ...box, resource_name: 'gone', workspace: 'south', cost: '3' },
      { resource_type: 'volume', resource_name: 'disk', resource_uuid: null, cost: '8' },
    ],
  });
  const costs = await listedCosts(connection);
  close();
  expect(costs.get('acc_one')).toEqual({
    ...{ expected: 4, listed: 2, listedAt: Date.parse('2026-09-10T02:00:00Z') },
    hasRules: true,
    bySource: {
      labels: '4.000000000000',
      mounts: '8.000000000000',
      names: '2.000000000000',
      default: '4.500000000000',
    },
    neverListed: [
      { workspace: 'south', cost: '3.000000000000' },
      { workspace: 'north', cost: '1.500000000000' },
    ],
  });
});
