import { UsageError } from '../base/errors.ts';
import {
  type Emulator,
  type EmulatorOptions,
  faultNames,
  type HeaderNames,
  parseFaults,
  startEmulator,
} from '../emulator/index.ts';
import { text } from '../options/kinds.ts';
import type { CommandInput } from '../options/read.ts';
import { reading } from '../options/read.ts';
import { headerKinds, maxSeed, options } from '../options/table.ts';
import { aborted } from './aborted.ts';
import type { Command, CommandContext } from './command.ts';

const furtherOptions = {
  faults: text('list', `faults to simulate, each with an optional =rate: ${faultNames.join(', ')}`),
};

/** Serves an invented platform until interrupted. Prints its address and tokens: as text on a terminal, otherwise as one JSON line. */
export const emulatorCommand: Command = {
  name: 'emulator',
  furtherOptions,
  summary: 'Run an invented platform on this machine, to try Costbook or to test against.',
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
    const { url, inferenceUrl, sandboxUrl, account, tokens, workspaceTokens, scopedTokens, serviceAccounts } = emulator;
    const control = { url: `${url}/_control`, token: emulator.controlToken };
    const others = emulator.otherAccounts.length > 0 ? { otherAccounts: emulator.otherAccounts } : {};
    const { faults, faultSeed } = options;
    const seed = faults?.length ? { faultSeed } : {};
    const isForPerson = context.isTerminal && !context.json;
    const access = { account, tokens, workspaceTokens, scopedTokens, serviceAccounts };
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

/** The options. Throws UsageError that lists every mistake. */
function readOptions(input: CommandInput, context: CommandContext): EmulatorOptions {
  const { now, random } = context.effects;
  const { values, attempt, check } = reading({ ...options.emulator, ...furtherOptions }, input, context);
  const { host, callbackUrl, headerNames: names, faults: given, storyEnd = now(), retention, ...others } = values;
  const faults = attempt(() => parseFaults(given ?? ''), '--faults: ') ?? [];
  const headerNames = attempt(() => readHeaderNames(names)) ?? {};
  check();
  // Each start sums in another order, unless the seed is given.
  const newSeed = faults.some(({ name }) => name === 'double-sums') ? Math.floor(random() * maxSeed) : others.seed;
  const { faultSeed = newSeed } = others;
  const chosen = {
    ...(host && { host }),
    ...(callbackUrl && { callbackUrl }),
    ...(retention && { retentionMs: retention }),
  };
  return { now: () => now(), ...others, ...chosen, headerNames, faults, faultSeed, storyEnd };
}

/** `version=Acme-Version,workspace=Acme-Workspace`. Throws UsageError that lists every mistake. */
function readHeaderNames(text: string | undefined): Partial<HeaderNames> {
  if (text === undefined) return {};
  const entries = text.split(',').map((item) => item.split('=').map((part) => part.trim()));
  const wrong = entries.filter(
    ([kind = '', name = '', ...rest]) =>
      !headerKinds.some((known) => known === kind) || !/^[\w-]+$/.test(name) || rest.length > 0,
  );
  if (wrong.length === 0) return Object.fromEntries(entries) as Partial<HeaderNames>;
  const found = wrong.map((parts) => `"${parts.join('=')}"`).join(', ');
  throw new UsageError(`--header-names: ${found}: expected ${headerKinds.join(', ')}, each with = and a header's name`);
}
