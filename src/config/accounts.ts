import { basename, dirname } from 'node:path';
import { act } from '../base/next-step.ts';
import { oneOf, quoted } from '../text/choices.ts';
import type { Instant } from '../time/time.ts';
import {
  endOf,
  type Given,
  integerParser,
  itemsOf,
  keysOf,
  type MappingRule,
  type Problems,
  parseBoolean,
  readValue,
} from '../yaml/index.ts';
import {
  type ConfigSpec,
  type EntrySpec,
  hasToken,
  type Layer,
  noLayer,
  overlay,
  type Reading,
  read,
} from './environment-and-file.ts';
import { entryPlace, keysWithoutVariable, sharedKeys, tokenKeys, topPlace, variableOf } from './keys.ts';
import type { TokenSource } from './secrets.ts';
import {
  parseAccountId,
  parseHeaderValue,
  parseName,
  parseToken,
  parseTokenCommand,
  parseTokenPath,
  parseUrl,
  sinceParser,
  tokenFileParser,
} from './values.ts';

/** An account, for commands that never contact the platform. */
export interface LocalAccount {
  /** Undefined if it is not configured; a single account is then looked up on the platform. */
  readonly id: string | undefined;
  readonly name: string | undefined;
  /** http or https, without credentials, query, fragment or trailing slash. */
  readonly url: string | undefined;
  readonly token: TokenSource | undefined;
  /** The setting of the token: `COSTBOOK_TOKEN`, or `tokenFile (costbook.yaml:2:12)`. */
  readonly tokenSetting: string | undefined;
  /** A whole hour, not in the future. */
  readonly since: Instant | undefined;
  /** Whether and how its resources are listed; undefined if not configured: with its own token. */
  readonly inventory: InventoryConfig | undefined;
}

/** How the resources of an account are listed. */
export interface InventoryConfig {
  readonly isRead: boolean;
  /** Workspaces with tokens of their own; the account's token lists all others. */
  readonly tokens: readonly WorkspaceToken[];
  /** The workspaces that the account's token lists; undefined for all that it reaches. */
  readonly workspaces?: readonly string[] | undefined;
  /** How many items of listings are read one by one in a night; undefined for the default. */
  readonly detailCalls?: number | undefined;
  /** Whether names of people are read; undefined for the default. */
  readonly people?: boolean | undefined;
  /** Labels that are not stored, as patterns of their keys; undefined for the default. */
  readonly ignoreLabels?: readonly string[] | undefined;
}

/** The token that lists the resources of one workspace. */
export interface WorkspaceToken {
  readonly workspace: string;
  readonly token: TokenSource;
  /** Its setting: `inventory.tokens.north (costbook.yaml:2:12)`. */
  readonly tokenSetting: string;
}

/** An account, with everything needed to query the platform. */
export interface AccountConfig extends LocalAccount {
  readonly url: string;
  readonly token: TokenSource;
}

/** An entry with its ID already parsed, which identifies it in messages. */
interface Entry extends EntrySpec {
  readonly id: string | undefined;
}

export function resolveAccounts(spec: ConfigSpec, env: Layer, reading: Reading): readonly LocalAccount[] {
  const specs = spec.entries ?? [shortEntry(spec.top, reading.file)];
  const isOneOfSeveral = specs.length > 1;
  const entries = specs.map((entry) => {
    const given = (isOneOfSeveral ? undefined : env.get('account')) ?? entry.keys.get('id');
    return { ...entry, id: read(given, parseAccountId, reading, true) };
  });
  reportRepeatedIds(entries, reading.problems);
  const target = isOneOfSeveral ? environmentTarget(entries, env, reading) : entries[0];

  // Shared keys are checked even if no account uses them, so that mistakes show at once; keys that the environment
  // overrides are not checked.
  readShared(overlay(spec.top, env), reading);

  const accounts = entries.map((entry) => {
    const layer = overlay(overlay(spec.top, entry.keys), entry === target ? env : noLayer);
    if (reading.strict) reportMissing(entry, layer, isOneOfSeveral, reading);
    return {
      id: entry.id,
      name: read(entry.keys.get('name'), parseName, reading),
      inventory: readInventory(entry, spec, env, reading),
      ...readShared(layer, reading),
    };
  });
  if (isOneOfSeveral && !reading.strict) return accounts.filter(({ id }) => id !== undefined);
  // Without a list and without any setting, there is no account.
  return accounts.filter(
    ({ inventory: _, ...account }) => spec.entries || Object.values(account).some((value) => value !== undefined),
  );
}

/** Without a list, the top level describes the only account. */
function shortEntry(top: Layer, file: string): EntrySpec {
  const id = top.get('account');
  return { place: endOf(file), keys: id ? new Map([['id', id]]) : noLayer };
}

