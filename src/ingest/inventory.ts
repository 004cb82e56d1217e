import { createHash } from 'node:crypto';
import { CostbookError, excerpt, foundIn, PlatformError, RefusedAnswerError, UsageError } from '../base/errors.ts';
import type { Failure } from '../base/failure.ts';
import {
  type NextStep,
  redactedStep,
  refusedListingStep,
  shrunkListingStep,
  unheardWorkspaceStep,
  unreadListingStep,
} from '../base/next-step.ts';
import type { AccountConfig } from '../config/index.ts';
import { type Decoder, decodeDeployments, decoderOf } from '../fetch/index.ts';
import {
  askableWorkspaces,
  type Client,
  type Listing,
  type ListingReader,
  listingPeriods,
  listings,
  openListings,
  otherListings,
  type RawResource,
  type ResourceCounts,
  readResourceCounts,
} from '../platform/index.ts';
import {
  type DeploymentsStage,
  type InventoryStage,
  type ListingFacts,
  type ListingKey,
  type ListingOutcome,
  listingName,
} from '../warehouse/load/index.ts';
import type { ListedDeployments, ListedResource } from '../warehouse/page.ts';
import { type Hearing, openHearing } from './hearing.ts';
import { readJobExecutions } from './job-executions.ts';
import {
  type DetailBudget,
  defaultIgnoreLabels,
  detailCallsByDefault,
  readByResource,
  readDetails,
} from './listing-details.ts';
import { countingClient, type IngestRequest, type IngestTools } from './tools.ts';

/** The outcome of one listing. */
export type ListingSummary = Omit<ListingFacts, 'runNumber' | 'readAt'>;

/** A token that reads listings. */
interface TokenReading {
  readonly client: Client;
  /** The workspaces to ask for, each by its name; `[undefined]` if no name is known. */
  readonly workspaces: readonly (string | undefined)[];
  /** Workspaces that have other tokens. */
  readonly elsewhere: readonly string[];
  /** Whether it is the token of one workspace. */
  readonly isOfWorkspace: boolean;
  readonly arePeopleRead: boolean;
  /** Whether the items of a workspace are taken. */
  isOfInterest(workspace: string): boolean;
}

/** How to read the listings of one token. */
interface Reading extends Omit<TokenReading, 'client' | 'workspaces'> {
  readonly reader: ListingReader;
  readonly decode: Decoder;
  /** Requests for single items that are left tonight. */
  readonly details: DetailBudget;
  readonly hearing: Hearing;
  /** The kinds of listings of which it was noted that the platform does not serve them. */
  readonly noted: Set<string>;
  /** What failed the costs of the account. */
  readonly failures: readonly Failure[];
  /** Requests so far. */
  requests(): number;
  /** How many resources a workspace has, by the name of their listing; undefined if the platform does not say. */
  counts(workspace: string): Promise<ResourceCounts | undefined>;
}

/** The type of the listing of workspaces, which lists no resource that costs. */
const workspaceType = otherListings.workspaces.resourceType;

/** Of whom only ID and name are stored, and only if that is wanted. */
const peopleTypes: readonly string[] = ['user', 'service_account'];

/** How many fields and workspaces a warning names before it counts the rest. */
const namesShown = 5;
const nameLength = 100;

/** A listing that is short of its own total by as much on so many nights is whole: the total counts something else. */
const nightsUntilTrusted = 3;
const shortfallWords =
  'The platform counts more items than it lists, by as many on three nights. The listing counts as complete from now on';

