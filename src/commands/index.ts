import { readFileSync } from 'node:fs';
import { shipped } from '../base/places.ts';
import { described } from '../options/read.ts';
import { type CommandName, commonOptions, options } from '../options/table.ts';
import type { Command, DescribedCommand } from './command.ts';

export type {
  Command,
  CommandContext,
  DescribedCommand,
} from './command.ts';
export { type CommonOptions, readCommonOptions } from './common-options.ts';

/** Every command by name, in the order of the help. Each is loaded only when needed. */
const loaders: Readonly<Record<CommandName, () => Promise<Command>>> = {
  init: async () => (await import('./init.ts')).initCommand,
  doctor: async () => (await import('./doctor.ts')).doctorCommand,
  ingest: async () => (await import('./ingest.ts')).ingestCommand,
  report: async () => (await import('./report.ts')).reportCommand,
  statement: async () => (await import('./statement.ts')).statementCommand,
  verify: async () => (await import('./verify.ts')).verifyCommand,
  sql: async () => (await import('./sql.ts')).sqlCommand,
  check: async () => (await import('./check.ts')).checkCommand,
  run: async () => (await import('./run.ts')).runCommand,
  schedule: async () => (await import('./schedule.ts')).scheduleCommand,
  serve: async () => (await import('./serve.ts')).serveCommand,
  status: async () => (await import('./status.ts')).statusCommand,
  budgets: async () => (await import('./budgets.ts')).budgetsCommand,
  forecast: async () => (await import('./forecast.ts')).forecastCommand,
  anomalies: async () => (await import('./anomalies.ts')).anomaliesCommand,
  alert: async () => (await import('./alert.ts')).alertCommand,
  alerts: async () => (await import('./alerts.ts')).alertsCommand,
  summarize: async () => (await import('./summarize.ts')).summarizeCommand,
  subscriptions: async () => (await import('./subscriptions.ts')).subscriptionsCommand,
  restatements: async () => (await import('./restatements.ts')).restatementsCommand,
  allocation: async () => (await import('./allocation.ts')).allocationCommand,
  close: async () => (await import('./close.ts')).closeCommand,
  reopen: async () => (await import('./reopen.ts')).reopenCommand,
  rebuild: async () => (await import('./rebuild.ts')).rebuildCommand,
  repair: async () => (await import('./repair.ts')).repairCommand,
  plan: async () => (await import('./plan.ts')).planCommand,
  mcp: async () => (await import('./mcp.ts')).mcpCommand,
  platform: async () => (await import('./platform.ts')).platformCommand,
  demo: async () => (await import('./demo.ts')).demoCommand,
  emulator: async () => (await import('./emulator.ts')).emulatorCommand,
  completion: async () => (await import('./completion.ts')).completionOf(describedCommands),
};

/** Every command with its description, in the order of the help. */
export function allCommands(): Promise<readonly (Command & DescribedCommand)[]> {
  return Promise.all(
    Object.values(loaders).map(async (load) => {
      const command = await load();
      return { ...command, options: described({ ...options[command.name], ...command.furtherOptions }) };
    }),
  );
}

/** The command of this name, which the help lists. */
export async function commandNamed(name: string): Promise<Command> {
  if (!Object.hasOwn(loaders, name)) throw new Error(`there is no command ${name}`);
  return loaders[name as CommandName]();
}

/** What the build writes of every command, in the order of the help: to load all commands takes a second. */
export function describedCommands(): readonly DescribedCommand[] {
  return JSON.parse(readFileSync(shipped('dist/commands.json'), 'utf8')) as readonly DescribedCommand[];
}

/** The descriptions of the commands that a command line may mean: one if the first word is its name, otherwise all. */
export function describedFor(args: readonly string[]): readonly DescribedCommand[] {
  const name = firstWord(args);
  const all = describedCommands();
  const meant = all.filter((command) => command.name === name);
  return meant.length > 0 ? meant : all;
}

/** The first argument that is neither a common option nor its value: the name of the command. */
function firstWord(args: readonly string[]): string | undefined {
  for (let index = 0; index < args.length; index += 1) {
    const arg = args[index] ?? '';
    if (!arg.startsWith('-')) return arg;
    if (described(commonOptions).some(({ flags }) => flags.startsWith(`${arg} <`))) index += 1; // its value
  }
  return undefined;
}
