import { UsageError } from '../base/errors.ts';
import { floorDay, floorMonth, hourMs, type Instant } from '../time/time.ts';
import { openAccount } from './account.ts';
import type { Account } from './call.ts';
import { isLoopback, openCallbacks, type SentCallback } from './callbacks.ts';
import { documentedHeaders, type HeaderNames, type WorkspaceRule } from './callers.ts';
import { answerControl, type Control, controlPath } from './control.ts';
import type { Fault, FaultPlan } from './fault-plan.ts';
import { type ServiceAccount, serviceAccountsOf } from './oauth.ts';
import { describeInterface, openApiPath } from './openapi.ts';
import { hostUrls, openPlatform } from './platform.ts';
import { uuidOf } from './random.ts';
import { openFaults } from './replaceable-faults.ts';
import { json } from './reply.ts';
import { sinceFor } from './sample-costs.ts';
import { type SeenRequest, serve } from './server.ts';

export type { SentCallback } from './callbacks.ts';
export type { HeaderNames, WorkspaceRule } from './callers.ts';
export type { Control, Restated } from './control.ts';
export { type Fault, type FaultName, faultDescriptions, faultNames, parseFaults } from './fault-plan.ts';
export { secretMarker } from './listed-items.ts';
export type { SeenRequest } from './server.ts';