/**
 * Brings the inventory of an account up to date: every listing of every workspace, with the token of each workspace that has
 * its own and the account's token for all others. A failing platform does not fail the ingest: the costs are in the
 * books, and known resources stay. The outcome of each listing is in the ledger and in the result. Throws failures of this
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
  const { warehouse, effects } = tools;
  const summaries: ListingSummary[] = [];
  const record: Recording['record'] = async (summary) => {
    const readAt = await warehouse.seenAt(effects.now());
    await warehouse.recordListing({ ...summary, runNumber: request.runNumber, readAt });
    if (![workspaceType, otherListings.executions.resourceType].includes(summary.resourceType)) summaries.push(summary);
  };
  const notDue = await warehouse.listingsNotDue(account, listingPeriods, effects.now());
  const { ignoreLabels = defaultIgnoreLabels, detailCalls = detailCallsByDefault } = config.inventory ?? {};
  const shared = { decode: decoderOf(ignoreLabels), details: { left: detailCalls }, failures };
  const stage = await warehouse.openInventory();
  const deployments = await warehouse.openDeployments();
  try {
    const recording = { account, notDue, record, stage, deployments };
    const open = (token: Omit<TokenReading, 'workspaces'>, hasSeveral: boolean) =>
      openReading(token, { ...shared, account, hasSeveral }, tools);
    for (const { workspaces, ...token } of await tokenReadings(config, client, { recording, request, open }, tools)) {
      await readAll(workspaces, open(token, workspaces.length > 1), recording, request, tools);
    }
  } finally {
    stage.close();
    deployments.close();
  }
  return summaries;
}

/** Opens the reading of one token's listings. */
function openReading(
  { client, ...token }: Omit<TokenReading, 'workspaces'>,
  {
    account,
    hasSeveral,
    ...shared
  }: Pick<Reading, 'decode' | 'details' | 'failures'> & { readonly account: string; readonly hasSeveral: boolean },
  tools: IngestTools,
): Reading {
  let requests = 0;
  const counting = countingClient(client, () => (requests += 1));
  const known = new Map<string, Promise<ResourceCounts | undefined>>();
  const counts = (workspace: string) => {
    const asked = known.get(workspace) ?? readCounts(counting, account, workspace, tools);
    known.set(workspace, asked);
    return asked;
  };
  const reader = openListings(counting, tools.effects.log);
  const noted = new Set<string>();
  return { ...token, ...shared, reader, hearing: openHearing(hasSeveral), noted, requests: () => requests, counts };
}

/** Where the listings of an account go. */
interface Recording extends Stages {
  readonly account: string;
  /** Listings that are not due tonight. */
  readonly notDue: ReadonlySet<string>;
  record(summary: ListingSummary): Promise<void>;
}

/** What reading the list of workspaces needs, before anything else is read. */
interface Opening {
  readonly recording: Recording;
  readonly request: IngestRequest;
  open(token: Omit<TokenReading, 'workspaces'>, hasSeveral: boolean): Reading;
}

/** The tokens of an account and what each of them lists. */
async function tokenReadings(
  config: AccountConfig,
  client: Client,
  opening: Opening,
  tools: IngestTools,
): Promise<TokenReading[]> {
  const { tokens = [], workspaces, people } = config.inventory ?? {};
  const elsewhere = tokens.map(({ workspace }) => workspace);
  const arePeopleRead = people !== false;
  const ofAccount = {
    ...{ client, elsewhere, arePeopleRead, isOfWorkspace: false },
    isOfInterest: (workspace: string) =>
      !elsewhere.includes(workspace) &&
      workspaces?.includes(workspace) !== false &&
      askableWorkspaces([workspace]).length > 0,
  };
  const reached = await reachedWorkspaces(opening.open(ofAccount, false), opening, tools);
  const names = workspaces ?? askableWorkspaces(reached);
  const own = names.filter((name) => !elsewhere.includes(name));
  return [
    // Where every workspace has a token of its own, the account's token has nothing to list.
    { ...ofAccount, workspaces: names.length === 0 ? [undefined] : own },
    ...tokens.map(({ workspace, token, tokenSetting }) => ({
      client: tools.openClient({ ...config, token, tokenSetting }, workspace),
      workspaces: [workspace],
      elsewhere: elsewhere.filter((other) => other !== workspace),
      ...{ arePeopleRead, isOfWorkspace: true },
      isOfInterest: (other: string) => other === workspace,
    })),
  ];
}