function reportRepeatedIds(entries: readonly Entry[], problems: Problems): void {
  const firsts = new Map<string, Given>();
  for (const { id, keys } of entries) {
    const given = keys.get('id');
    if (id === undefined || !given) continue;
    const first = firsts.get(id);
    if (!first) firsts.set(id, given);
    else problems.report(given, `found ${quoted(id)} a second time, first on line ${first.position?.line}; keep one`);
  }
}

/** The entry that the environment's account variables are for, if any are set. */
function environmentTarget(entries: readonly Entry[], env: Layer, { file, problems }: Reading): Entry | undefined {
  const ids = entries.flatMap(({ id }) => (id === undefined ? [] : [quoted(id)]));
  const expected = oneOf(ids) || 'one with an id';
  const asked = env.get('account');
  if (asked) {
    const target = entries.find(({ id }) => id === asked.value);
    const text = `found ${quoted(String(asked.value))}, expected an account of ${file}: ${expected}`;
    if (!target) problems.report(asked, text);
    return target;
  }
  for (const key of sharedKeys) {
    const given = env.get(key);
    if (!given) continue;
    problems.report(
      given,
      `found a value, but ${file} lists ${entries.length} accounts; set COSTBOOK_ACCOUNT to the account that it is ` +
        `for (${expected}), or unset it`,
    );
  }
  return undefined;
}

function reportMissing(entry: Entry, layer: Layer, isOneOfSeveral: boolean, reading: Reading): void {
  const { file, problems } = reading;
  const id = entry.id === undefined ? undefined : quoted(entry.id);
  const who = isOneOfSeveral && id ? `account ${id}: ` : '';
  const where = isOneOfSeveral
    ? `in this entry or at the top level, or set COSTBOOK_ACCOUNT to ${id ?? 'its id'} and`
    : `in ${file}, or set`;
  function report(what: string, keys: readonly string[]): void {
    const variables = keys.filter((key) => !keysWithoutVariable.includes(key)).map(variableOf);
    const ways = `write ${oneOf(keys)} ${where} ${oneOf(variables)}`;
    problems.report(entry.place, `${who}found no ${what}; ${ways}`);
  }
  if (reading.text === undefined && !layer.has('url')) {
    problems.report(
      { ...entry.place, where: dirname(file) },
      `found no ${basename(file)} in this folder and no COSTBOOK_URL`,
      act(
        'start with "costbook init", name the folder of the file with --dir (COSTBOOK_DIR), or set COSTBOOK_URL, ' +
          'COSTBOOK_TOKEN, COSTBOOK_ACCOUNT and COSTBOOK_SINCE.',
      ),
    );
    return;
  }
  if (!layer.has('url')) report("url, expected the platform's address", ['url']);
  if (!hasToken(layer)) report('token, expected one source of it', tokenKeys);
  if (isOneOfSeveral && !entry.keys.has('id')) {
    problems.report(entry.place, 'found no id, expected one in every entry of accounts; add id to this entry');
  }
}

function readShared(layer: Layer, reading: Reading): Pick<LocalAccount, 'url' | 'token' | 'tokenSetting' | 'since'> {
  const key = tokenKeys.find((name) => layer.has(name));
  const given = key && layer.get(key);
  return {
    tokenSetting: given && (given.position ? `${key} (${given.where})` : given.where),
    url: read(layer.get('url'), parseUrl, reading, true),
    since: read(layer.get('since'), sinceParser(reading.now), reading),
    token: readTokenSource(layer, reading),
  };
}

/**
 * Whether and with which tokens an account's resources are listed. The environment can only switch listings on or off,
 * for all accounts. With several accounts, tokens belong in their entries, because workspaces belong to an account.
 */
function readInventory(entry: EntrySpec, spec: ConfigSpec, env: Layer, reading: Reading): InventoryConfig | undefined {
  const asked = read(env.get('inventory'), parseBoolean, reading);
  const given = entry.keys.get('inventory') ?? spec.top.get('inventory');
  if (given === undefined) return asked === undefined ? undefined : { isRead: asked, tokens: [] };
  if (typeof given.value !== 'object' || given.value === null) {
    const isRead = asked ?? read(given, parseBoolean, reading);
    return isRead === undefined ? undefined : { isRead, tokens: [] };
  }
  const keys = keysOf(given, inventoryRule, reading.problems);
  const tokens = keys?.get('tokens');
  const workspaces = readWorkspaces(keys?.get('workspaces'), reading);
  if (tokens !== undefined && given === spec.top.get('inventory') && (spec.entries?.length ?? 1) > 1) {
    const text = `found tokens at the top level, but there are ${spec.entries?.length} accounts; move them into the entries of the accounts whose workspaces they are for`;
    reading.problems.report(tokens, text);
  }
  return {
    isRead: asked ?? true,
    tokens: tokens === undefined ? [] : readWorkspaceTokens(tokens, reading),
    workspaces,
    detailCalls: read(keys?.get('detailCalls'), integerParser(0, 100_000), reading),
    people: read(keys?.get('people'), parseBoolean, reading),
    ignoreLabels: readPatterns(keys?.get('ignoreLabels'), reading),
  };
}

