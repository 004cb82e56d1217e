import { messageOf, UsageError } from '../base/errors.ts';
import {
  type Emulator,
  type EmulatorOptions,
  type Fault,
  faultNames,
  type HeaderNames,
  parseFaults,
  startEmulator,
} from '../emulator/index.ts';
import { type Instant, parseInstant } from '../time/time.ts';
import { aborted } from './aborted.ts';
import type { Command, CommandContext, CommandInput } from './command.ts';

const maxResources = 20_000;
const maxAccounts = 20;
const headerKinds = ['authorization', 'version', 'thread', 'workspace'] as const;

/** Serves an invented platform until interrupted. Prints its address and tokens: as text on a terminal, otherwise as one JSON line. */
export const emulatorCommand: Command = {
  name: 'emulator',
  summary: 'Run an invented platform on this machine, to try Costbook or to test against.',
  options: [
    { flags: '--port <port>', summary: 'port; 0 takes a free one (default 0)' },
    {
      flags: '--host <address>',
      summary: 'address to listen on (default 127.0.0.1, which only this machine reaches)',
    },
    { flags: '--accounts <number>', summary: `accounts, up to ${maxAccounts} (default 1)` },
    {
      flags: '--header-names <list>',
      summary: `names of headers, such as version=Acme-Version: ${headerKinds.join(', ')}`,
    },
    {
      flags: '--callback-url <url>',
      summary: 'where asynchronous triggers call back: an http address of this machine',
    },
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
    const control = { url: `${url}/_control`, token: emulator.controlToken };
    const others = emulator.otherAccounts.length > 0 ? { otherAccounts: emulator.otherAccounts } : {};
    const { faults, faultSeed } = options;
    const seed = faults?.length ? { faultSeed } : {};
    const isForPerson = context.isTerminal && !context.json;
    const access = { account, tokens, workspaceTokens, scopedTokens };
    const facts = { url, inferenceUrl, sandboxUrl, control, ...access, ...others, ...seed };
    await context.write(isForPerson ? words(emulator) : `${JSON.stringify(facts)}\n`);
    await aborted(context.signal);
  } finally {
    await emulator.close();
  }
  return 0;
}

/** Instructions for a person. */
function words({ url, inferenceUrl, sandboxUrl, account, tokens, controlToken }: Emulator): string {
  return `An invented platform is running at ${url}. Press Ctrl-C to stop it.
In another terminal:
  export COSTBOOK_URL=${url}
  export COSTBOOK_ACCOUNT=${account}
  export COSTBOOK_TOKEN=${tokens.admin}
  export COSTBOOK_INFERENCE_URL=${inferenceUrl}
  export COSTBOOK_SANDBOX_URL='${sandboxUrl}'
  costbook ingest
Its interface is described at ${url}/openapi.json. To control it, see docs/emulator.md; the token is ${controlToken}.
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
  const accounts = integer('--accounts', options.accounts, 1, 1, maxAccounts);
  const headerNames = read<Partial<HeaderNames>>(options.headerNames, readHeaderNames, {});
  const callback = read<{ callbackUrl?: string }>(options.callbackUrl, (callbackUrl) => ({ callbackUrl }), {});
  const host = typeof options.host === 'string' ? { host: options.host } : {};
  if (problems.length > 0) throw new UsageError(problems.join('\n'));
  const reach = { port, ...host, accounts, headerNames, ...callback };
  return { now: () => effects.now(), ...reach, seed, resources, latencyMs, faults, faultSeed, storyEnd };
}

/** `version=Acme-Version,workspace=Acme-Workspace`. Throws UsageError that lists every mistake. */
function readHeaderNames(text: string): Partial<HeaderNames> {
  const entries = text.split(',').map((item) => item.split('=').map((part) => part.trim()));
  const wrong = entries.filter(
    ([kind = '', name = '', ...rest]) =>
      !headerKinds.some((known) => known === kind) || !/^[\w-]+$/.test(name) || rest.length > 0,
  );
  if (wrong.length === 0) return Object.fromEntries(entries) as Partial<HeaderNames>;
  const found = wrong.map((parts) => `"${parts.join('=')}"`).join(', ');
  throw new UsageError(`--header-names: ${found}: expected ${headerKinds.join(', ')}, each with = and a header's name`);
}

function readFaults(text: string): Fault[] {
  try {
    return parseFaults(text);
  } catch (error) {
    throw new UsageError(`--faults: ${messageOf(error)}`, { cause: error });
  }
}