/**
 * The workspaces that the account's token reaches: those that the platform names, else those that costs name. They are
 * recorded as a listing of their own. Resources of a workspace that the platform no longer names, and that costs nothing any
 * more, are gone.
 */
async function reachedWorkspaces(
  reading: Reading,
  { recording, request }: Opening,
  tools: IngestTools,
): Promise<readonly string[]> {
  const { account, notDue, record } = recording;
  const { warehouse } = tools;
  const key = { account, workspace: undefined, resourceType: workspaceType };
  if (notDue.has(listingName(key))) return warehouse.knownWorkspaces(account);
  const found = await readListing(
    key,
    otherListings.workspaces,
    { ...reading, isLast: true },
    recording,
    request,
    tools,
  );
  if (found === undefined) return warehouse.knownWorkspaces(account);
  const { isHopeless: _, isAbsent: __, spokeFor = [], ...facts } = found;
  await record({ ...key, ...facts, requests: reading.requests() });
  if (!['read', 'shrunk', 'partial'].includes(facts.outcome)) return warehouse.knownWorkspaces(account);
  if (facts.outcome !== 'read' || spokeFor.length === 0) {
    return [...new Set([...spokeFor, ...(await warehouse.knownWorkspaces(account))])].sort();
  }
  for (const [workspace, types] of await warehouse.workspacesAlive(account, tools.effects.now())) {
    if (spokeFor.includes(workspace) || reading.elsewhere.includes(workspace)) continue;
    tools.effects.log.info('listing.workspace_gone', 'A workspace is no longer listed: its resources have ended', {
      ...{ account, workspace },
    });
    for (const resourceType of types)
      await endAll({ account, workspace, resourceType }, recording.stage, request, tools);
  }
  return spokeFor.toSorted();
}

/** Ends all resources of a type in a workspace, as an empty listing that nobody doubts. */
async function endAll(
  key: ListingKey,
  stage: InventoryStage,
  { runNumber }: IngestRequest,
  { warehouse, effects }: IngestTools,
): Promise<void> {
  await stage.begin();
  await stage.write({
    ...{ ...key, runNumber, seenAt: await warehouse.seenAt(effects.now()), workspacesElsewhere: [] },
    ...{ isWhole: true, acceptShrunk: true, isBelieved: async () => true },
  });
}

/** The platform's own counts of a workspace's resources; undefined if it does not give them. */
async function readCounts(
  client: Client,
  account: string,
  workspace: string,
  tools: IngestTools,
): Promise<ResourceCounts | undefined> {
  try {
    return await readResourceCounts(client, workspace, `account ${account}`, tools.signal);
  } catch (error) {
    if (failureOf(error, false) === undefined) throw error;
    return undefined;
  }
}

