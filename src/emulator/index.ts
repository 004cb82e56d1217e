import { floorDay, floorMonth, type Instant } from '../time.ts';
import { type Fault, planFaults } from './faults.ts';
import { inventFleet } from './fleet.ts';
import { openHourlyCosts } from './hourly-costs.ts';
import { openPlatform } from './platform.ts';
import { type SeenRequest, serve } from './server.ts';
import { inventStory, sinceFor } from './story.ts';

export { type Fault, type FaultName, faultDescriptions, faultNames, parseFaults } from './faults.ts';
export { secretMarker } from './fleet.ts';
export type { SeenRequest } from './server.ts';

/** What an emulator can be told; the same options and requests give the same answers. */
export interface EmulatorOptions {
  /** The clock: nothing is told of hours that have not ended by it. Read anew for every request. */
  readonly now: () => Instant;
  /** Port on 127.0.0.1. Default 0: any that is free. */
  readonly port?: number;
  /** Another seed, other amounts and uuids. Default 1. */
  readonly seed?: number;
  /** Resources in the story. Default 60. */
  readonly resources?: number;
  /** Real milliseconds before each answer. Default 0. */
  readonly latencyMs?: number;
  /** Default none. */
  readonly faults?: readonly Fault[];
  /** Another one hits other requests and windows, draws other orders of sums, and leaves the story as it is. Default the seed. */
  readonly faultSeed?: number;
  /**
   * First month of the history. Default 2025-10, always the same, so that a later clock tells the same past (clocks
   * that stand before 2025-11 get thirteen months of their own).
   */
  readonly since?: Instant;
  /**
   * The UTC day before which, for a week, an agent runs away: the only thing in the story that could move with the
   * clock. Default the day in which the clock stands at the start; name it to tell the same past tomorrow.
   */
  readonly storyEnd?: Instant;
}

/** A running emulator. */
export interface Emulator {
  /** Base URL, without a slash at its end. */
  readonly url: string;
  /** The account's id, as `/v0/accounts/{accountId}` wants it. */
  readonly account: string;
  /** Bearer tokens: of an account admin, and of somebody who is none. */
  readonly tokens: { readonly admin: string; readonly member: string };
  /** By workspace: bearer tokens that list what is in it. The admin's lists every workspace, the member's production. */
  readonly workspaceTokens: Readonly<Record<string, string>>;
  /** What was asked, oldest first; the newest ten thousand. */
  readonly requests: readonly SeenRequest[];
  /** Ends every connection and frees the port. */
  close(): Promise<void>;
}

/**
 * Starts the platform of platform-interface.md on this machine: real HTTP on 127.0.0.1, an invented account with
 * thirteen months behind it, the document's rules enforced. Throws MachineError where the port cannot be had.
 */
export async function startEmulator(options: EmulatorOptions): Promise<Emulator> {
  const { now, port = 0, seed = 1, resources = 60, latencyMs = 0 } = options;
  const storyEnd = floorDay(options.storyEnd ?? now());
  const since = options.since === undefined ? sinceFor(storyEnd) : floorMonth(options.since);
  const told = { seed, resources, since, storyEnd };
  const story = inventStory(told);
  const faults = planFaults(options.faults ?? [], options.faultSeed ?? seed);
  const platform = openPlatform(story, inventFleet(told), openHourlyCosts(story, faults.lateShare), faults, now);
  const { url, requests, close } = await serve(platform, faults, { now, port, latencyMs });
  const workspaceTokens = Object.fromEntries(story.workspaceTokens);
  return { url, account: story.account.id, tokens: story.tokens, workspaceTokens, requests, close };
}
