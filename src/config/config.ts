import { basename, dirname, join, resolve } from 'node:path';
import { nearest } from '../did-you-mean.ts';
import { UsageError } from '../errors.ts';
import { accountIdFault, earliestVersion } from '../platform/index.ts';
import { floorHour, formatInstant, hourMs, type Instant, parseDuration, parseInstant, parseRfc3339 } from '../time.ts';
import { parseFileMode } from './file-mode.ts';
import { expand, variableValue } from './references.ts';
import { type TokenSource, tokenFault } from './secrets.ts';
import {
  type AlertSeverities,
  readSeverities,
  readSinkNames,
  readSinks,
  type Sink,
  secretKeys,
} from './sink-settings.ts';
import {
  endOf,
  type Given,
  gatherProblems,
  integerParser,
  itemsOf,
  keysOf,
  type MappingRule,
  oneOf,
  type Parse,
  type Place,
  type Problems,
  parseText,
  parseYaml,
  quoted,
  readValue,
  readYamlFile,
  textsUnder,
} from './yaml.ts';

/** Who pays, as far as commands need to know that never talk to the platform. */
export interface LocalAccount {
  /** Undefined where nobody wrote it, which only the one account of a configuration may do: the platform is asked. */
  readonly id: string | undefined;
  readonly name: string | undefined;
  /** http or https, without credentials, query, fragment or trailing slash. */
  readonly url: string | undefined;
  readonly token: TokenSource | undefined;
  /** Where the token's source was written: `COSTBOOK_TOKEN`, or `tokenFile (costbook.yaml:2:12)`. */
  readonly tokenSetting: string | undefined;
  /** A whole hour, not in the future. */
  readonly since: Instant | undefined;
  /** Whether and how its resources are listed; undefined where nobody said: with its own token. */
  readonly inventory: InventoryConfig | undefined;
}

/** How the resources of an account are listed. */
export interface InventoryConfig {
  readonly isRead: boolean;
  /** Workspaces with a token of their own; all others are read with the account's. */
  readonly tokens: readonly WorkspaceToken[];
}

/** The token with which the resources of one workspace are listed. */
export interface WorkspaceToken {
  readonly workspace: string;
  readonly token: TokenSource;
  /** Where its source was written: `inventory.tokens.north (costbook.yaml:2:12)`. */
  readonly tokenSetting: string;
}

/** Who pays, and how the platform is asked about it. */
export interface AccountConfig extends LocalAccount {
  readonly url: string;
  readonly token: TokenSource;
}

/** The configuration of a command that never talks to the platform: what that takes may be missing. */
export interface LocalConfig {
  readonly accounts: readonly LocalAccount[];
  readonly concurrency: number; // 4
  readonly maxRequestsPerMinute: number | undefined; // no limit
  readonly settleDays: number; // 3
  /** Days after its end before which a month is not closed. */
  readonly closeAfterDays: number; // 3
  readonly lagHours: number; // 2
  readonly freshnessHours: number; // 26
  readonly verifyDays: number; // 400
  readonly deepVerifyPages: number; // 2
  /** USD by which rows and control may differ, as plain decimal text; undefined where it is computed. */
  readonly proofTolerance: string | undefined;
  /** Which answers stay in the landing folder, and for how long; undefined days are for ever. */
  readonly landing: { readonly keep: 'changed' | 'all'; readonly keepDays: number | undefined }; // changed
  /** Who is named in a FOCUS export: the provider, and the account where its own name is not meant. */
  readonly focus: { readonly provider: string; readonly accountName: string | undefined }; // Cloud Workload Platform
  /** Where alerts are told, by name. */
  readonly sinks: readonly Sink[];
  /** Who is told where nobody else is named, and after how many days a message that no sink takes is given up. */
  readonly alerts: {
    readonly notify: readonly string[];
    readonly giveUpDays: number;
    /** How severe alerts about the data are, by kind, where it is not as usual. */
    readonly severity: AlertSeverities;
    /** What the project is called in messages; undefined where nobody said: as its folder. */
    readonly project: string | undefined;
  }; // all sinks; 7; as usual
  readonly apiVersion: string; // the earliest version, as the platform itself has it
  readonly authorizationHeader: string; // Authorization
  readonly versionHeader: string; // Service-Version
  /** The mode of new files; folders also have x wherever it has r. */
  readonly fileMode: number; // 0600
}