/** Reads every listing of every workspace with one token. */
async function readAll(
  workspaces: TokenReading['workspaces'],
  reading: Reading,
  recording: Recording,
  request: IngestRequest,
  tools: IngestTools,
): Promise<void> {
  const { account, notDue, record } = recording;
  const isDue = (workspace: string | undefined, resourceType: string) =>
    !notDue.has(listingName({ account, workspace, resourceType })) &&
    !notDue.has(listingName({ account, workspace: undefined, resourceType }));
  let failed = 0;
  let gaveUp: string | undefined;
  /** The workspaces that the listing speaks for; undefined if that is decided when all others are read. */
  async function read(workspace: string | undefined, listing: Listing, isLast: boolean) {
    const key = { account, workspace, resourceType: listing.resourceType };
    const before = reading.requests();
    const found =
      gaveUp === undefined
        ? await readListing(key, listing, { ...reading, isLast }, recording, request, tools)
        : { ...nothing, outcome: 'failed' as const, reason: gaveUp, next: undefined, isHopeless: true };
    if (found === undefined) return undefined;
    const { isHopeless, isAbsent, spokeFor: named, ...facts } = found;
    // What the platform does not have for one workspace, it has for none.
    const isOfNone = isAbsent === true && listing.serves !== undefined && listing.byResource === undefined;
    const spokeFor = isOfNone ? workspaces : named;
    failed = facts.outcome === 'failed' ? failed + 1 : 0;
    // One listing may fail alone; two in a row fail like all others.
    if (isHopeless || failed > 1) gaveUp ??= 'not fetched, because an earlier listing failed';
    const requests = reading.requests() - before;
    await record({ ...key, ...facts, workspace: spokeFor === undefined ? workspace : undefined, requests });
    return spokeFor ?? [workspace];
  }
  const undecided: [string | undefined, Listing][] = [];
  for (const listing of listings) {
    if (!reading.arePeopleRead && peopleTypes.includes(listing.resourceType)) continue;
    const done = new Set<string | undefined>();
    for (const workspace of workspaces) {
      if (!isDue(workspace, listing.resourceType)) continue;
      if (done.has(workspace)) continue;
      const spokeFor = await read(workspace, listing, false);
      if (spokeFor === undefined) undecided.push([workspace, listing]);
      for (const name of spokeFor ?? []) done.add(name);
    }
  }
  for (const [workspace, listing] of undecided) await read(workspace, listing, true);
  if (gaveUp === undefined) await compareExecutions(workspaces, reading, recording, request, tools);
}

/** Compares the compute of jobs with their executions, once a week; the outcome is recorded as that of a listing. */
async function compareExecutions(
  workspaces: TokenReading['workspaces'],
  reading: Reading,
  { account, notDue, record }: Recording,
  request: IngestRequest,
  tools: IngestTools,
): Promise<void> {
  const { resourceType, serves } = otherListings.executions;
  const key = { account, workspace: reading.isOfWorkspace ? workspaces[0] : undefined, resourceType };
  if (notDue.has(listingName(key)) || workspaces.length === 0) return;
  const before = reading.requests();
  const names = workspaces.filter((name) => name !== undefined);
  let found: Found = { ...nothing, outcome: 'read', reason: undefined, next: undefined, isHopeless: false };
  try {
    const asked = { account, reader: reading.reader, details: reading.details, tools };
    const resources = await readJobExecutions(asked, names.length === 0 ? undefined : names, request);
    if (resources === undefined) return;
    found = { ...found, resources };
  } catch (error) {
    const failed = failureOf(error, reading.isOfWorkspace);
    if (failed === undefined) throw error;
    await warnOfListing(failed.outcome, String(failed.reason), key, tools, serves);
    found = redacted(failed, tools);
  }
  const { isHopeless: _, isAbsent: __, spokeFor: ___, ...facts } = found;
  await record({ ...key, ...facts, requests: reading.requests() - before });
}

/** Where a listing goes before it is written: states, and deployments. */
interface Stages {
  readonly stage: InventoryStage;
  readonly deployments: DeploymentsStage;
}

const nothing = { shortfall: undefined, resources: 0, opened: 0, ended: 0 };

/** The outcome of a listing. */
type Found = Omit<ListingSummary, keyof ListingKey | 'requests'> & {
  /** Whether every other listing would fail the same way. */
  readonly isHopeless: boolean;
  /** Whether the platform has no such listing. */
  readonly isAbsent?: boolean;
  /** The workspaces whose items it has, if there are others than the one that it was asked for. */
  readonly spokeFor?: readonly string[] | undefined;
};

/** What a listing has besides what can be stored: strange fields, and resources without a workspace. */
interface Seen {
  readonly fields: Set<string>;
  /** The workspaces that its items name. */
  readonly named: Set<string>;
  /** The names of resources without a workspace, each with its creation: the rest may change from one answer to the next. */
  readonly homeless: Map<string, string>;
}

/**
 * Reads one listing and writes it. Undefined, with nothing written, if it has items without a workspace while it is not
 * known whether the platform took the workspace that it was asked for; with `isLast` it is then decided.
 */
