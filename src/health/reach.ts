import { PlatformError } from '../base/errors.ts';
import { act, refusedListingStep, refusedTokenStep } from '../base/next-step.ts';
import { type AccountConfig, clientFor, type LocalConfig } from '../config/index.ts';
import { alertRows } from '../findings/index.ts';
import { refusedListings } from '../ingest/index.ts';
import { askableWorkspaces, type Client, listings, openListings, readWorkspaceNames } from '../platform/index.ts';
import { earliestVersion, operations, pagedListingsVersion } from '../platform/interface/index.ts';
import { counted } from '../text/counted.ts';
import { shorten } from '../text/safe-text.ts';
import { readSql } from '../warehouse/sql/index.ts';
import type { Connection } from '../warehouse/store/index.ts';
import type { HealthContext } from './context.ts';
import { type Found, ok, warn } from './found.ts';
import type { AccountSeen } from './platform-access.ts';

/** What comes of listings that are refused. */
const oldOwners = 'no cost is missing, but names and owners there may be old';

/** A person waits for it, and each is a request. */
const maxWorkspacesTried = 20;

/** How a platform answered one listing of a workspace. */
export type Tried =
  | { readonly answer: 'listed'; readonly isVersionIgnored: boolean; readonly isEmpty: boolean }
  | { readonly answer: 'refused'; readonly status: number };

/** A client with a token, and what it is tried on. */
type Asked = Pick<AccountSeen, 'account' | 'client' | 'signal'> & Pick<HealthContext, 'effects'>;

/**
 * Tries one listing of a workspace, or one that names none; by its header alone, if that is to be tried. Throws failures
 * that are no refusal.
 */
export async function tryWorkspace(
  { account, client, signal, effects }: Asked,
  workspace?: string,
  { byHeaderAlone = false } = {},
): Promise<Tried> {
  const listing = { operation: operations.agents, filters: {} };
  try {
    const reader = openListings(client, effects.log, { namesInQuery: !byHeaderAlone });
    const pages = reader.pages(listing, `account ${account}`, signal, workspace);
    for await (const { isPaged, apiVersion, items } of pages) {
      const isVersionIgnored = !isPaged && apiVersion >= pagedListingsVersion;
      return { answer: 'listed', isVersionIgnored, isEmpty: items.length === 0 };
    }
    throw new TypeError('a listing has a page');
  } catch (error) {
    if (!isRefusal(error)) throw error;
    return { answer: 'refused', status: error.status ?? 0 };
  }
}

function isRefusal(error: unknown): error is PlatformError {
  return error instanceof PlatformError && [401, 403, 404].includes(error.status ?? 0);
}

/** The workspaces that a platform names to a token; none if it does not list them to it. */
export async function workspacesOf(client: Client, about: string, signal: AbortSignal): Promise<readonly string[]> {
  return readWorkspaceNames(client, about, signal).then(askableWorkspaces, (error: unknown) => {
    if (isRefusal(error)) return [];
    throw error;
  });
}

/** What each token of an account lists, what the platform refuses to it, and whether it takes the version header. */
export async function reachFound(
  about: Asked,
  account: AccountConfig,
  config: LocalConfig,
  context: HealthContext,
  books: Connection | undefined,
): Promise<{ readonly found: readonly Found[]; readonly areListingsRefused: boolean }> {
  const { inventory } = account;
  const named = inventory?.workspaces ?? (await workspacesOf(about.client, `account ${about.account}`, about.signal));
  const { account: id } = about;
  const known =
    named.length > 0 ? [] : await books?.rows(await readSql('inventory', 'known_workspaces'), { account: id });
  const names = [...named, ...askableWorkspaces((known ?? []).map((row) => String(row['workspace'])))];
  const tokens = inventory?.tokens ?? [];
  const own = names.filter((name) => !tokens.some(({ workspace }) => workspace === name));
  const tried = new Map<string | undefined, Tried>();
  for (const name of names.length === 0 ? [undefined] : own.slice(0, maxWorkspacesTried)) {
    tried.set(name, await tryWorkspace(about, name));
  }
  const reached = [...tried].flatMap(([name, { answer }]) => (answer === 'listed' ? [name] : []));
  const found = [...tokenFound(tried, own.length), ...versionFound([...tried.values()], config)];
  let areRefused = false;
  for (const { workspace, token, tokenSetting } of tokens) {
    const http = context.openHttp(1);
    const client = clientFor({ ...account, token, tokenSetting }, config, http, context, workspace, { maxAttempts: 2 });
    const one = await tryWorkspace({ ...about, client }, workspace);
    areRefused ||= one.answer === 'refused';
    found.push(workspaceTokenFound(workspace, tokenSetting, one));
  }
  if (tried.size === 0) return { found, areListingsRefused: areRefused };
  const refused = await refusedFound(about, reached[0] ?? own[0], books);
  return { found: [...found, ...refused], areListingsRefused: areRefused || refused.length > 0 };
}

