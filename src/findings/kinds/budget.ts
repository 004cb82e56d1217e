import { budgetAddress } from '../../text/dashboard-address.ts';
import type { BudgetAlertFact } from '../budget-fact.ts';
import {
  budgetFields,
  forecastOverWords,
  forecastWords,
  shareOf,
  spentBudgetWords,
  spentWords,
  thresholdWords,
} from '../budget-words.ts';
import type { WordsOfKind } from '../kind.ts';
import type { Words } from '../words.ts';

/** Thresholds of budgets: the room of budgets finds them. */
export const budget: WordsOfKind<BudgetAlertFact> = {
  words: (fact) =>
    // What it says is said by the other one.
    fact.shownIn !== undefined
      ? {
          title: `Budget ${fact.budget}: ${alsoWords(fact)} in ${fact.period}`,
          sentences: [`The alert ${fact.shownIn} says how much, and what to do.`],
        }
      : withGaps(
          fact,
          fact.of === 'forecast' && fact.forecast ? forecastWords(fact, fact.forecast) : spentBudgetWords(fact),
        ),
  over: (fact) =>
    withGaps(
      fact,
      fact.of === 'forecast'
        ? forecastOverWords(fact)
        : {
            title: `budget ${fact.budget} is below ${fact.threshold} again: ${spentWords(fact)}`,
            share: shareOf(fact),
            sentences: [],
            fields: budgetFields(fact),
          },
    ),
  amount: (fact) => (fact.unit === undefined ? expectedOrSpent(fact) : undefined),
  size: (fact) => (fact.unit === undefined ? Math.max(0, Number(expectedOrSpent(fact)) - Number(fact.limit)) : 0),
  isDated: true,
  page: ({ budget: name }) => budgetAddress(name),
};

/** What an alert adds to another one about its budget and period. */
function alsoWords(fact: BudgetAlertFact): string {
  return fact.of === 'forecast' ? thresholdWords(fact) : `${thresholdWords(fact)} is reached`;
}

function withGaps({ gaps }: BudgetAlertFact, words: Words): Words {
  return { ...words, warnings: gaps.map((sentence) => `Not complete: ${sentence}`) };
}

function expectedOrSpent({ of, forecast, value }: BudgetAlertFact): string {
  return of === 'forecast' && forecast ? forecast.value : value;
}