/** The configuration, every field resolved. */
export interface Config extends LocalConfig {
  /** At least one. */
  readonly accounts: readonly AccountConfig[];
}

export interface ConfigInput {
  /** What the file says; undefined where there is none. */
  readonly text: string | undefined;
  /** The file's path: problems are named by it, and `tokenFile` is relative to its folder. */
  readonly file: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly now: Instant;
  /** False for commands that never talk to the platform: then a missing url, token or account is no problem. */
  readonly requireAccounts?: boolean;
  /** True for commands that tell sinks: then a variable that one refers to and that is not set is a problem. */
  readonly requireSinks?: boolean;
}

/** `dir` is the project folder, absolute. */
type ConfigPlace = Omit<ConfigInput, 'text' | 'file'> & { readonly dir: string };

const tokenKeys = ['token', 'tokenFile', 'tokenCommand'] as const;
/** Keys of one account that can also stand at the top level, for all of them. */
const sharedKeys = ['url', ...tokenKeys, 'since'] as const;
const plainSettings = [
  'concurrency',
  'maxRequestsPerMinute',
  'settleDays',
  'closeAfterDays',
  'lagHours',
  'freshness',
  'verifyDays',
  'deepVerifyPages',
  'inventory',
  'apiVersion',
  'authorizationHeader',
  'versionHeader',
  'fileMode',
] as const;
/** Settings that stand in a mapping of their own at the top level; written `landing.keep` everywhere else. */
const groups = [
  { name: 'proof', keys: ['tolerance'], expected: 'a key such as tolerance: 0.01; write one or remove it' },
  { name: 'landing', keys: ['keep', 'keepDays'], expected: 'a key such as keep: all; write one or remove it' },
  { name: 'focus', keys: ['provider', 'accountName'], expected: 'a key such as provider: …; write one or remove it' },
  {
    name: 'alerts',
    keys: ['notify', 'giveUpDays', 'severity', 'project'],
    expected: 'a key such as notify: [finops]; write one or remove it',
  },
] as const;
const groupedSettings = [
  'proof.tolerance',
  'landing.keep',
  'landing.keepDays',
  'focus.provider',
  'focus.accountName',
  'alerts.notify',
  'alerts.giveUpDays',
  'alerts.severity',
  'alerts.project',
] as const;
const settingKeys = [...plainSettings, ...groupedSettings];
const topKeys = ['accounts', 'account', ...sharedKeys, ...plainSettings, ...groups.map(({ name }) => name), 'sinks'];
const entryKeys = ['id', 'name', 'inventory', ...sharedKeys];

/** The keys of costbook.yaml, by where they stand: what its schema is made of. */
export const configKeys = {
  top: topKeys,
  account: entryKeys,
  workspaceToken: tokenKeys,
  proof: groups[0].keys,
  landing: groups[1].keys,
  focus: groups[2].keys,
  alerts: groups[3].keys,
} as const;

const topPlace = { keys: topKeys, place: 'the top level' };
const entryPlace = { keys: entryKeys, place: 'an entry of accounts' };
const groupPlaces = groups.map(({ name, keys }) => ({ keys, place: name }));
const topRule: MappingRule = {
  keys: topKeys,
  expected: 'keys, such as url: https://…',
  elsewhere: [entryPlace, ...groupPlaces],
};
const entryRule: MappingRule = {
  keys: entryKeys,
  expected: 'an entry such as - id: …; write it so',
  elsewhere: [topPlace, ...groupPlaces],
};

/** The key that each environment variable sets: `tokenFile` by `COSTBOOK_TOKEN_FILE`. */
export const configVariables: ReadonlyMap<string, string> = new Map(
  ['account', ...sharedKeys, ...settingKeys].map((key) => [variableOf(key), key]),
);
/** What variables are named after: keys, and options of the command line. */
const variableKeys = [...configVariables.values(), 'dir', 'now', 'json', 'logFormat'];

function variableOf(key: string): string {
  return `COSTBOOK_${key
    .replace('.', '_')
    .replace(/[A-Z]/g, (letter) => `_${letter}`)
    .toUpperCase()}`;
}

