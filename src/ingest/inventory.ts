import { CostbookError, excerpt, foundIn, PlatformError, RefusedAnswerError, UsageError } from '../base/errors.ts';
import type { Failure } from '../base/failure.ts';
import {
  type NextStep,
  redactedStep,
  refusedListingStep,
  shrunkListingStep,
  unreadListingStep,
} from '../base/next-step.ts';
import type { AccountConfig } from '../config/index.ts';
import { decodeDeployments, decodeResource } from '../fetch/index.ts';
import {
  type Client,
  type Listing,
  type ListingReader,
  listings,
  openListings,
  type RawResource,
} from '../platform/index.ts';
import type {
  DeploymentsStage,
  InventoryStage,
  ListingFacts,
  ListingKey,
  ListingOutcome,
} from '../warehouse/load/index.ts';
import type { ListedDeployments, ListedResource } from '../warehouse/page.ts';
import { countingClient, type IngestRequest, type IngestTools } from './tools.ts';

/** The outcome of one listing. */
export type ListingSummary = Pick<
  ListingFacts,
  | 'tokenWorkspace'
  | 'resourceType'
  | 'outcome'
  | 'reason'
  | 'next'
  | 'shortfall'
  | 'resources'
  | 'opened'
  | 'ended'
  | 'requests'
>;

/** The token that reads listings, and the workspaces that it speaks for. */
interface Reading {
  readonly tokenWorkspace: string | undefined;
  readonly client: Client;
  readonly workspacesElsewhere: readonly string[];
  isOfInterest(workspace: string): boolean;
}

/** How many fields and workspaces a warning names before it counts the rest. */
const namesShown = 5;
const nameLength = 100;

/** A listing that is short of its own total by as much on so many nights is whole: the total counts something else. */
const nightsUntilTrusted = 3;
const shortfallWords =
  'The platform counts more items than it lists, by as many on three nights. The listing counts as complete from now on';

/**
 * Brings the inventory of an account up to date: every listing, with the token of each workspace that has its own and
 * the account's token for all others. A failing platform does not fail the ingest: the costs are in the books, and
 * known resources stay. The outcome of each listing is in the ledger and in the result. Throws failures of this
 * machine, bugs and signals.
 */
export async function readInventory(
  config: AccountConfig,
  { account, failures }: { readonly account: string; readonly failures: readonly Failure[] },
  client: Client,
  request: IngestRequest,
  tools: IngestTools,
): Promise<ListingSummary[]> {
  if (config.inventory?.isRead === false) return [];
  const tokens = config.inventory?.tokens ?? [];
  const named = tokens.map(({ workspace }) => workspace);
  const readings: Reading[] = [
    {
      tokenWorkspace: undefined,
      client,
      workspacesElsewhere: named,
      isOfInterest: (workspace) => !named.includes(workspace),
    },
    ...tokens.map(({ workspace, token, tokenSetting }) => ({
      tokenWorkspace: workspace,
      client: tools.openClient({ ...config, token, tokenSetting }, workspace),
      workspacesElsewhere: named.filter((other) => other !== workspace),
      isOfInterest: (other: string) => other === workspace,
    })),
  ];
  const summaries: ListingSummary[] = [];
  const stage = await tools.warehouse.openInventory();
  const deployments = await tools.warehouse.openDeployments();
  try {
    for (const reading of readings) {
      let requests = 0;
      const counting = countingClient(reading.client, () => (requests += 1));
      const reader = openListings(counting, tools.effects.log);
      let gaveUp: string | undefined;
      for (const listing of listings) {
        const { tokenWorkspace } = reading;
        const key = { account, tokenWorkspace, resourceType: listing.resourceType };
        const before = requests;
        const found =
          gaveUp === undefined
            ? await readListing(key, listing, reader, { ...reading, failures }, { stage, deployments }, request, tools)
            : { ...nothing, outcome: 'failed' as const, reason: gaveUp, next: undefined, isHopeless: true };
        if (found.isHopeless) gaveUp ??= 'not fetched, because an earlier listing failed';
        const { isHopeless: _, ...summary } = { ...key, ...found, requests: requests - before };
        const { runNumber } = request;
        const readAt = await tools.warehouse.seenAt(tools.effects.now());
        await tools.warehouse.recordListing({ ...summary, runNumber, readAt });
        summaries.push(summary);
      }
    }
  } finally {
    stage.close();
    deployments.close();
  }
  return summaries;
}