/** What the account's token lists. */
function tokenFound(tried: ReadonlyMap<string | undefined, Tried>, count: number): Found[] {
  const by = (answer: Tried['answer']) =>
    [...tried].flatMap(([name, one]) => (one.answer === answer ? (name ?? []) : []));
  const words = (names: readonly string[]) => shorten(names.join(', '), 200);
  const [listed, refused] = [by('listed'), by('refused')];
  const rest = count > tried.size ? ` (${count - tried.size} more were not tried)` : '';
  const found = listed.length === 0 ? [] : [ok(`the token lists the workspaces ${words(listed)}${rest}`)];
  if (refused.length === 0 || listed.length === 0) return found;
  const step = act('use a personal key that reaches them, or give each of them a token in inventory.tokens.');
  return [...found, warn(`the platform refuses the token the listings of ${words(refused)}: ${oldOwners}`, step)];
}

/** What a workspace's own token lists. */
function workspaceTokenFound(workspace: string, setting: string, tried: Tried): Found {
  if (tried.answer === 'listed') return ok(`the token of ${setting} lists ${workspace}`);
  const words = `the platform refuses the token of ${setting} the listings of ${workspace} (${tried.status}): ${oldOwners}`;
  return warn(words, refusedTokenStep([workspace]));
}

/** Whether the platform takes the version header: one that does not answers in the form of the earliest version. */
function versionFound(tried: readonly Tried[], { versionHeader }: LocalConfig): Found[] {
  if (!tried.some((one) => one.answer === 'listed' && one.isVersionIgnored)) return [];
  const words = `the platform ignores the header ${versionHeader}: a listing of version ${pagedListingsVersion} came in the form of ${earliestVersion}`;
  const step = act("set versionHeader in costbook.yaml to the platform's own, such as Acme-Version.");
  return [warn(words, step)];
}

/** A member may not read every listing: refused ones count if the platform served them before, or serves none. */
async function refusedFound(
  about: Asked,
  workspace: string | undefined,
  books: Connection | undefined,
): Promise<readonly Found[]> {
  const refused = await refusedListings(about, workspace);
  const { account } = about;
  const rows = (await books?.rows(await readSql('status', 'served_listings'), { account })) ?? [];
  const served = rows.map((row) => row['resource_type']);
  const tried = listings.filter(({ serves }) => serves === undefined).length;
  const missing = refused.length === tried ? refused : refused.filter((each) => served.includes(each.resourceType));
  const [first] = missing;
  if (first === undefined) return [];
  const names = missing.map(({ resourceType }) => resourceType).join(', ');
  // The alert counts the listings of all workspaces, and its words are the same.
  const unread = books === undefined ? [] : await alertRows(books, 'unread_listings');
  const known = unread.filter((row) => row['account'] === account).length;
  const words =
    `the platform refuses ${missing.length} of the ${tried} resource listings that doctor tries` +
    `${workspace === undefined ? '' : `, in workspace ${workspace}`} (${first.error.status}): ${names}. Their costs have no labels` +
    `${known === 0 ? '' : `. In all, ${counted(known, 'resource listing')} ${known === 1 ? 'is' : 'are'} not up to date`}`;
  return [warn(words, refusedListingStep)];
}