/**
 * Reads `costbook.yaml` in the project folder, where there is one, and the environment.
 * Throws one UsageError whose message lists every problem, one a line, and never holds a token.
 */
export function loadConfig(place: ConfigPlace & { readonly requireAccounts: false }): LocalConfig;
export function loadConfig(place: ConfigPlace & { readonly requireAccounts?: true }): Config;
export function loadConfig(place: ConfigPlace): LocalConfig {
  const file = join(place.dir, 'costbook.yaml');
  return parseConfig({ ...place, text: readYamlFile(file), file });
}

/**
 * Resolves a configuration: environment before file before default, key by key. Pure.
 * Throws one UsageError whose message lists every problem, one a line: those of the file by position
 * (`file:line:column: …`), then what is missing, then those of the environment (`COSTBOOK_…: …`). Never holds a token.
 */
export function parseConfig(input: ConfigInput & { readonly requireAccounts: false }): LocalConfig;
export function parseConfig(input: ConfigInput & { readonly requireAccounts?: true }): Config;
export function parseConfig(input: ConfigInput): LocalConfig;
export function parseConfig(input: ConfigInput): LocalConfig {
  const reading = { ...input, strict: input.requireAccounts ?? true, problems: gatherProblems() };
  const env = environmentLayer(reading);
  const spec = fileSpec(reading);
  // What follows from a file that cannot be read is no news.
  const config = spec
    ? resolveConfig(spec, env, reading)
    : resolveConfig({ top: noLayer, entries: undefined }, env, { ...reading, strict: false });
  reading.problems.throwIfAny();
  return config;
}

/** What all the steps of one parse share. */
interface Reading extends ConfigInput {
  /** False where a missing url, token or account is no problem. */
  readonly strict: boolean;
  readonly problems: Problems;
}

/** What is given, by key. */
type Layer = ReadonlyMap<string, Given>;
const noLayer: Layer = new Map();

/** One account, untrusted. */
interface EntrySpec {
  /** Where something missing in it is told. */
  readonly place: Place;
  readonly keys: Layer;
}

/** What the file says, untrusted. */
interface ConfigSpec {
  readonly top: Layer;
  /** Undefined where there is no list of accounts. */
  readonly entries: readonly EntrySpec[] | undefined;
}

/** What the environment says, by key; variables that are none of ours are reported. Empty ones count as unset. */
function environmentLayer({ env, text = '', problems }: Reading): Layer {
  const layer = new Map<string, Given>();
  for (const [variable, key] of configVariables) {
    const value = variableValue(env, variable);
    if (value === undefined) continue;
    layer.set(key, { where: variable, value });
    if (key === 'token') problems.keepSecret(value);
  }
  const known = variableKeys.map(variableOf);
  // A variable that the file itself refers to is not one of ours, misspelt.
  const referenced = new Set([...text.matchAll(/\$\{(\w+)\}/g)].map((match) => match[1]));
  for (const variable of Object.keys(env)) {
    if (!variable.startsWith('COSTBOOK_') || known.includes(variable) || referenced.has(variable)) continue;
    if (variableValue(env, variable) === undefined) continue;
    const where = /^\w+$/.test(variable) ? variable : quoted(variable);
    const guess = nearest(variable.slice('COSTBOOK_'.length), variableKeys);
    const hint = guess ? `did you mean ${variableOf(guess)}?` : 'costbook reads none of this name;';
    problems.report({ where }, `unknown variable; ${hint} rename or unset it`);
  }
  return layer;
}

