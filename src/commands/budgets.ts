import { backtestAnomalyRules, backtestOne, showBudgets } from '../answers/index.ts';
import { UsageError } from '../base/errors.ts';
import { reading } from '../options/read.ts';
import { options } from '../options/table.ts';
import type { Command } from './command.ts';

export const budgetsCommand: Command = {
  name: 'budgets',
  summary: 'Show how much of each budget is spent, or test a budget on past data (backtest <name>).',
  arguments: [
    { name: '[action]', summary: 'backtest, to test a budget on past data; without it, show all budgets' },
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
    const [action] = input.arguments;
    const { anomalies } = reading(options.budgets, input, context).values;
    if (action === undefined) return showBudgets(input, context);
    if (action === 'backtest') return anomalies ? backtestAnomalyRules(input, context) : backtestOne(input, context);
    throw new UsageError(
      `there is no "costbook budgets ${action}"; expected backtest, or nothing to show every budget`,
    );
  },
};
