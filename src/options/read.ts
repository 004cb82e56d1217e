import { type Mistake, mistakesIn, UsageError } from '../base/errors.ts';
import { nearest } from '../text/choices.ts';
import { formatInstant, type Instant } from '../time/time.ts';
import type { Option } from './kinds.ts';

/** The command line as text. Each command reads its values with its entry of the table in `src/options`. */
export interface CommandInput {
  readonly arguments: readonly string[];
  readonly options: GivenOptions;
}

/** The options of a command, by the long flag's name in camel case, in the order of the help. */
export type Options = Readonly<Record<string, Option>>;

/** What was given, as text, by the same names; a flag without a value is `true`. */
export type GivenOptions = Readonly<Record<string, string | true | readonly string[] | undefined>>;

export type Values<O extends Options> = { readonly [Name in keyof O]: ReturnType<O[Name]['read']> };

/** A command line while it is read: its mistakes are collected, so that all are reported at once. */
export interface Reading<O extends Options> {
  /** An option with a mistake has the value that it has if it is not given. */
  readonly values: Values<O>;
  /** Whether an option was given, also with a mistake. */
  readonly isGiven: { readonly [Name in keyof O]: boolean };
  /** Adds a mistake. */
  problem(problem: string | Mistake): void;
  /** What `parse` returns. If it throws UsageError, that is a mistake, in which each line begins with `where`. */
  attempt<T>(parse: () => T, where?: string): T | undefined;
  /** Throws UsageError with every mistake found so far. */
  check(): void;
}

type Present = { readonly effects: { now(): Instant } };

/** Reads the options of a command. Throws UsageError that lists every mistake. */
export function read<O extends Options>(options: O, given: { readonly options: GivenOptions }, at: Present): Values<O> {
  const { values, check } = reading(options, given, at);
  check();
  return values;
}

/** Reads the options of a command that has more to check. */
export function reading<O extends Options>(
  options: O,
  { options: given }: { readonly options: GivenOptions },
  { effects }: Present,
): Reading<O> {
  const problems: (string | Mistake)[] = [];
  const now = effects.now();
  function attempt<T>(parse: () => T, where = ''): T | undefined {
    try {
      return parse();
    } catch (error) {
      if (!(error instanceof UsageError)) throw error;
      problems.push(...mistakesIn(error).map((one) => ({ ...one, found: `${where}${one.found}` })));
      return undefined;
    }
  }
  const entries = Object.entries(options).map(([name, option]) => {
    const asked = { flag: flagOf(name), now };
    return [name, attempt(() => option.read(textsOf(given[name]), asked)) ?? option.read([], asked)] as const;
  });
  const isGiven = Object.keys(options).map((name) => [name, textsOf(given[name]).length > 0] as const);
  return {
    values: Object.fromEntries(entries) as Values<O>,
    isGiven: Object.fromEntries(isGiven) as Reading<O>['isGiven'],
    problem: (problem) => void problems.push(problem),
    attempt,
    check() {
      if (problems.length > 0) throw new UsageError(problems);
    },
  };
}

function textsOf(given: GivenOptions[string]): readonly string[] {
  if (given === undefined) return [];
  return given === true ? [''] : typeof given === 'string' ? [given] : given;
}

/**
 * The action that a command line names, undefined for none. Reports one that the command does not have, and options of
 * other actions.
 */
export function actionOf<A extends string, O extends Options>(
  command: string,
  { actions, options }: { readonly actions: readonly A[]; readonly options: O },
  { isGiven, problem }: Pick<Reading<O>, 'isGiven' | 'problem'>,
  { arguments: [given] }: Pick<CommandInput, 'arguments'>,
): A | undefined {
  const action = actions.find((known) => known === given);
  if (given !== undefined && action === undefined) {
    const guess = nearest(given, actions);
    const hint = guess === undefined ? '' : ` (did you mean ${guess}?)`;
    problem(`there is no "costbook ${command} ${given}"${hint}: expected ${actions.join(', ')}`);
    return undefined;
  }
  for (const [name, option] of Object.entries(options)) {
    if (option.action === undefined || option.action === (action ?? '') || !isGiven[name as keyof O]) continue;
    const where = option.action === '' ? `"costbook ${command}" alone` : `"costbook ${command} ${option.action}"`;
    problem(`${flagOf(name)} applies only to ${where}`);
  }
  return action;
}

/** Reports a range without an hour, and with `now` one that begins later. */
export function checkRange(
  { values: { from, to }, problem }: Reading<{ from: Option<Instant | undefined>; to: Option<Instant | undefined> }>,
  now = Number.POSITIVE_INFINITY,
): void {
  if (from !== undefined && to !== undefined && from >= to) {
    problem(`--from must be before --to: found ${formatInstant(from)} and ${formatInstant(to)}`);
  }
  if (from !== undefined && from > now) {
    problem(`--from: ${formatInstant(from)} is in the future; expected a date before now`);
  }
}

/** The flag of an option: `parquetDecimals` is `--parquet-decimals`. */
export function flagOf(name: string): string {
  return `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

/** An option for the help: its flags as commander reads them, `--month <month>`, and what it does. */
export interface DescribedOption {
  readonly flags: string;
  readonly summary: string;
  /** The values that it may have, if they are known. */
  readonly choices?: readonly string[];
}

/** Options as the help describes them. */
export function described(options: Options): readonly DescribedOption[] {
  return Object.entries(options).map(([name, { kind, letter, value, summary, choices }]) => {
    const flag = `${letter === undefined ? '' : `-${letter}, `}${flagOf(name)}`;
    if (value === undefined) return { flags: flag, summary };
    const flags = `${flag} ${kind === 'flagOrText' ? `[${value}]` : `<${value}>`}`;
    return { flags, summary, ...(choices === undefined ? {} : { choices }) };
  });
}