/** What the file says, or undefined where it cannot be read at all (the reasons are reported). */
function fileSpec({ text = '', file, env, problems }: Reading): ConfigSpec | undefined {
  const { root, isSound } = parseYaml(text, file, problems);
  const tokens = [...textsUnder('token', root), ...workspaceTokens(root)];
  const sinks =
    root.value !== null && typeof root.value === 'object' && root.value?.kind === 'mapping'
      ? root.value.entries.find(({ key }) => key.value === 'sinks')?.value
      : undefined;
  if (sinks !== undefined) for (const key of secretKeys) tokens.push(...textsUnder(key, sinks));
  for (const token of tokens) {
    // A mere reference is no secret; what it leads to is.
    if (!/^\$\{\w+\}$/.test(token)) problems.keepSecret(token);
    problems.keepSecret(expand(token, env).text);
  }
  if (!isSound) return undefined;
  const written = root.value === null ? noLayer : keysOf(root, topRule, problems);
  const top = written && withGroups(written, problems);
  const accounts = top?.get('accounts');
  if (!top || !accounts) return top && { top, entries: undefined };

  const short = top.get('account');
  if (short) {
    problems.report(short, 'found next to accounts, expected only one of the two; move it into the list, as an id');
  }
  const items = itemsOf(accounts, 'a list with an entry such as - id: …; write one or remove it', problems);
  const entries = items.flatMap((item) => {
    const keys = keysOf(item, entryRule, problems);
    return keys ? [{ place: { where: item.where, position: item.position }, keys }] : [];
  });
  return { top, entries };
}

/** What is written in the place of a workspace's token, as it is written and as it is read. */
function* workspaceTokens({ value }: Given, isUnderTokens = false): Generator<string> {
  if (typeof value !== 'object' || value === null) return;
  if (value.kind === 'list') {
    for (const item of value.items) yield* workspaceTokens(item);
    return;
  }
  for (const { key, value: given } of value.entries) {
    if (isUnderTokens && (typeof given.value === 'string' || typeof given.value === 'number')) {
      yield* [given.source ?? '', String(given.value)];
    } else yield* workspaceTokens(given, key.value === 'tokens');
  }
}

/** The keys of the top level, with those of its groups under their long names in the groups' place. */
function withGroups(top: Layer, problems: Problems): Layer {
  const layer = new Map(top);
  for (const { name, keys, expected } of groups) {
    const group = top.get(name);
    if (!group) continue;
    layer.delete(name);
    const elsewhere = [topPlace, entryPlace, ...groupPlaces.filter(({ place }) => place !== name)];
    for (const [key, given] of keysOf(group, { keys, expected, elsewhere }, problems) ?? []) {
      layer.set(`${name}.${key}`, { ...given, key: `${name}.${key}` });
    }
  }
  return layer;
}

function resolveConfig(spec: ConfigSpec, env: Layer, reading: Reading): LocalConfig {
  const layer = overlay(spec.top, env);
  function setting<T>(key: (typeof settingKeys)[number], parse: Parse<T>): T | undefined {
    return read(layer.get(key), parse, reading);
  }
  const accounts = resolveAccounts(spec, env, reading);
  const authorizationHeader = setting('authorizationHeader', parseHeaderName) ?? 'Authorization';
  const versionHeader = setting('versionHeader', parseHeaderName) ?? 'Service-Version';
  if (authorizationHeader.toLowerCase() === versionHeader.toLowerCase()) {
    const given = layer.get('versionHeader') ?? layer.get('authorizationHeader');
    if (given) reading.problems.report(given, 'found the same name for both headers, expected two; change one of them');
  }
  const sinksGiven = spec.top.get('sinks');
  const sinkReading = { ...reading, strict: reading.requireSinks ?? false };
  const sinks =
    sinksGiven === undefined
      ? []
      : readSinks(sinksGiven, (given, parse) => read(given, parse, sinkReading, true), reading.problems);
  const accountName = layer.get('focus.accountName');
  if (accountName && accounts.length > 1) {
    reading.problems.report(
      accountName,
      `found one name for ${accounts.length} accounts, expected one for each; remove it and write name in their entries`,
    );
  }
  return {
    accounts,
    concurrency: setting('concurrency', integerParser(1, 32)) ?? 4,
    maxRequestsPerMinute: setting('maxRequestsPerMinute', integerParser(1)),
    settleDays: setting('settleDays', integerParser(0, 90)) ?? 3,
    closeAfterDays: setting('closeAfterDays', integerParser(0, 90)) ?? 3,
    lagHours: setting('lagHours', integerParser(0, 72)) ?? 2,
    freshnessHours: setting('freshness', parseHours) ?? 26,
    verifyDays: setting('verifyDays', integerParser(0, maxDays)) ?? 400,
    deepVerifyPages: setting('deepVerifyPages', integerParser(0)) ?? 2,
    proofTolerance: setting('proof.tolerance', parseTolerance),
    landing: {
      keep: setting('landing.keep', parseKeep) ?? 'changed',
      keepDays: setting('landing.keepDays', integerParser(1, maxDays)),
    },
    focus: {
      provider: setting('focus.provider', parseName) ?? 'Cloud Workload Platform',
      accountName: setting('focus.accountName', parseName),
    },
    sinks,
    alerts: {
      notify: readSinkNames(layer.get('alerts.notify'), sinks, reading.problems) ?? sinks.map(({ name }) => name),
      giveUpDays: setting('alerts.giveUpDays', integerParser(1, 365)) ?? 7,
      severity: readSeverities(layer.get('alerts.severity'), reading.problems),
      project: setting('alerts.project', parseName),
    },
    apiVersion: setting('apiVersion', parseApiVersion) ?? earliestVersion,
    authorizationHeader,
    versionHeader,
    fileMode: setting('fileMode', parseFileMode) ?? 0o600,
  };
}

