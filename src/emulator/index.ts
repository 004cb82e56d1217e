import { UsageError } from '../errors.ts';
import { floorDay, floorMonth, type Instant } from '../time.ts';
import { openAccount } from './account.ts';
import { isLoopback, openCallbacks, type SentCallback } from './callbacks.ts';
import { documentedHeaders } from './callers.ts';
import { type Fault, planFaults } from './fault-plan.ts';
import { hostUrls, openPlatform } from './platform.ts';
import { sinceFor } from './sample-costs.ts';
import { type SeenRequest, serve } from './server.ts';

export { type Fault, type FaultName, faultDescriptions, faultNames, parseFaults } from './fault-plan.ts';
export { secretMarker } from './listed-items.ts';
export type { SeenRequest } from './server.ts';

/** Options of an emulator; the same options and requests give the same answers. */
export interface EmulatorOptions {
  /** The clock: hours that have not ended are invisible. Read again for every request. */
  readonly now: () => Instant;
  /** Port on 127.0.0.1. Default 0: any free port. */
  readonly port?: number;
  /** Another seed gives other costs and UUIDs. Default 1. */
  readonly seed?: number;
  /** Resources in the story. Default 60. */
  readonly resources?: number;
  /** Real milliseconds before each answer. Default 0. */
  readonly latencyMs?: number;
  /** Default none. */
  readonly faults?: readonly Fault[];
  /**
   * Another seed hits other requests and windows and orders of sums, and leaves the story unchanged. Default: the seed.
   */
  readonly faultSeed?: number;
  /**
   * First month of the history. Default 2025-10, independent of the clock, so that a later clock shows the same past
   * (clocks before 2025-11 get thirteen months of their own).
   */
  readonly since?: Instant;
  /**
   * The UTC day that ends the week in which an agent has runaway cost: the only part of the story that could move with
   * the clock. Default: the day of the clock at the start; set it to show the same past tomorrow.
   */
  readonly storyEnd?: Instant;
  /**
   * Where asynchronous triggers call back; the name of their resource is added to it. A loopback address: other addresses
   * get nothing. Default: an invented host.
   */
  readonly callbackUrl?: string;
}

/** A running emulator. */
export interface Emulator {
  /** Base URL, without a trailing slash. */
  readonly url: string;
  /** Base URL of the inference host. */
  readonly inferenceUrl: string;
  /** The URL of a sandbox's own host, with `{sandbox}`, `{workspace}` and `{region}`. */
  readonly sandboxUrl: string;
  /** The account's ID, for `/v0/accounts/{accountId}`. */
  readonly account: string;
  /** Bearer tokens: of an account admin, and of a member. */
  readonly tokens: { readonly admin: string; readonly member: string };
  /**
   * Bearer tokens by workspace, which list its contents. The admin's token lists every workspace, the member's only
   * production.
   */
  readonly workspaceTokens: Readonly<Record<string, string>>;
  /** Requests, oldest first; the newest ten thousand. */
  readonly requests: readonly SeenRequest[];
  /** Tokens by the only OAuth scope that they have. */
  readonly scopedTokens: Readonly<Record<string, string>>;
  /** Callbacks of asynchronous triggers, oldest first. */
  readonly callbacks: readonly SentCallback[];
  /** Ends every connection and frees the port. */
  close(): Promise<void>;
}

/**
 * Starts an emulated platform on this machine: real HTTP on 127.0.0.1, an invented account with thirteen months of
 * history, the document's rules enforced. Throws MachineError if the port is not available.
 */
export async function startEmulator(options: EmulatorOptions): Promise<Emulator> {
  const { now, port = 0, seed = 1, resources = 60, latencyMs = 0 } = options;
  const storyEnd = floorDay(options.storyEnd ?? now());
  const since = options.since === undefined ? sinceFor(storyEnd) : floorMonth(options.since);
  const storyOptions = { seed, resources, since, storyEnd };
  const faults = planFaults(options.faults ?? [], options.faultSeed ?? seed);
  const account = openAccount(storyOptions, faults);
  const callbacks = openCallbacks();
  const callbackUrl = options.callbackUrl?.replace(/\/+$/, '');
  if (callbackUrl !== undefined && !isLoopback(callbackUrl)) {
    throw new UsageError(`the callback URL ${callbackUrl} is not an http address of this machine`);
  }
  const platform = openPlatform({ accounts: [account], faults, now, names: documentedHeaders, callbackUrl, callbacks });
  const { url, requests, close } = await serve(platform, faults, { now, port, latencyMs });
  const { story } = account;
  return {
    url,
    ...hostUrls(url),
    account: story.account.id,
    tokens: story.tokens,
    workspaceTokens: Object.fromEntries(story.workspaceTokens),
    scopedTokens: story.scopedTokens,
    requests,
    callbacks: callbacks.sent,
    async close() {
      await callbacks.settle();
      await close();
    },
  };
}