async function readListing(
  key: ListingKey,
  listing: Listing,
  reading: Reading & { readonly isLast: boolean },
  { stage, deployments }: Stages,
  request: IngestRequest,
  tools: IngestTools,
): Promise<Found | undefined> {
  const { hearing, failures } = reading;
  const { workspace } = key;
  const about = `account ${key.account}${workspace === undefined ? '' : `, workspace ${workspace}`}`;
  let seen = nothingSeen();
  let end: Awaited<ReturnType<typeof readItems>>;
  try {
    end = await readItems(key, listing, { ...reading, about }, tools, {
      async begin() {
        seen = nothingSeen();
        await Promise.all([stage.begin(), deployments.begin()]);
      },
      async take(items) {
        const { resources, deployed } = decodePage(items, key, listing, reading, seen, tools);
        await stage.add(resources);
        await deployments.add(deployed);
      },
    });
  } catch (error) {
    const failed = failureOf(error, reading.isOfWorkspace);
    if (failed === undefined) throw error;
    // What already failed the costs was a warning then.
    const isNoted = failed.outcome === 'refused' && listing.serves !== undefined && reading.noted.has(listing.kind);
    reading.noted.add(listing.kind);
    if (!isNoted && !failures.some(({ found }) => found === foundIn(error)))
      await warnOfListing(failed.outcome, String(failed.reason), key, tools, listing.serves);
    return redacted(failed, tools);
  }
  const { named, homeless } = seen;
  hearing.learn(workspace, named);
  warnOfIgnored(seen, workspace === undefined, { about, resourceType: listing.resourceType }, tools);
  if (workspace === undefined && homeless.size > 0 && named.size === 0) return unheard(workspace, undefined);
  if (workspace !== undefined && homeless.size > 0) {
    hearing.remember(workspace, listing.resourceType, digestOf(homeless));
    if (hearing.isHeard() === undefined && !reading.isLast) return undefined;
    const twin = hearing.isHeard() === true ? undefined : hearing.twinOf(workspace, listing.resourceType);
    if (hearing.isHeard() === false || twin !== undefined) return unheard(workspace, twin);
  }
  if (listing.detail !== undefined) await readDetails(key, listing, reading, stage, tools);
  // What has items of other workspaces, too, is a listing of all that the token reaches.
  const isOfAll = !reading.isOfWorkspace && [...named].some((name) => name !== workspace);
  async function isCounted(resources: number): Promise<boolean> {
    if (isOfAll || workspace === undefined) return false;
    const counts = await reading.counts(workspace);
    // A platform that has lost its resources has none to count.
    const isOfSome = Object.values(counts ?? {}).some((count) => count > 0);
    return isOfSome && resources === counts?.[listing.operation.name];
  }
  const written = await writeListing(
    isOfAll ? { ...key, workspace: undefined } : key,
    { elsewhere: reading.elsewhere, ...end, isCounted },
    { stage, deployments },
    request,
    tools,
  );
  return { ...written, isHopeless: false, spokeFor: isOfAll ? [...named] : undefined };
}

/** Reads the items of a listing; resource by resource where the platform refuses that of all. */
async function readItems(
  key: ListingKey,
  listing: Listing,
  reading: Reading & { readonly about: string },
  tools: IngestTools,
  { begin, take }: { begin(): Promise<void>; take(items: readonly RawResource[]): Promise<void> },
): Promise<Pick<Listed, 'doubt' | 'shortfall' | 'areAllAsked'>> {
  const end = { doubt: undefined, shortfall: undefined };
  try {
    for await (const page of reading.reader.pages(listing, reading.about, tools.signal, key.workspace)) {
      if (page.number === 1) await begin();
      await take(page.items);
      if (page.isLast) return { ...page, areAllAsked: true };
    }
    return { ...end, areAllAsked: true };
  } catch (error) {
    if (failureOf(error, reading.isOfWorkspace)?.outcome !== 'refused') throw error;
    await begin();
    const areAllAsked = await readByResource(key, listing, reading, take, tools);
    if (areAllAsked === undefined) throw error;
    return { ...end, areAllAsked };
  }
}