/** A hundred years: what is longer is a mistake, and would leave the calendar. */
const maxDays = 36_500;

/** USD as plain decimal text. A YAML number is read by its shortest form: 1e-6 is 0.000001. */
const parseTolerance: Parse<string> = (value) => {
  // The books keep twelve decimals; toFixed writes no exponent below 1e21.
  const text = typeof value === 'number' ? trimmedDecimal(value.toFixed(12)) : value;
  const isExact = typeof value !== 'number' || Number(text) === value;
  if (typeof text === 'string' && isExact && /^(0|[1-9]\d{0,5})(\.\d{1,12})?$/.test(text)) return text;
  const found = typeof value === 'string' ? quoted(value) : typeof value === 'number' ? value : 'no amount';
  throw new UsageError(`found ${found}, expected USD such as 0.01: from 0 to 999999, with at most 12 decimals`);
};

function trimmedDecimal(text: string): string {
  return text.replace(/\.?0+$/, '').replace(/^-0$/, '0');
}

const parseKeep: Parse<'changed' | 'all'> = (value) => {
  if (value === 'changed' || value === 'all') return value;
  const text = parseText(value);
  const guess = nearest(text, ['changed', 'all']);
  throw new UsageError(`found ${quoted(text)}, expected changed or all${guess ? `; did you mean ${guess}?` : ''}`);
};

/** A duration in whole hours from `26h` or `2d`, at most a year. */
function parseHours(value: unknown): number {
  const hours = ((typeof value === 'string' ? parseDuration(value) : undefined) ?? 0) / hourMs;
  if (Number.isInteger(hours) && hours >= 1 && hours <= 8760) return hours;
  throw new UsageError(
    `found ${typeof value === 'string' ? quoted(value) : 'no text'}, expected a duration such as 26h or 2d`,
  );
}

/** The upper layer over the lower one. A token source replaces the other whole, whatever its kind. */
function overlay(lower: Layer, upper: Layer): Layer {
  const hidden: readonly string[] = hasToken(upper) ? tokenKeys : [];
  return new Map([...[...lower].filter(([key]) => !hidden.includes(key)), ...upper]);
}

function hasToken(layer: Layer): boolean {
  return tokenKeys.some((key) => layer.has(key));
}

/** An account whose id is read already: the other entries are told apart by it. */
interface Entry extends EntrySpec {
  readonly id: string | undefined;
}

function resolveAccounts(spec: ConfigSpec, env: Layer, reading: Reading): readonly LocalAccount[] {
  const specs = spec.entries ?? [shortEntry(spec.top, reading.file)];
  const isOneOfSeveral = specs.length > 1;
  const entries = specs.map((entry) => {
    const given = (isOneOfSeveral ? undefined : env.get('account')) ?? entry.keys.get('id');
    return { ...entry, id: read(given, parseAccountId, reading, true) };
  });
  reportRepeatedIds(entries, reading.problems);
  const target = isOneOfSeveral ? environmentTarget(entries, env, reading) : entries[0];

  // What is written is read even where nobody needs it, so that a mistake does not wait for the day somebody does;
  // only what the environment overrides is left alone.
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
  // Without a list, and with nothing known, there is none.
  return accounts.filter(
    ({ inventory: _, ...account }) => spec.entries || Object.values(account).some((value) => value !== undefined),
  );
}

/** Without a list there is one account, and the top level speaks about it. */
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