/** Where a listing goes before it is written: states, and deployments. */
interface Stages {
  readonly stage: InventoryStage;
  readonly deployments: DeploymentsStage;
}

const nothing = { shortfall: undefined, resources: 0, opened: 0, ended: 0 };

/** The outcome of a listing; `isHopeless` if every other listing would fail the same way. */
type Found = Pick<ListingFacts, 'outcome' | 'reason' | 'next' | 'shortfall' | 'resources' | 'opened' | 'ended'> & {
  readonly isHopeless: boolean;
};

async function readListing(
  key: ListingKey,
  listing: Listing,
  reader: ListingReader,
  reading: Reading & { readonly failures: readonly Failure[] },
  { stage, deployments }: Stages,
  request: IngestRequest,
  tools: IngestTools,
): Promise<Found> {
  const { log } = tools.effects;
  const { tokenWorkspace, workspacesElsewhere, failures } = reading;
  const about = `account ${key.account}${tokenWorkspace === undefined ? '' : `, workspace ${tokenWorkspace}`}`;
  const ignored = { fields: new Set<string>(), homeless: new Set<string>() };
  let doubt: string | undefined;
  let shortfall: number | undefined;
  try {
    for await (const page of reader.pages(listing, about, tools.signal)) {
      if (page.number === 1) await Promise.all([stage.begin(), deployments.begin()]);
      const { resources, deployed } = decodePage(page.items, listing, reading, ignored, tools);
      await stage.add(resources);
      await deployments.add(deployed);
      if (page.isLast) ({ doubt, shortfall } = page);
    }
  } catch (error) {
    const failed = failureOf(error);
    if (failed === undefined) throw error;
    // What already failed the costs was a warning then.
    if (!failures.some(({ found }) => found === foundIn(error)))
      await warnOfListing(failed.outcome, failed.reason, key, tools);
    const { step, ...found } = failed;
    return { ...nothing, ...found, reason: tools.redact(failed.reason), next: redactedStep(step, tools.redact) };
  }
  const now = tools.effects.now();
  const nights = shortfall === undefined ? 0 : 1 + (await tools.warehouse.nightsWithShortfall(key, shortfall, now));
  const isTrusted = nights >= nightsUntilTrusted;
  if (isTrusted) {
    const before = await tools.warehouse.lastListingOutcome(key);
    if (before !== 'read') log.warn('listing.count_ignored', shortfallWords, { ...key, reason: doubt });
    doubt = undefined;
  }
  warnOfIgnored(ignored, { about, resourceType: listing.resourceType }, tools);
  const seen = { runNumber: request.runNumber, seenAt: await tools.warehouse.seenAt(tools.effects.now()) };
  const written = await stage.write({
    ...key,
    ...seen,
    workspacesElsewhere,
    isWhole: doubt === undefined,
    acceptShrunk: request.acceptReducedAccess,
  });
  await deployments.write({ ...key, ...seen });
  const { resources, opened, ended } = written;
  const outcome = doubt !== undefined ? 'partial' : written.isShrunk ? 'shrunk' : 'read';
  const next = written.isShrunk ? shrunkListingStep : doubt === undefined ? undefined : unreadListingStep;
  const reason = written.isShrunk
    ? `it lists ${resources} of ${written.known} known resources; Costbook keeps the missing ones`
    : doubt;
  if (reason !== undefined) await warnOfListing(outcome, reason, key, tools);
  const words = { reason: reason && tools.redact(reason), next };
  return { outcome, ...words, shortfall, resources, opened, ended, isHopeless: false };
}

/** What a listing has that cannot be stored: strange fields, and resources without a workspace. */
interface Ignored {
  readonly fields: Set<string>;
  readonly homeless: Set<string>;
}

