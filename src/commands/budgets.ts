import { backtestAnomalyRules, backtestOne, showBudgets } from '../answers/index.ts';
import { actionOf, reading } from '../options/read.ts';
import { actions, options } from '../options/table.ts';
import type { Command } from './command.ts';

export const budgetsCommand: Command = {
  name: 'budgets',
  summary: 'Show how much of each budget is spent, or test a budget on past data (backtest <name>).',
  arguments: [
    {
      name: '[action]',
      summary: 'backtest, to test a budget on past data; without it, show all budgets',
      choices: actions.budgets,
    },
    { name: '[name]', summary: 'the budget to test' },
  ],
  examples: [
    'costbook budgets',
    'costbook budgets --json --exit-code',
    'costbook budgets backtest everything --lookback 400d',
    'costbook budgets backtest everything --file draft.yaml',
    'costbook budgets backtest --anomalies --lookback 400d',
  ],
  async run(input, context) {
    const asked = reading(options.budgets, input, context);
    const action = actionOf('budgets', { actions: actions.budgets, options: options.budgets }, asked, input);
    asked.check();
    if (action === undefined) return showBudgets(input, context);
    return asked.values.anomalies ? backtestAnomalyRules(input, context) : backtestOne(input, context);
  },
};