/** The one of several entries about which the account variables of the environment speak, if they do. */
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
      `found it set while ${file} lists ${entries.length} accounts, expected COSTBOOK_ACCOUNT to say which one it is ` +
        `for; set that to ${expected}, or unset this`,
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
    const ways = `write ${oneOf(keys)} ${where} ${oneOf(keys.map(variableOf))}`;
    problems.report(entry.place, `${who}found no ${what}; ${ways}`);
  }
  if (reading.text === undefined && !layer.has('url')) {
    problems.report(
      { ...entry.place, where: dirname(file) },
      `found no ${basename(file)} in this folder and no COSTBOOK_URL, expected one of the two; ` +
        'begin with "costbook init", name the folder that has the file with --dir (COSTBOOK_DIR), ' +
        'or set COSTBOOK_URL, COSTBOOK_TOKEN, COSTBOOK_ACCOUNT and COSTBOOK_SINCE',
    );
    return;
  }
  if (!layer.has('url')) report("url, expected the platform's address", ['url']);
  if (!hasToken(layer)) report('token, expected one source of it', tokenKeys);
  if (isOneOfSeveral && !entry.keys.has('id')) {
    problems.report(entry.place, 'found no id, expected one in each of several accounts; write id in this entry');
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
 * Whether and with whose tokens an account's resources are listed. The environment only says whether: what it says goes
 * for all accounts. Tokens of several accounts stand in their entries, as workspaces are an account's own.
 */
function readInventory(entry: EntrySpec, spec: ConfigSpec, env: Layer, reading: Reading): InventoryConfig | undefined {
  const asked = read(env.get('inventory'), parseSwitch, reading);
  const given = entry.keys.get('inventory') ?? spec.top.get('inventory');
  if (given === undefined) return asked === undefined ? undefined : { isRead: asked, tokens: [] };
  if (typeof given.value !== 'object' || given.value === null) {
    const isRead = asked ?? read(given, parseSwitch, reading);
    return isRead === undefined ? undefined : { isRead, tokens: [] };
  }
  const tokens = keysOf(given, inventoryRule, reading.problems)?.get('tokens');
  if (tokens !== undefined && given === spec.top.get('inventory') && (spec.entries?.length ?? 1) > 1) {
    const text = `found tokens for ${spec.entries?.length} accounts, expected them in the entry of the account whose workspaces they are for; move them there`;
    reading.problems.report(tokens, text);
  }
  return { isRead: asked ?? true, tokens: tokens === undefined ? [] : readWorkspaceTokens(tokens, reading) };
}

const inventoryRule: MappingRule = {
  keys: ['tokens'],
  expected: 'true, false, or tokens: with a token for each workspace; write one or remove it',
  elsewhere: [topPlace, entryPlace],
};

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
  expected: 'a token, or one of tokenFile and tokenCommand; write one',
};

/** True or false; from the environment it comes as text. */
const parseSwitch: Parse<boolean> = (value) => {
  if (typeof value === 'boolean') return value;
  if (value === 'true' || value === 'false') return value === 'true';
  throw new UsageError(`found ${typeof value === 'string' ? quoted(value) : 'something else'}, expected true or false`);
};

/** The one token source of a layer; a second one is reported. */
function readTokenSource(layer: Layer, reading: Reading): TokenSource | undefined {
  const [first, ...others] = tokenKeys.filter((key) => layer.has(key));
  if (first === undefined) return undefined;
  const name = layer.get(first)?.position ? first : variableOf(first);
  for (const key of others) {
    const text = `found next to ${name}, expected one source of the token; remove one of them`;
    reading.problems.report(layer.get(key) ?? endOf(reading.file), text);
  }
  const parsers = { token: parseToken, tokenFile: tokenFileParser(reading.file), tokenCommand: parseTokenCommand };
  const [source] = [first, ...others].map((key) => read(layer.get(key), parsers[key], reading, true));
  return source;
}

/**
 * Reads what was given, if it was: a mistake is reported and gives undefined.
 * `mayLack` is for what commands that never talk to the platform do without, also where a reference leads nowhere.
 */
