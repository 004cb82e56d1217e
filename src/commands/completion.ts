import { UsageError } from '../base/errors.ts';
import { type DescribedOption, described } from '../options/read.ts';
import { commonOptions } from '../options/table.ts';
import type { Command, DescribedCommand } from './command.ts';

const shells = ['bash', 'zsh', 'fish'] as const;

/** The command that prints shell completion for these commands and itself. */
export function completionOf(describedCommands: () => readonly DescribedCommand[]): Command {
  return {
    name: 'completion',
    summary: 'Print a completion script for your shell.',
    arguments: [{ name: '<shell>', summary: `the shell: ${shells.join(', ')}`, choices: shells }],
    needsProject: () => false,
    examples: [
      'costbook completion bash > ~/.local/share/bash-completion/completions/costbook',
      'costbook completion zsh > ~/.zfunc/_costbook',
      'costbook completion fish > ~/.config/fish/completions/costbook.fish',
    ],
    async run(input, context) {
      const shell = shells.find((name) => name === input.arguments[0]);
      if (shell === undefined) {
        throw new UsageError(`found ${JSON.stringify(input.arguments[0])}, expected one of ${shells.join(', ')}`);
      }
      const script = { bash, zsh, fish }[shell](tableOf(describedCommands()));
      await context.answer({ shell, script }, () => script);
      return 0;
    },
  };
}

interface Word {
  /** `--month` */
  readonly name: string;
  readonly summary: string;
  /** The name of its value; undefined for a flag. */
  readonly value: string | undefined;
  /** What it may be, if that is known. */
  readonly choices: readonly string[];
}

interface Entry {
  readonly name: string;
  readonly summary: string;
  readonly options: readonly Word[];
  /** Possible values of its argument, if they are known. */
  readonly choices: readonly string[];
}

/** The command table in the form that shells need. */
function tableOf(commands: readonly DescribedCommand[]): readonly Entry[] {
  const common = [...described(commonOptions), { flags: '--help', summary: 'show help' }].map(wordOf);
  const entries = commands.map(({ name, summary, options, arguments: [first] = [] }): Entry => {
    const choices = first?.choices ?? [];
    return { name, summary, options: [...options.map(wordOf), ...common], choices };
  });
  const names = commands.map(({ name }) => name);
  return [
    ...entries,
    { name: 'help', summary: 'Show the options and examples of a command.', options: [], choices: names },
  ];
}

function wordOf({ flags, summary, choices = [] }: DescribedOption): Word {
  return { name: /--[\w-]+/.exec(flags)?.[0] ?? flags, summary, value: /[<[](\w+)/.exec(flags)?.[1], choices };
}

/** Options whose value is a file or a folder. */
function isPath({ value }: Pick<Word, 'value'>): boolean {
  return value === 'dir' || value === 'file' || value === 'path';
}

function bash(entries: readonly Entry[]): string {
  const common = described(commonOptions).map(wordOf);
  const isCommon = (name: string) => common.some((option) => option.name === name);
  const withValue = [
    ...new Set(
      entries.flatMap(({ options }) => options.filter(({ value }) => value !== undefined).map(({ name }) => name)),
    ),
  ];
  const paths = [...new Set(entries.flatMap(({ options }) => options.filter(isPath).map(({ name }) => name)))];
  return `# bash completion of costbook, printed by "costbook completion bash"
_costbook() {
  local word command='' skip='' index
  COMPREPLY=()
  for ((index = 1; index < COMP_CWORD; index += 1)); do
    word=\${COMP_WORDS[index]}
    if [[ -n $skip ]]; then skip=''; continue; fi
    case $word in
      ${withValue.join('|')}) skip=1 ;;
      -*) ;;
      *) if [[ -z $command ]]; then command=$word; fi ;;
    esac
  done
  local current=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD - 1]} words=''
  if [[ -n $skip ]]; then
    case $command$previous in
${[{ name: '*', options: common }, ...entries]
  .flatMap(({ name: command, options }) => options.map((option) => ({ ...option, command })))
  .filter(({ command, name, choices }) => choices.length > 0 && (command === '*' || !isCommon(name)))
  .map(({ command, name, choices }) => `      ${command}${name}) words='${choices.join(' ')}' ;;`)
  .join('\n')}
      ${paths.map((name) => `*${name}`).join('|')}) mapfile -t COMPREPLY < <(compgen -f -- "$current"); return ;;
      *) return ;;
    esac
  else
    case $command in
      '') words='${[...entries.map(({ name }) => name), ...common.map(({ name }) => name)].join(' ')}' ;;
${entries.map(({ name, options, choices }) => `      ${name}) words='${[...choices, ...options.map((option) => option.name)].join(' ')}' ;;`).join('\n')}
    esac
  fi
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
}
complete -o default -F _costbook costbook
`;
}

/** A text within single quotes. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

function zsh(entries: readonly Entry[]): string {
  function spec({ name, summary, value, choices }: Word): string {
    const text = summary.replaceAll(/[[\]\\:]/g, (letter) => `\\${letter}`);
    const known = choices.length === 0 ? '' : `(${choices.join(' ')})`;
    const action = value === undefined ? '' : `:${value}:${isPath({ value }) ? '_files' : known}`;
    return quoted(`${name}[${text}]${action}`);
  }
  const commands = entries.map(({ name, summary }) => quoted(`${name}:${summary.replaceAll(':', '\\:')}`));
  return `#compdef costbook
# zsh completion of costbook, printed by "costbook completion zsh"
_costbook() {
  local context state line
  typeset -A opt_args
  local -a commands=(
${commands.map((line) => `    ${line}`).join('\n')}
  )
  _arguments -C ${described(commonOptions).map(wordOf).map(spec).join(' ')} '1:command:->command' '*::argument:->argument'
  case $state in
    command) _describe command commands ;;
    argument)
      case $line[1] in
${entries
  .map(({ name, options, choices }) => {
    const argument = choices.length === 0 ? `'*::argument:_files'` : quoted(`1:argument:(${choices.join(' ')})`);
    return `        ${name}) _arguments ${[...options.map(spec), argument].join(' ')} ;;`;
  })
  .join('\n')}
      esac ;;
  esac
}
_costbook "$@"
`;
}

function fish(entries: readonly Entry[]): string {
  const lines = entries.flatMap(({ name, summary, options, choices }) => [
    `complete -c costbook -f -n __fish_use_subcommand -a ${name} -d ${fishQuoted(summary)}`,
    ...choices.map((choice) => `complete -c costbook -f -n '__fish_seen_subcommand_from ${name}' -a ${choice}`),
    ...options.map((option) => {
      const value =
        option.value === undefined
          ? ''
          : isPath(option)
            ? ' -r -F'
            : option.choices.length === 0
              ? ' -x'
              : ` -x -a '${option.choices.join(' ')}'`;
      return `complete -c costbook -n '__fish_seen_subcommand_from ${name}' -l ${option.name.slice(2)}${value} -d ${fishQuoted(option.summary)}`;
    }),
  ]);
  return `# fish completion of costbook, printed by "costbook completion fish"\n${lines.join('\n')}\n`;
}

function fishQuoted(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}
