import { parseBody, type RawBody } from './body.ts';
import type { Client } from './client.ts';
import { answerLimits } from './interface/limits.ts';
import { operations } from './interface/operations.ts';
import { readListingPage, workspaceListing } from './listings.ts';

/**
 * The names of the workspaces that a token reaches, sorted. Throws PlatformError as the client does, and RefusedAnswerError
 * for an answer that is no list of them.
 */
export async function readWorkspaceNames(
  client: Client,
  about: string,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const { operation, name } = workspaceListing;
  const asked = { about: `${about}, workspaces`, limit: undefined, cursor: undefined, name };
  const read = async (body: RawBody) =>
    readListingPage(await parseBody({ ...body, maxBodyMib: answerLimits.listingBodyMib }), asked).items;
  const items = await client.call(operation, {}, asked.about, read, signal);
  return [...new Set(items.map(({ metadata }) => metadata.name.toWellFormed()))].sort();
}

/**
 * The names that requests can be about, of those that the platform or its costs name; none if there are more than a night has
 * time for: then the listings are asked for without a name.
 */
export function askableWorkspaces(names: readonly string[]): readonly string[] {
  // A path takes "." and ".." as steps.
  const askable = names.filter((name) => /^[^\p{Cc}]{1,200}$/u.test(name) && name !== '.' && name !== '..');
  return askable.length > answerLimits.maxWorkspaces ? [] : askable;
}

/** How many resources of each kind a workspace has, by the name of their listing: `sandboxes`, `agents`. */
export type ResourceCounts = Readonly<Record<string, number>>;

/**
 * The platform's own counts of a workspace's resources (public description); undefined if the answer has none. It costs the
 * platform a query for each kind. Throws PlatformError as the client does.
 */
export async function readResourceCounts(
  client: Client,
  workspaceName: string,
  about: string,
  signal: AbortSignal,
): Promise<ResourceCounts | undefined> {
  const values = { workspaceName, countResources: 'true' };
  return client.call(
    operations.workspace,
    values,
    `${about}, workspace ${workspaceName}`,
    async (body) => {
      const { resourceCounts } = ((await parseBody(body)) ?? {}) as { readonly resourceCounts?: unknown };
      if (typeof resourceCounts !== 'object' || resourceCounts === null) return undefined;
      return Object.fromEntries(
        Object.entries(resourceCounts).filter((entry): entry is [string, number] => Number.isSafeInteger(entry[1])),
      );
    },
    signal,
    { workspace: workspaceName },
  );
}
