import { PlatformError, RefusedAnswerError } from '../base/errors.ts';
import type { Decoder } from '../fetch/index.ts';
import type { Listing, ListingReader, RawResource } from '../platform/index.ts';
import { dayMs } from '../time/time.ts';
import type { InventoryStage, ListingKey } from '../warehouse/load/index.ts';
import type { IngestTools } from './tools.ts';

/** How many items are read one by one in a night. */
export const detailCallsByDefault = 200;

/** Labels that a tool sets by itself. */
export const defaultIgnoreLabels: readonly string[] = ['*auto-generated'];

/** Requests for single items that an account has left tonight. */
export interface DetailBudget {
  left: number;
}

/** A gigabyte in megabytes, as two people may count it. */
const megabytesInGigabyte = [1024, 1000];

/**
 * Reads the items of a staged listing one by one that are new or were updated, as many as the night has left, and stages them
 * again with all of their columns. An item that cannot be read stays as it is known; a refusal or a failure ends it for tonight.
 */
export async function readDetails(
  key: ListingKey,
  listing: Listing,
  how: { readonly reader: ListingReader; readonly decode: Decoder; readonly details: DetailBudget },
  stage: InventoryStage,
  tools: IngestTools,
): Promise<void> {
  const { reader, decode, details } = how;
  const { effects, signal } = tools;
  if (details.left <= 0) return;
  for (const lite of await stage.detailsDue({ ...key, now: effects.now() }, details.left)) {
    // A path takes these as steps.
    if (lite.name === '.' || lite.name === '..') continue;
    details.left -= 1;
    try {
      const item = await reader.detail(listing, lite.name, `account ${key.account}`, signal, lite.workspace);
      const { state, use } = decode(item, listing);
      const { workspace, name, uuid, createdAt, updatedAt } = lite;
      await stage.add([
        {
          ...{ ...state, workspace, name, uuid, createdAt, use },
          sizeBytes: bytesOf(lite.sizeBytes, state.sizeBytes),
          ...{ isLite: false, detailsOf: updatedAt },
        },
      ]);
    } catch (error) {
      // It ended since it was listed.
      if (error instanceof PlatformError && error.status === 404) continue;
      if (!(error instanceof PlatformError || error instanceof RefusedAnswerError)) throw error;
      effects.log.warn('listing.details', 'Could not read one item of a listing; its known values stay', {
        ...{ account: key.account, resourceType: key.resourceType, reason: error.found },
      });
      return;
    }
  }
}

/** Costs of so many days name the resources that may have items. */
const billedDays = 30;

/**
 * Reads a listing resource by resource where the platform has none of all: of those that are billed for its items, the dearest
 * first, as many as the night has left. Returns whether it asked all of them; undefined if none answered. Throws as the reader
 * does, but for resources that are gone.
 */
export async function readByResource(
  { account, workspace }: ListingKey,
  { byResource, ...listing }: Listing,
  { reader, details }: { readonly reader: ListingReader; readonly details: DetailBudget },
  take: (items: readonly RawResource[]) => Promise<void>,
  { warehouse, effects, signal }: IngestTools,
): Promise<boolean | undefined> {
  if (byResource === undefined || workspace === undefined) return undefined;
  const { operation, parameter, billingDimension } = byResource;
  const [from, to] = [effects.now() - billedDays * dayMs, effects.now()];
  let isAnswered = false;
  for (const { name } of await warehouse.billedResources({
    account,
    workspaces: [workspace],
    billingDimension,
    from,
    to,
  })) {
    if (name === '.' || name === '..') continue;
    if (details.left <= 0) return isAnswered ? false : undefined;
    details.left -= 1;
    try {
      const asked = { ...listing, operation, filters: { [parameter]: name } };
      for await (const { items } of reader.pages(asked, `account ${account}`, signal, workspace)) await take(items);
      isAnswered = true;
    } catch (error) {
      if (!(error instanceof PlatformError && error.status === 404)) throw error;
    }
  }
  return isAnswered ? true : undefined;
}

/**
 * A size in bytes of what the listing and the single item say. Their units are described, but only their ratio shows that they
 * are gigabytes and megabytes; undefined if it does not. Pure.
 */
export function bytesOf(listed: number | undefined, single: number | undefined): number | undefined {
  if (listed === undefined || single === undefined || listed === 0) return undefined;
  const unit = megabytesInGigabyte.find((megabytes) => listed * megabytes === single);
  return unit === undefined ? undefined : single * unit ** 2;
}
