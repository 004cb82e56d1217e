import { type Argument, Command as Commander, CommanderError, Option } from 'commander';
import { exitCodes, UsageError } from '../base/errors.ts';
import { linesOf } from '../base/lines.ts';
import { version } from '../base/version.ts';
import type { DescribedCommand } from '../commands/index.ts';
import type { CommandInput } from '../options/read.ts';
import { type DescribedOption, described } from '../options/read.ts';
import { commonOptions } from '../options/table.ts';
import { nearest } from '../text/choices.ts';

/** A command that a person asked for. */
export interface ChosenCommand {
  readonly name: string;
  readonly input: CommandInput;
}

/** Where help and mistakes are written. */
export interface HelpPlace {
  writeOut(text: string): void;
  writeErr(text: string): void;
  readonly width: number;
}

/**
 * Reads a command line with these commands. Returns the exit code instead if it wrote help or a mistake, about which
 * nothing is left to say, or if nothing was asked for. Throws UsageError for help about an unknown command.
 */
export async function parseCommandLine(
  argv: readonly string[],
  commands: readonly DescribedCommand[],
  place: HelpPlace,
): Promise<ChosenCommand | number> {
  checkHelp(argv, commands);
  let chosen: ChosenCommand | undefined;
  const program = describeProgram(commands, argv, place, (name, input) => {
    chosen = { name, input };
  });
  try {
    await program.parseAsync(withoutTakenWords(argv, commands), { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return error.exitCode === 0 ? exitCodes.done : exitCodes.usage;
  }
  return chosen ?? exitCodes.done;
}

/** Commander takes the word behind an option whose value is optional for the value: here, only `--excel=de` has one. */
function withoutTakenWords(argv: readonly string[], commands: readonly DescribedCommand[]): string[] {
  const optional = new Set(
    commands.flatMap(({ options }) => options.flatMap(({ flags }) => /^(--\S+) \[/.exec(flags)?.[1] ?? [])),
  );
  return argv.map((word) => (optional.has(word) ? `${word}=` : word));
}

/** Throws UsageError for help about an unknown command; commander would print the whole help. */
function checkHelp([first, name]: readonly string[], commands: readonly DescribedCommand[]): void {
  if (first !== 'help' || name === undefined || name.startsWith('-')) return;
  const names = [...commands.map((command) => command.name), 'help'];
  if (names.includes(name)) return;
  const guess = nearest(name, names);
  throw new UsageError(
    `there is no command "${name}"${guess === undefined ? '' : ` (did you mean "${guess}"?)`}: "costbook --help" lists all of them`,
  );
}

/** The words below the list of commands. */
const firstSteps = `
To try it:                  costbook demo
To start a project:         costbook init books
If something is wrong:      costbook status, costbook doctor, costbook alerts --open
A command and its options:  costbook help <command>`;

function argumentTerm(argument: Argument): string {
  return argument.required ? `<${argument.name()}>` : `[${argument.name()}]`;
}

/** Commander's message about a mistake on the command line, in one line, with the next step. */
function mistakeOnLine(text: string, step: string): string {
  const [fault = '', ...guess] = linesOf(text.slice('error: '.length).trim());
  const end = fault.endsWith('.') ? -1 : undefined;
  return `costbook: ${[fault.slice(0, end), ...guess.map((one) => one.replace('Did', 'did'))].join(' ')}: ${step}\n`;
}

/** An option with all values that were given: commander would keep the last one in silence. */
function collecting({ flags, summary }: DescribedOption): Option {
  const option = new Option(flags, summary);
  option.negate = false; // `--no-color` is a flag like every other
  if (option.required || option.optional)
    option.argParser((value, before: readonly string[] = []) => [...before, value]);
  return option;
}

/** Builds commander's program from the command table; with options only for commands that are named. */
function describeProgram(
  commands: readonly DescribedCommand[],
  named: readonly string[],
  { writeOut, writeErr, width }: HelpPlace,
  choose: (name: string, input: CommandInput) => void,
): Commander {
  const output = { writeOut, writeErr, getOutHelpWidth: () => width, getErrHelpWidth: () => width };
  const program = new Commander('costbook')
    .description('Fetches, reconciles, reports and watches the costs of a cloud workload platform.')
    .version(version, '-V, --version', 'show the version')
    .helpOption('-h, --help', 'show this help')
    .helpCommand('help [command]', "Show a command's options and examples.")
    // Without "[options]", summaries have enough room to wrap at 80 columns.
    .configureHelp({ subcommandTerm: (sub) => [sub.name(), ...sub.registeredArguments.map(argumentTerm)].join(' ') })
    .addHelpText('after', firstSteps)
    .exitOverride()
    .configureOutput({
      ...output,
      outputError: (text, write) => write(mistakeOnLine(text, '"costbook --help" lists the commands')),
    });
  const common = described(commonOptions);
  for (const option of common) program.addOption(collecting(option));
  for (const command of commands) {
    const sub = program
      .command(command.name)
      .description(command.summary)
      .addHelpOption(new Option('-h, --help', 'show this help').helpGroup('Common options:'))
      .exitOverride()
      .configureOutput({
        ...output,
        outputError: (text, write) => write(mistakeOnLine(text, `"costbook help ${command.name}" lists the options`)),
      });
    for (const argument of command.arguments ?? []) sub.argument(argument.name, argument.summary);
    if (!named.includes(command.name)) continue;
    for (const option of command.options) sub.addOption(collecting(option));
    for (const option of common) sub.addOption(collecting(option).helpGroup('Common options:'));
    sub.addHelpText('after', `\nExamples:\n${command.examples.map((example) => `  ${example}`).join('\n')}`);
    sub.action(() => {
      choose(command.name, { arguments: sub.args, options: sub.optsWithGlobals<CommandInput['options']>() });
    });
  }
  return program;
}