const inventoryRule: MappingRule = {
  keys: ['tokens', 'workspaces', 'detailCalls', 'people', 'ignoreLabels'],
  expected:
    'true, false, workspaces: with their names or all, tokens: with a token for each workspace, detailCalls: a number, people: true or false, or ignoreLabels: patterns of keys; write one or remove it',
  elsewhere: [topPlace, entryPlace],
};

/** Patterns of labels; an empty list means none. */
function readPatterns(given: Given | undefined, reading: Reading): readonly string[] | undefined {
  if (given === undefined) return undefined;
  const items = itemsOf(given, 'patterns of label keys, such as "*auto-generated"', reading.problems);
  return items.flatMap((item) => read(item, parseName, reading) ?? []);
}

/** The names of workspaces; undefined for `all`. */
function readWorkspaces(given: Given | undefined, reading: Reading): readonly string[] | undefined {
  if (given === undefined || given.value === 'all') return undefined;
  const items = itemsOf(given, 'all, or the names of workspaces', reading.problems);
  return items.flatMap((item) => read(item, parseName, reading) ?? []);
}

function readWorkspaceTokens(given: Given, reading: Reading): readonly WorkspaceToken[] {
  const { value: mapping } = given;
  const expected = `workspaces with their tokens, such as north: \${NORTH_TOKEN}; write one or remove the key`;
  if (typeof mapping !== 'object' || mapping?.kind !== 'mapping' || mapping.entries.length === 0) {
    reading.problems.report(given, `found no workspace, expected ${expected}`);
    return [];
  }
  const read: WorkspaceToken[] = [];
  const lines = new Map<string, number | undefined>();
  for (const { key, value } of mapping.entries) {
    const workspace = readValue(key, parseName, reading.problems);
    if (workspace === undefined) continue;
    if (lines.has(workspace)) {
      const first = lines.get(workspace);
      reading.problems.report(key, `found ${quoted(workspace)} a second time, first on line ${first}; keep one`);
      continue;
    }
    lines.set(workspace, key.position?.line);
    if (value.fault !== undefined) reading.problems.report(value, value.fault);
    const layer =
      typeof value.value === 'object' && value.value !== null
        ? keysOf(value, workspaceTokenRule, reading.problems)
        : new Map([['token', { ...value, key: workspace }]]);
    if (layer === undefined) continue;
    if (!hasToken(layer)) reading.problems.report(value, `found no token, expected ${oneOf(tokenKeys)}; write one`);
    const token = readTokenSource(layer, reading);
    if (token !== undefined) {
      read.push({ workspace, token, tokenSetting: `inventory.tokens.${workspace} (${value.where})` });
    }
  }
  return read;
}

const workspaceTokenRule: MappingRule = {
  keys: tokenKeys,
  expected: 'a token, or one of tokenFile, tokenCommand and oauth; write one',
};

/** The one token source of a layer; a second one is reported. */
function readTokenSource(layer: Layer, reading: Reading): TokenSource | undefined {
  const [first, ...others] = tokenKeys.filter((key) => layer.has(key));
  if (first === undefined) return undefined;
  const name = layer.get(first)?.position ? first : variableOf(first);
  for (const key of others) {
    const text = `found together with ${name}, expected only one token source; remove one of them`;
    reading.problems.report(layer.get(key) ?? endOf(reading.file), text);
  }
  const parsers = { token: parseToken, tokenFile: tokenFileParser(reading.file), tokenCommand: parseTokenCommand };
  const [source] = [first, ...others].map((key) => {
    const given = layer.get(key);
    return key === 'oauth' ? given && readCredentials(given, reading) : read(given, parsers[key], reading, true);
  });
  return source;
}

const credentialsRule: MappingRule = {
  keys: ['tokenPath', 'clientId', 'clientSecret'],
  expected: 'clientId and clientSecret of a service account; write both or remove the key',
  elsewhere: [topPlace, entryPlace],
};

/** The public description's path for client credentials. */
const usualTokenPath = '/v0/oauth/token';

function readCredentials(given: Given, reading: Reading): TokenSource | undefined {
  const keys = keysOf(given, credentialsRule, reading.problems);
  if (keys === undefined) return undefined;
  for (const key of ['clientId', 'clientSecret']) {
    if (!keys.has(key)) reading.problems.report(given, `found no ${key}, expected one; write it below oauth`);
  }
  const clientId = read(keys.get('clientId'), parseHeaderValue, reading, true);
  const clientSecret = read(keys.get('clientSecret'), parseHeaderValue, reading, true);
  const tokenPath = keys.has('tokenPath') ? read(keys.get('tokenPath'), parseTokenPath, reading, true) : usualTokenPath;
  if (clientSecret !== undefined) reading.problems.keepSecret(clientSecret);
  if (clientId === undefined || clientSecret === undefined || tokenPath === undefined) return undefined;
  return { kind: 'oauth', tokenPath, clientId, clientSecret };
}