function nothingSeen(): Seen {
  return { fields: new Set(), named: new Set(), homeless: new Map() };
}

/** A digest of resources without a workspace: equal for the same ones in another order. */
function digestOf(homeless: ReadonlyMap<string, string>): string {
  return createHash('sha256')
    .update(JSON.stringify([...homeless].sort()))
    .digest('base64');
}

/** The outcome of a listing whose items cannot be attributed. */
function unheard(workspace: string | undefined, twin: string | undefined): Found {
  const isTwin = twin !== undefined;
  const cause =
    workspace === undefined
      ? 'no workspace can be asked for by name'
      : isTwin
        ? `the platform lists the same resources for workspaces ${workspace} and ${twin}`
        : `the platform did not take the name of workspace ${workspace}`;
  const reason = isTwin ? `${cause}, and they name none` : `${cause}, and the listed resources name none`;
  return { ...nothing, outcome: 'failed', reason, next: unheardWorkspaceStep, isHopeless: false };
}

/** A listing that was read to its end. */
interface Listed {
  readonly elsewhere: readonly string[];
  readonly doubt: string | undefined;
  readonly shortfall: number | undefined;
  /** Whether nothing is missing because the night had no requests left. */
  readonly areAllAsked: boolean;
  /** Whether the platform counts as many resources. */
  isCounted(resources: number): Promise<boolean>;
}

/** Writes a listing that was read to its end. */
async function writeListing(
  key: ListingKey,
  listed: Listed,
  { stage, deployments }: Stages,
  request: IngestRequest,
  tools: IngestTools,
): Promise<Omit<Found, 'isHopeless'>> {
  const { log } = tools.effects;
  const { shortfall } = listed;
  let { doubt } = listed;
  const now = tools.effects.now();
  const nights = shortfall === undefined ? 0 : 1 + (await tools.warehouse.nightsWithShortfall(key, shortfall, now));
  if (nights >= nightsUntilTrusted) {
    const before = await tools.warehouse.lastListingOutcome(key);
    if (before !== 'read') log.warn('listing.count_ignored', shortfallWords, { ...key, reason: doubt });
    doubt = undefined;
  }
  const seen = { runNumber: request.runNumber, seenAt: await tools.warehouse.seenAt(tools.effects.now()) };
  const written = await stage.write({
    ...key,
    ...seen,
    workspacesElsewhere: listed.elsewhere,
    isWhole: doubt === undefined && listed.areAllAsked,
    acceptShrunk: request.acceptShrunkListings,
    isBelieved: async (resources) =>
      1 + (await tools.warehouse.nightsShrunk(key, now)) >= nightsUntilTrusted || (await listed.isCounted(resources)),
  });
  await deployments.write({ ...key, ...seen });
  const { resources, opened, ended } = written;
  const outcome = doubt !== undefined ? 'partial' : written.isShrunk ? 'shrunk' : 'read';
  const next = written.isShrunk ? shrunkListingStep : doubt === undefined ? undefined : unreadListingStep;
  const reason = written.isShrunk
    ? `it lists ${resources} of ${written.known} known resources; Costbook keeps the missing ones`
    : doubt;
  if (reason !== undefined) await warnOfListing(outcome, reason, key, tools);
  return { outcome, reason: reason && tools.redact(reason), next, shortfall, resources, opened, ended };
}