/** The resources of a page that this token speaks for. Adds the rest to `ignored`. */
function decodePage(
  items: readonly RawResource[],
  { resourceType }: Listing,
  { tokenWorkspace, isOfInterest }: Reading,
  ignored: Ignored,
  tools: IngestTools,
): { readonly resources: readonly ListedResource[]; readonly deployed: readonly ListedDeployments[] } {
  const resources: ListedResource[] = [];
  const deployed: ListedDeployments[] = [];
  for (const item of items) {
    const { state, use, strange } = decodeResource(item, resourceType);
    const { events, runtime, strange: strangeDeployments } = decodeDeployments(item);
    for (const field of [...strange, ...strangeDeployments]) ignored.fields.add(field);
    const workspace = state.workspace ?? tokenWorkspace;
    if (workspace === undefined) ignored.homeless.add(state.name);
    else if (isOfInterest(workspace)) {
      resources.push({ ...state, workspace, use });
      const texts = events.map((event) => ({ ...event, message: event.message && tools.redact(event.message) }));
      deployed.push({ ...state, workspace, events: texts, runtime });
    }
  }
  return { resources, deployed };
}

function warnOfIgnored(
  { fields, homeless }: Ignored,
  subject: Readonly<Record<string, string>>,
  { effects: { log } }: IngestTools,
): void {
  if (fields.size > 0) {
    log.warn('listing.fields_ignored', 'Ignored fields of listed resources that do not match the interface', {
      ...subject,
      fields: someOf(fields),
    });
  }
  if (homeless.size > 0) {
    log.warn('listing.resources_ignored', 'Ignored listed resources without a workspace', {
      ...subject,
      resources: someOf(homeless),
    });
  }
}

/** What a failure means for a listing; undefined if the platform did not cause it. */
function failureOf(
  error: unknown,
): { outcome: ListingOutcome; reason: string; step: NextStep; isHopeless: boolean } | undefined {
  if (error instanceof PlatformError) {
    const { status, found: reason } = error;
    const isRefused = status !== undefined && [401, 403, 404].includes(status);
    // The client gave up on it after several attempts, or could not even send it.
    const isHopeless = status === undefined || status === 429 || status >= 500;
    // Without listings the costs are still complete, so the step is another one than for costs.
    const step = status === 403 ? refusedListingStep : (error.next ?? unreadListingStep);
    return { outcome: isRefused ? 'refused' : 'failed', reason, step, isHopeless };
  }
  const step = (error instanceof CostbookError ? error.next : undefined) ?? unreadListingStep;
  const failed = { outcome: 'failed', step } as const;
  if (error instanceof RefusedAnswerError) return { ...failed, reason: error.found, isHopeless: false };
  // There is no token, so no request is possible.
  if (error instanceof UsageError) return { ...failed, reason: error.found, isHopeless: true };
  return undefined;
}

/** Log messages for a listing that is not usable. */
const listingWords: Readonly<Record<Exclude<ListingOutcome, 'refused'>, string>> = {
  read: 'A listing is complete',
  failed: 'Could not read a listing',
  partial: 'A listing ended before its total',
  shrunk: 'A listing is much shorter than the one before',
};

/** Warns of an incomplete listing; one that is refused every night is a warning only once. */
async function warnOfListing(
  outcome: ListingOutcome,
  reason: string,
  key: ListingKey,
  tools: IngestTools,
): Promise<void> {
  const { log } = tools.effects;
  const fields = { account: key.account, resourceType: key.resourceType, reason };
  if (outcome !== 'refused') log.warn(`listing.${outcome}`, listingWords[outcome], fields);
  else if ((await tools.warehouse.lastListingOutcome(key)) === 'refused')
    log.info('listing.refused', 'The platform refuses this listing', fields);
  else log.warn('listing.refused', 'The platform refuses this listing; costs of its resources have no labels', fields);
}

function someOf(names: ReadonlySet<string>): string {
  const shown = [...names]
    .sort()
    .slice(0, namesShown)
    .map((name) => excerpt(name, nameLength))
    .join(', ');
  return names.size > namesShown ? `${shown} and ${names.size - namesShown} more` : shown;
}
