import { describe, expect, test } from 'vitest';
import type { OpeningFacts } from '../../src/sinks/opening-facts.ts';
import { checkOpening, maxOpening } from '../../src/sinks/opening-text.ts';

const facts: OpeningFacts = {
  period: '2026-W46',
  firstDay: '2026-11-09',
  lastDay: '2026-11-15',
  spentUsd: '1234.50',
  spentBeforeUsd: '1178.30',
  changeUsd: '+56.20',
  changePercent: '4.8',
  largestChanges: [
    { name: 'sandbox code-runner-7 in north', beforeUsd: '10.00', nowUsd: '90.00', changeUsd: '+80.00' },
    { name: 'agent my_bot', beforeUsd: '30.00', nowUsd: '5.00', changeUsd: '-25.00' },
    { name: '90000', beforeUsd: '1.00', nowUsd: '2.00', changeUsd: '+1.00' },
  ],
  budgets: [{ name: 'research 2026', spentUsd: '800.00', budgetUsd: '1000.00', usedPercent: '80.0', state: 'WARNING' }],
  anomalies: { open: '2', openImpactUsd: '+41.10', ended: '0', endedImpactUsd: '0.00' },
  isDataComplete: true,
};

describe('a paragraph of a model', () => {
  test.each([
    ['The week cost 1,234.50 USD, which is 56.20 USD (4.8 %) more than before.'],
    ['The week cost $1234.5, up 4.8% from USD 1,178.30.'],
    ['From 2026-11-09 – 2026-11-15 costs rose by +56.2 USD.'],
    ['Week 46 (2026-W46), 9 November 2026 to November 15, 2026: costs rose.'],
    ['The sandbox code-runner-7 in north went from 10.00 to 90.00 USD.'],
    ['Spend on agent my_bot fell by 25 USD.'],
    ['The budget research 2026 has used 80 percent of 1,000.00 USD.'],
    ['Costs rose. There are 2 open anomalies, 41.10 USD so far.'],
  ])('is shown if every number is in the summary: %s', (text) => {
    expect(checkOpening(text, facts)).toEqual({ text });
  });

  test.each([
    ['The week cost 1,234.51 USD.', '1,234.51'],
    ['The week cost 1,235 USD.', '1,235'],
    ['The week cost 1.234,50 USD.', '1.234,50'],
    ['The week cost 1.2k USD.', '1.2k'],
    ['Costs rose by 80 USD to 10 000 USD.', '0 0'],
    ['Costs rose by 2 000 %.', '2 0'],
    ['Costs rose by 10·90 USD.', '0·9'],
    ['Costs rose by 56.20 %.', '56.20 %'],
    ['Costs rose by 4.8 USD.', '4.8'],
    ['Costs doubled.', 'doubled'],
    ['Costs rose by fifty-six USD.', 'fifty'],
    ['Costs rose by a third.', 'third'],
    ['Costs rose by half.', 'half'],
    ['Costs are ½ of the budget.', '½'],
    ['Costs rose by ５６ USD.', '５'],
    ['Costs rose by ٥٦ USD.', '٥'],
    ['Costs rose by MCM USD.', 'MCM'],
    ['费用为一千', '费'],
    ['Costs rose by 💯.', '💯'],
    ['Costs rose on 10 November 2026.', '10'],
    ['Costs rose on 10 November.', '10 November'],
    ['Costs rose on 9 December 2026.', '9'],
    ['Costs rose on November 9, 2025.', '9'],
    ['Savings of 90000 USD.', '90000'],
    ['In week 47 costs rose.', '47'],
    ['The sandbox code-runner-79 cost 90.00 USD.', '79'],
    ['Costs rose by 5e3 USD.', '5e3'],
    ['Costs are 2x the budget.', '2x'],
    ['Costs rose by 10-90 USD.', '10-90'],
    ['Costs rose by 1<b>0</b>00 USD.', '1'],
    ['Costs rose by 9\u200b0 USD.', 'hidden'],
    ['Call +1 800 555 0100.', '1'],
  ])('is dropped for a number that the summary does not have: %s', (text, found) => {
    const checked = checkOpening(text, facts);
    expect(checked).toHaveProperty('fault');
    expect('fault' in checked ? checked.fault : '').toContain(found);
  });

  test.each([
    ['**Costs** rose, see [the *report*](https://evil.example/1) now.', 'Costs rose, see the report now.'],
    ['<!channel> Costs rose. <https://evil.example|Click here>', 'Costs rose. Click here'],
    ['<b>Costs</b> rose at https://evil.example/9?x=1 today.', 'Costs rose at today.'],
    ['# Costs rose\n\n- `agent my_bot` fell', 'Costs rose - agent my_bot fell'],
    ['Costs \u202Erose\u202C.', undefined],
    ['   ', undefined],
    ['<script>', undefined],
  ])('is shown without markup and links: %s', (text, shown) => {
    const checked = checkOpening(text, facts);
    expect('text' in checked ? checked.text : undefined).toBe(shown);
  });

  test('keeps the whole sentences that fit', () => {
    const checked = checkOpening('Costs rose in the week. '.repeat(100), facts);
    const text = 'text' in checked ? checked.text : '';
    expect(text.length).toBeLessThanOrEqual(maxOpening);
    expect(text).toMatch(/week\.$/);
    expect(checkOpening('x'.repeat(1_000_000), facts)).toHaveProperty('fault');
  });
});
