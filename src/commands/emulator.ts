import {
  type Emulator,
  type EmulatorOptions,
  type Fault,
  faultNames,
  parseFaults,
  startEmulator,
} from '../emulator/index.ts';
import { messageOf, UsageError } from '../errors.ts';
import { type Instant, parseInstant } from '../time.ts';
import { aborted } from './aborted.ts';
import type { Command, CommandContext, CommandInput } from './command.ts';

const maxResources = 20_000;

/** Serves an invented platform until interrupted. Prints its address and tokens: as text on a terminal, otherwise as one JSON line. */
export const emulatorCommand: Command = {
  name: 'emulator',
  summary: 'Run an invented platform on this machine, to try Costbook or to test against.',
  options: [
    { flags: '--port <port>', summary: 'port on 127.0.0.1; 0 takes a free one (default 0)' },
    { flags: '--seed <number>', summary: 'seed of the invented costs (default 1)' },
    { flags: '--resources <number>', summary: `resources in the account, up to ${maxResources} (default 60)` },
    { flags: '--latency-ms <ms>', summary: 'delay before each response, in milliseconds (default 0)' },
    {
      flags: '--story-end <date>',
      summary:
        'one agent overspends in the week before this day (default today); set a date to get the same costs every day',
    },
    {
      flags: '--fault-seed <number>',
      summary:
        'seed that selects the requests that fail (default: that of --seed; with double-sums a new one, which is printed)',
    },
    { flags: '--faults <list>', summary: `faults to simulate, each with an optional =rate: ${faultNames.join(', ')}` },
  ],
  needsProject: () => false,
  examples: [
    'costbook emulator --port 4317',
    'costbook emulator --now 2026-10-15 --faults 429,reset=0.05,late',
    'costbook emulator --resources 5000 --latency-ms 80',
  ],
  staysUp: true,
  run: runEmulator,
};

async function runEmulator(input: CommandInput, context: CommandContext): Promise<number> {
  const options = readOptions(input, context);
  const emulator = await startEmulator(options);
  try {
    const { url, inferenceUrl, sandboxUrl, account, tokens, workspaceTokens, scopedTokens } = emulator;
    const { faults, faultSeed } = options;
    const seed = faults?.length ? { faultSeed } : {};
    const isForPerson = context.isTerminal && !context.json;
    const facts = { url, inferenceUrl, sandboxUrl, account, tokens, workspaceTokens, scopedTokens, ...seed };
    await context.write(isForPerson ? words(emulator) : `${JSON.stringify(facts)}\n`);
    await aborted(context.signal);
  } finally {
    await emulator.close();
  }
  return 0;
}

/** Instructions for a person. */
function words({ url, inferenceUrl, sandboxUrl, account, tokens }: Emulator): string {
  return `An invented platform is running at ${url}. Press Ctrl-C to stop it.
In another terminal:
  export COSTBOOK_URL=${url}
  export COSTBOOK_ACCOUNT=${account}
  export COSTBOOK_TOKEN=${tokens.admin}
  export COSTBOOK_INFERENCE_URL=${inferenceUrl}
  export COSTBOOK_SANDBOX_URL='${sandboxUrl}'
  costbook ingest
The token ${tokens.member} is a member's and sees less. --json prints all tokens.
`;
}

/** The parsed options. Throws UsageError that lists every mistake. */
function readOptions({ options }: CommandInput, { effects }: CommandContext): EmulatorOptions {
  const problems: string[] = [];

  function integer(
    flag: string,
    value: CommandInput['options'][string],
    fallback: number,
    min: number,
    max: number,
  ): number {
    if (value === undefined) return fallback;
    if (typeof value === 'string' && /^\d+$/.test(value) && Number(value) >= min && Number(value) <= max)
      return Number(value);
    problems.push(`${flag}: "${value}" is not a whole number from ${min} to ${max}`);
    return fallback;
  }

  function read<Value>(value: CommandInput['options'][string], parse: (text: string) => Value, fallback: Value): Value {
    if (value === undefined) return fallback;
    try {
      return parse(typeof value === 'string' ? value : '');
    } catch (error) {
      if (!(error instanceof UsageError)) throw error;
      problems.push(messageOf(error));
      return fallback;
    }
  }

  const maxSeed = 4_294_967_295;
  const port = integer('--port', options.port, 0, 0, 65_535);
  const seed = integer('--seed', options.seed, 1, 0, maxSeed);
  const resources = integer('--resources', options.resources, 60, 1, maxResources);
  const latencyMs = integer('--latency-ms', options.latencyMs, 0, 0, 600_000);
  const faults = read<readonly Fault[]>(options.faults, readFaults, []);
  // Each start sums in another order, unless the seed is given.
  const newSeed = faults.some(({ name }) => name === 'double-sums') ? Math.floor(effects.random() * maxSeed) : seed;
  const faultSeed = integer('--fault-seed', options.faultSeed, newSeed, 0, maxSeed);
  const storyEnd = read<Instant>(
    options.storyEnd,
    (text) => parseInstant(text, '--story-end', effects.now()),
    effects.now(),
  );
  if (problems.length > 0) throw new UsageError(problems.join('\n'));
  return { now: () => effects.now(), port, seed, resources, latencyMs, faults, faultSeed, storyEnd };
}

function readFaults(text: string): Fault[] {
  try {
    return parseFaults(text);
  } catch (error) {
    throw new UsageError(`--faults: ${messageOf(error)}`, { cause: error });
  }
}
