import { PlatformError } from '../base/errors.ts';
import { type Listing, type ListingReader, otherListings, type RawResource } from '../platform/index.ts';
import { dayMs, floorDay, type Instant, parseRfc3339 } from '../time/time.ts';
import type { BilledResource, JobExecutions } from '../warehouse/load/index.ts';
import type { DetailBudget } from './listing-details.ts';
import type { IngestRequest, IngestTools } from './tools.ts';

/** How to read executions: within the single requests that are left tonight. */
interface Reading {
  readonly account: string;
  readonly reader: ListingReader;
  readonly details: DetailBudget;
  readonly tools: IngestTools;
}

/** What began so long before a day may still run on it. */
const longestRunMs = dayMs;
/** A platform without pages may cut a listing here without a word. */
const usualPageSize = 20;
/** No machine has more memory. */
const maxMemoryMb = 2 ** 31 - 1;

/**
 * Compares the last complete day of jobs with the executions that the platform lists, the dearest jobs first, and records what
 * their tasks used. Returns how many jobs it compared; undefined if there is nothing to compare. Throws as the reader does,
 * also if the platform knows the executions of no job.
 */
export async function readJobExecutions(
  reading: Reading,
  workspaces: readonly string[] | undefined,
  { runNumber }: IngestRequest,
): Promise<number | undefined> {
  const { account, details, tools } = reading;
  const { warehouse, effects } = tools;
  const through = (await warehouse.completeness(account))?.completeThrough;
  if (through === undefined) return undefined;
  const day = floorDay(through) - dayMs;
  const compared: JobExecutions[] = [];
  let unknown: PlatformError | undefined;
  let isTried = false;
  const billed = { account, workspaces, billingDimension: 'job_compute_runtime_gbs', from: day, to: day + dayMs };
  for (const job of await warehouse.billedResources(billed)) {
    // A path takes these as steps.
    if (details.left <= 0 || job.name === '.' || job.name === '..') continue;
    isTried = true;
    try {
      const used = await usedOn(day, job, reading);
      if (used !== undefined) compared.push(used);
    } catch (error) {
      if (!(error instanceof PlatformError && error.status === 404)) throw error;
      unknown = error;
    }
  }
  if (unknown !== undefined && compared.length === 0) throw unknown;
  if (compared.length > 0) {
    const readAt = await warehouse.seenAt(effects.now());
    await warehouse.recordJobExecutions({ account, day, runNumber, readAt, jobs: compared });
  }
  return isTried ? compared.length : undefined;
}

/** What the tasks of a job used on a day; undefined if that cannot be known tonight. */
async function usedOn(day: Instant, job: BilledResource, reading: Reading): Promise<JobExecutions | undefined> {
  const now = reading.tools.effects.now();
  const { workspace, name } = job;
  const isBefore = ({ metadata }: RawResource) =>
    (instantOf(metadata['createdAt']) ?? now) < day - longestRunMs ||
    (metadata['workspace'] ?? workspace) !== workspace;
  const listed = await itemsOf(otherListings.executions, { jobId: name }, workspace, reading, isBefore);
  if (listed?.some(({ metadata }) => (metadata['workspace'] ?? workspace) !== workspace) !== false) return undefined;
  let [executions, tasks, megabyteMs] = [0, 0, 0];
  for (const { metadata, spec } of listed) {
    if (msOn(day, metadata['startedAt'] ?? metadata['createdAt'], metadata['completedAt'], now) === 0) continue;
    const { memoryOverride } = (spec ?? {}) as { readonly memoryOverride?: unknown };
    const override = Number(memoryOverride);
    const memoryMb = override > 0 && override <= maxMemoryMb ? override : job.memoryMb;
    const run = await itemsOf(
      otherListings.tasks,
      { jobId: name, executionId: metadata.name },
      workspace,
      reading,
      () => false,
    );
    if (memoryMb === undefined || run === undefined) return undefined;
    executions += 1;
    for (const task of run) {
      const ms = msOn(day, task.metadata['startedAt'], task.metadata['completedAt'], now);
      if (ms === 0) continue;
      tasks += 1;
      megabyteMs += memoryMb * ms;
    }
  }
  return { workspace, name, executions, tasks, gigabyteSeconds: megabyteMs / 1024 / 1000 };
}

/** The items of a listing, newest first, until one that is too old; undefined if tonight's requests do not suffice. */
async function itemsOf(
  listing: Listing,
  path: Readonly<Record<string, string>>,
  workspace: string,
  { account, reader, details, tools }: Reading,
  isEnough: (item: RawResource) => boolean,
): Promise<readonly RawResource[] | undefined> {
  if (details.left <= 0) return undefined;
  const asked = { ...listing, filters: { ...listing.filters, ...path } };
  let items: RawResource[] = [];
  for await (const page of reader.pages(asked, `account ${account}, job ${path['jobId']}`, tools.signal, workspace)) {
    details.left -= 1;
    items = page.number === 1 ? [...page.items] : [...items, ...page.items];
    if (!page.isPaged && items.length >= usualPageSize) return undefined;
    if (page.isLast || page.items.some(isEnough)) return items;
    if (details.left <= 0) return undefined;
  }
  return undefined;
}

/** For how long of a day something ran that has not ended if it has no end; 0 if it has not started. */
function msOn(day: Instant, started: unknown, ended: unknown, now: Instant): number {
  const from = instantOf(started);
  const until = instantOf(ended) ?? now;
  return from === undefined ? 0 : Math.max(0, Math.min(until, day + dayMs) - Math.max(from, day));
}

function instantOf(text: unknown): Instant | undefined {
  return typeof text === 'string' ? parseRfc3339(text) : undefined;
}
