import type { ProjectCommands } from '../serve/index.ts';
import type { CommandContext } from './command.ts';
import { runInChild } from './run-in-child.ts';

/** The commands that a dashboard runs in child processes, each with an answer as JSON. */
export function dashboardCommands(context: CommandContext): ProjectCommands {
  const quiet = { ...context, json: true, tell: () => undefined, progress: () => undefined, count: undefined };
  return {
    async reportRows({ name, parameters, maxRows }, limits) {
      const param = Object.entries(parameters).map(([parameter, value]) => `${parameter}=${value}`);
      const input = { arguments: [name], options: { param, maxRows: String(maxRows) } };
      await runInChild('report-rows', input, quiet, { subject: `the report ${name}`, ...limits });
    },
    async show(name, options, limits) {
      await runInChild(name, { arguments: [], options }, quiet, { subject: `"costbook ${name}"`, ...limits });
    },
    async budgetBacktest({ name, days }, limits) {
      const input = { arguments: ['backtest', name], options: { lookback: `${days}d` } };
      await runInChild('budget-backtest', input, quiet, { subject: `the back-test of ${name}`, ...limits });
    },
  };
}
