import type { ProjectCommands } from '../serve/index.ts';
import type { CommandContext } from './command.ts';
import { answerInChild } from './run-in-child.ts';

/** The context for an answer that is data: nobody reads words, progress or counts. */
export function quietly(context: CommandContext): CommandContext {
  return { ...context, tell: () => undefined, progress: () => undefined, count: undefined };
}

/** The commands that a dashboard runs in child processes; each answers with data. */
export function dashboardCommands(context: CommandContext): ProjectCommands {
  const quiet = quietly(context);
  return {
    reportRows({ name, parameters, maxRows, hasTotals, sort }, limits) {
      const param = Object.entries(parameters).map(([parameter, value]) => `${parameter}=${value}`);
      const input = {
        arguments: [name],
        options: {
          param,
          maxRows: String(maxRows),
          ...(hasTotals ? { totals: true as const } : {}),
          ...(sort && { sort }),
        },
      };
      return answerInChild('report-rows', input, quiet, { subject: `the report ${name}`, ...limits });
    },
    show(name, options, limits) {
      return answerInChild(name, { arguments: [], options }, quiet, { subject: `"costbook ${name}"`, ...limits });
    },
    budgetBacktest({ name, days }, limits) {
      const input = { arguments: ['backtest', name], options: { lookback: `${days}d` } };
      return answerInChild('budget-backtest', input, quiet, { subject: `the back-test of ${name}`, ...limits });
    },
  };
}