/** The resources of a page that this token speaks for. Adds what else it has to `seen`. */
function decodePage(
  items: readonly RawResource[],
  { workspace: asked }: ListingKey,
  listing: Listing,
  { isOfInterest, decode }: Reading,
  seen: Seen,
  tools: IngestTools,
): { readonly resources: readonly ListedResource[]; readonly deployed: readonly ListedDeployments[] } {
  const resources: ListedResource[] = [];
  const deployed: ListedDeployments[] = [];
  for (const item of items) {
    const { state, use, strange } = decode(item, listing);
    for (const field of strange) seen.fields.add(field);
    // What another workspace owns counts in the listing of that one.
    const owner = listing.owner?.(item);
    if (owner !== undefined && owner !== (state.workspace ?? asked)) continue;
    if (listing.isShared) {
      if (asked !== undefined && isOfInterest(asked)) resources.push({ ...state, workspace: asked, use });
      continue;
    }
    if (state.workspace === undefined) seen.homeless.set(state.name, state.createdAt ?? '');
    else seen.named.add(state.workspace);
    const workspace = state.workspace ?? asked;
    if (workspace === undefined || !isOfInterest(workspace)) continue;
    resources.push({ ...state, workspace, use, isLite: listing.detail !== undefined });
    if (!listing.hasDeployments) continue;
    const { events, runtime, strange: strangeDeployments } = decodeDeployments(item);
    for (const field of strangeDeployments) seen.fields.add(field);
    const texts = events.map((event) => ({ ...event, message: event.message && tools.redact(event.message) }));
    deployed.push({ ...state, workspace, events: texts, runtime });
  }
  return { resources, deployed };
}

function warnOfIgnored(
  { fields, homeless }: Seen,
  isHomelessIgnored: boolean,
  subject: Readonly<Record<string, string>>,
  { effects: { log } }: IngestTools,
): void {
  if (fields.size > 0) {
    log.warn('listing.fields_ignored', 'Ignored fields of listed resources that do not match the interface', {
      ...subject,
      fields: someOf([...fields]),
    });
  }
  if (homeless.size > 0 && isHomelessIgnored) {
    log.warn('listing.resources_ignored', 'Ignored listed resources without a workspace', {
      ...subject,
      resources: someOf([...homeless.keys()]),
    });
  }
}

/** A failure as an outcome, without secrets. */
function redacted({ step, reason, ...failed }: NonNullable<ReturnType<typeof failureOf>>, tools: IngestTools): Found {
  return { ...nothing, ...failed, reason: tools.redact(reason), next: redactedStep(step, tools.redact) };
}

/** What a failure means for a listing; undefined if the platform did not cause it. `isOfWorkspace`: with a workspace's token. */
function failureOf(
  error: unknown,
  isOfWorkspace: boolean,
): { outcome: ListingOutcome; reason: string; step: NextStep; isHopeless: boolean; isAbsent?: boolean } | undefined {
  if (error instanceof PlatformError) {
    const { status, found: reason } = error;
    // A token that the platform does not take is a failure, where the account's own has just read costs.
    const isRefused = status === 403 || status === 404 || (status === 401 && !isOfWorkspace);
    // Without a connection no other listing can be read either.
    const isHopeless = status === 429 || (status === undefined && error.code !== 'too_large');
    // Without listings the costs are still complete, so the step is another one than for costs.
    const step = status === 403 ? refusedListingStep : (error.next ?? unreadListingStep);
    return { outcome: isRefused ? 'refused' : 'failed', reason, step, isHopeless, isAbsent: status === 404 };
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
  serves?: string,
): Promise<void> {
  const { log } = tools.effects;
  const fields = { account: key.account, resourceType: key.resourceType, reason };
  if (outcome !== 'refused') log.warn(`listing.${outcome}`, listingWords[outcome], fields);
  else if ((await tools.warehouse.lastListingOutcome(key)) === 'refused')
    log.info('listing.refused', 'The platform refuses this listing', fields);
  else if (serves === undefined)
    log.warn(
      'listing.refused',
      'The platform refuses this listing; its resources keep the names and labels of the last one',
      fields,
    );
  else
    log.info(
      'listing.refused',
      `The platform does not serve this listing; without it Costbook does not know ${serves}`,
      fields,
    );
}

function someOf(names: readonly string[]): string {
  const shown = names
    .toSorted()
    .slice(0, namesShown)
    .map((name) => excerpt(name, nameLength))
    .join(', ');
  return names.length > namesShown ? `${shown} and ${names.length - namesShown} more` : shown;
}