/** Options of an emulator; the same options and requests give the same answers. */
export interface EmulatorOptions {
  /** The clock: hours that have not ended are invisible. Read again for every request. */
  readonly now: () => Instant;
  /** Port. Default 0: any free port. */
  readonly port?: number;
  /** The address to listen on. Default 127.0.0.1: this machine only. */
  readonly host?: string;
  /** Accounts. The admin of the first one sees all of them. Default 1. */
  readonly accounts?: number;
  /** The headers whose names contain the maker's name; those of the document by default. */
  readonly headerNames?: Partial<HeaderNames>;
  /** What a listing answers a token of several workspaces that names none. Default `all`. */
  readonly workspaceRule?: WorkspaceRule;
  /** Another seed gives other costs and UUIDs. Default 1. */
  readonly seed?: number;
  /** Resources in the story. Default 60. */
  readonly resources?: number;
  /**
   * How long a sandbox stays listed after its end. Default 5 minutes, as on the platform: who looks every night never sees
   * most of them.
   */
  readonly retentionMs?: number;
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

/** One account and the tokens for it. */
export interface EmulatedAccount {
  readonly account: string;
  readonly tokens: { readonly admin: string; readonly member: string };
  readonly workspaceTokens: Readonly<Record<string, string>>;
  readonly scopedTokens: Readonly<Record<string, string>>;
  /** Client credentials by workspace, which become tokens for two hours. */
  readonly serviceAccounts: Readonly<Record<string, ServiceAccount>>;
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
  /** The other accounts, in order. */
  readonly otherAccounts: readonly EmulatedAccount[];
  /** Moves the clock, plans faults, restates and resets. */
  readonly control: Control;
  /** The bearer token of the same over HTTP, below `/_control`. */
  readonly controlToken: string;
  /** Requests, oldest first; the newest ten thousand. */
  readonly requests: readonly SeenRequest[];
  /** Tokens by the only OAuth scope that they have. */
  readonly scopedTokens: Readonly<Record<string, string>>;
  /** Client credentials by workspace, which become tokens for two hours. */
  readonly serviceAccounts: Readonly<Record<string, ServiceAccount>>;
  /** Callbacks of asynchronous triggers, oldest first. */
  readonly callbacks: readonly SentCallback[];
  /** Ends every connection and frees the port. */
  close(): Promise<void>;
}

/**
 * Starts an emulated platform: real HTTP, an invented account with thirteen months of history, the document's rules
 * enforced. Throws MachineError if the port is not available, and UsageError for a callback URL that is not loopback.
 */
export async function startEmulator(options: EmulatorOptions): Promise<Emulator> {
  const { port = 0, host = '127.0.0.1', seed = 1, latencyMs = 0, workspaceRule = 'all' } = options;
  const callbackUrl = options.callbackUrl?.replace(/\/+$/, '');
  if (callbackUrl !== undefined && !isLoopback(callbackUrl)) {
    throw new UsageError(`the callback URL ${callbackUrl} is not an http address of this machine`);
  }
  const clock = openMovableClock(options.now);
  const faults = openFaults(options.faults ?? [], options.faultSeed ?? seed);
  const accounts = openAccounts(options, faults.plan);
  const callbacks = openCallbacks();
  const names = lowerCase({ ...documentedHeaders, ...options.headerNames });
  const { now } = clock;
  const platform = openPlatform({ accounts, faults: faults.plan, now, names, workspaceRule, callbackUrl, callbacks });
  const requests: SeenRequest[] = [];
  const initial = faults.current();
  const changeListings = () => accounts.forEach(({ world }) => void world.change());
  const control: Control = {
    ...clock,
    planFaults(planned, otherSeed = faults.current().seed) {
      faults.replace(planned, otherSeed);
      changeListings();
    },
    restate({ start, end, factor, resourceName }) {
      for (const { changes } of accounts) {
        changes.restate({ fromHour: start / hourMs, toHour: end / hourMs, factor, resourceName });
      }
    },
    reset() {
      platform.reset();
      clock.reset();
      faults.replace(initial.faults, initial.seed);
      requests.length = 0;
    },
  };
  const controlToken = `emulator-control-${uuidOf(seed, 'token control').slice(0, 8)}`;
  const parts = { control, token: controlToken, faults: faults.current, requests, callbacks: callbacks.sent };
  const { url, close } = await serve(platform, faults.plan, {
    now,
    port,
    host,
    latencyMs,
    requests,
    aside({ method, target, headers, body }) {
      const path = target.replace(/\?.*/, '');
      const base = `http://${headers['host'] ?? 'localhost'}`;
      if (path === openApiPath && method === 'GET') {
        return json(describeInterface({ url: base, ...hostUrls(base), names }));
      }
      if (path !== controlPath && !path.startsWith(`${controlPath}/`)) return undefined;
      return answerControl(parts, { method, target, authorization: [headers['authorization']].flat()[0], body });
    },
  });
  const [first, ...others] = accounts.map(accessOf);
  if (first === undefined) throw new TypeError('a platform has an account');
  return {
    url,
    ...hostUrls(url),
    ...first,
    otherAccounts: others,
    control,
    controlToken,
    requests,
    callbacks: callbacks.sent,
    async close() {
      await callbacks.settle();
      await close();
    },
  };
}

/** As on the platform. */
const retentionByDefault = 5 * 60_000;

/** The accounts; each one after the first has a seed of its own. */
function openAccounts(options: EmulatorOptions, faults: FaultPlan): Account[] {
  const { seed = 1, resources = 60, accounts = 1, retentionMs = retentionByDefault } = options;
  const storyEnd = floorDay(options.storyEnd ?? options.now());
  const since = options.since === undefined ? sinceFor(storyEnd) : floorMonth(options.since);
  return Array.from({ length: accounts }, (_, number) =>
    openAccount({ seed: seed + number, resources, since, storyEnd, retentionMs }, number, faults),
  );
}

function accessOf({ story }: Account): EmulatedAccount {
  const { account, tokens, scopedTokens } = story;
  const workspaceTokens = Object.fromEntries(story.workspaceTokens);
  return { account: account.id, tokens, workspaceTokens, scopedTokens, serviceAccounts: serviceAccountsOf(story) };
}

/** Headers arrive with names in lower case. */
function lowerCase({ authorization, version, thread, workspace }: HeaderNames): HeaderNames {
  return {
    authorization: authorization.toLowerCase(),
    version: version.toLowerCase(),
    thread: thread.toLowerCase(),
    workspace: workspace.toLowerCase(),
  };
}

/** A clock that can be moved, and runs on from there. */
function openMovableClock(read: () => Instant): Pick<Control, 'now' | 'setNow' | 'advance' | 'reset'> {
  let aheadMs = 0;
  return {
    now: () => read() + aheadMs,
    setNow(instant) {
      aheadMs = instant - read();
    },
    advance(ms) {
      aheadMs += ms;
    },
    reset() {
      aheadMs = 0;
    },
  };
}
