import { expect, test } from 'vitest';
import { parseBudgets } from '../../src/budgets/rules/file.ts';
import { ownerBudgets } from '../../src/budgets/rules/owner-budgets.ts';

test('budgets of single owners are passed to reports; others cannot be compared with one owner’s cost', () => {
  const budgets = parseBudgets({
    file: 'budgets.yaml',
    now: Date.parse('2026-10-01T00:00:00Z'),
    text: `
budgets:
  - {name: all, period: monthly, amount: 9 USD}
  - {name: sales, scope: {owner: {team: Sales}}, period: monthly, amount: 400 USD, limits: {2026-12: 900.50 USD}}
  - {name: two, scope: {owner: {team: [A, B]}}, period: monthly, amount: 1 USD}
  - {name: narrower, scope: {owner: {team: A}, workspace: north}, period: monthly, amount: 1 USD}
  - {name: both, scope: {owner: {team: A, product: x}}, period: monthly, amount: 1 USD}
  - {name: yearly, scope: {owner: {team: A}}, period: yearly, amount: 1 USD}
  - {name: zone, scope: {owner: {team: A}}, period: monthly, timeZone: Europe/Berlin, amount: 1 USD}
`,
  });
  const sales = { dimension: 'team', owner: 'Sales' };
  expect(JSON.parse(ownerBudgets(budgets))).toEqual([
    { ...sales, month: null, amount: '400.000000000000' },
    { ...sales, month: '2026-12', amount: '900.500000000000' },
  ]);
});