function read<T>(given: Given | undefined, parse: Parse<T>, reading: Reading, mayLack = false): T | undefined {
  // A value of the environment is taken as it is.
  if (typeof given?.value !== 'string' || !given.position) return readValue(given, parse, reading.problems);
  const { text, unset, malformed } = expand(given.value, reading.env);
  const faults = [...malformed, ...unset];
  if (faults.length === 0) return readValue({ ...given, value: text }, parse, reading.problems);
  const isLacking = mayLack && !reading.strict && malformed.length === 0;
  if (!isLacking) for (const fault of faults) reading.problems.report(given, fault);
  return undefined;
}

/** Refuses a value, saying what was found and what was expected, unless the condition holds. */
function demand(condition: boolean, message: string): asserts condition {
  if (!condition) throw new UsageError(message);
}

function textParser(isRight: (text: string) => boolean, expected: string, maxLength?: number): Parse<string> {
  return (value) => {
    const text = parseText(value, maxLength);
    demand(isRight(text), `found ${quoted(text)}, expected ${expected}`);
    return text;
  };
}

const parseName = textParser(
  (text) => !/[\p{Cc}\p{Cs}]/u.test(text),
  'a text without control characters; remove them',
  200,
);

const parseAccountId: Parse<string> = (value) => {
  const id = parseName(value);
  const fault = accountIdFault(id);
  demand(fault === undefined, `found ${quoted(id)}, which is ${fault}, expected the id of an account; correct it`);
  return id;
};

const parseHeaderName = textParser(
  (text) => /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(text),
  'the name of an HTTP header: letters, digits and -',
);

const parseApiVersion = textParser(
  (text) => parseRfc3339(`${text.replace(/\.preview$/, '')}T00:00:00Z`) !== undefined,
  `a version such as ${earliestVersion} or 2026-04-28.preview`,
);

const parseUrl: Parse<string> = (value) => {
  const text = parseText(value);
  // Never shown: what is wrong with it may be that it holds a password.
  const url = /^https?:\/\/[^\s\\]+$/i.test(text) && URL.canParse(text) ? new URL(text) : undefined;
  demand(url !== undefined, 'found no http or https address, expected one such as https://api.example.com');
  demand(
    url.username === '' && url.password === '',
    'found credentials in the address, expected none; give them as token, tokenFile or tokenCommand',
  );
  demand(!/[?#]/.test(text), 'found a query or fragment in the address, expected none; remove it');
  let end = url.href.length;
  while (url.href[end - 1] === '/') end -= 1;
  return url.href.slice(0, end);
};

const parseToken: Parse<TokenSource> = (value) => {
  const text = parseText(value);
  const fault = tokenFault(text);
  demand(fault === undefined, `${fault}; write the token alone`);
  return { kind: 'value', value: text };
};

/** A path relative to the file in which it stands. */
function tokenFileParser(file: string): Parse<TokenSource> {
  return (value) => {
    const path = parseSystemText(value);
    demand(!path.startsWith('~/'), 'found ~, which only a shell understands, expected a path; write an absolute one');
    return { kind: 'file', path: resolve(dirname(file), path) };
  };
}

const parseTokenCommand: Parse<TokenSource> = (value) => {
  const command = parseSystemText(value);
  demand(command.trim() !== '', 'found only spaces, expected a command line; write one');
  return { kind: 'command', command };
};

/** A text that the system can take as a path or a command line. */
const parseSystemText: Parse<string> = (value) => {
  const text = parseText(value, 8192);
  demand(!text.includes('\0'), 'found a NUL character, expected none; remove it');
  return text;
};

function sinceParser(now: Instant): Parse<Instant> {
  return (value) => {
    const text = parseText(value);
    const found = `found ${quoted(text)}, expected`;
    let instant: Instant;
    try {
      instant = parseInstant(text, 'since', now);
    } catch (error) {
      // Its own message shows the text as it is, which may be anything.
      if (!(error instanceof UsageError)) throw error;
      throw new UsageError(`${found} a date: 2026-10-01, 2026-10, 2026-10-01T00:00:00Z or -7d (all UTC)`);
    }
    const hour = floorHour(instant);
    demand(instant === hour, `${found} a whole hour of UTC; write ${formatInstant(hour)}`);
    demand(instant <= now, `${found} an instant not after now, ${formatInstant(now)}; correct it`);
    return instant;
  };
}
