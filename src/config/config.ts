import { join } from 'node:path';
import { mistakenSettings, type UsageError } from '../base/errors.ts';
import { earliestVersion } from '../platform/interface/index.ts';
import {
  choiceParser,
  gatherProblems,
  integerParser,
  type Parse,
  type Problems,
  readYamlFile,
  withoutMistakes,
} from '../yaml/index.ts';
import { type AccountConfig, type LocalAccount, resolveAccounts } from './accounts.ts';
import { type CalendarSettings, readCalendar } from './calendar-settings.ts';
import { type CurrencySettings, currencyShape } from './currency-settings.ts';
import { type EngineSettings, engineShape } from './engine-settings.ts';
import {
  type ConfigInput,
  type ConfigSpec,
  environmentLayer,
  expanded,
  fileSpec,
  type Layer,
  noLayer,
  overlay,
  type Reading,
  read,
  readSetting,
} from './environment-and-file.ts';
import { parseFileMode } from './file-mode.ts';
import { readHeaderNames, readHeaders } from './header-settings.ts';
import type { settingKeys } from './keys.ts';
import { readServe, type ServeSettings } from './serve-settings.ts';
import {
  type AlertSeverities,
  alertSinksOf,
  readSeverities,
  readSinkNames,
  readSinks,
  type Sink,
} from './sink-settings.ts';
import { type Destination, parseDestination, readStorage, type StorageSettings } from './storage-settings.ts';
import { readSubscriptions, type Subscription } from './subscription-settings.ts';
import { parseApiVersion, parseHours, parseName, parseSandboxUrl, parseTolerance, parseUrl } from './values.ts';

/**
 * Hours after which books are out of date, if nothing is configured. The nightly run of 02:15 loads hours before 00:00: books
 * are 26 h 15 min old when the next one begins, and it has nearly four hours to end.
 */
export const usualFreshnessHours = 30;

/** The configuration of a command that never contacts the platform: url and token may be missing. */
export interface LocalConfig {
  readonly accounts: readonly LocalAccount[];
  readonly concurrency: number; // 4
  readonly maxRequestsPerMinute: number | undefined; // no limit
  readonly settleDays: number; // 3
  /** Days after its end from which a month may be closed. */
  readonly closeAfterDays: number; // 3
  readonly lagHours: number; // 2
  readonly freshnessHours: number; // usualFreshnessHours
  readonly verifyDays: number; // 400
  readonly deepVerifyPages: number; // 2
  /** Days that may cost more or less than others. */
  readonly calendar: CalendarSettings;
  /** USD by which rows and control may differ, as plain decimal text; undefined if computed. */
  readonly proofTolerance: string | undefined;
  /** Which answers stay in the landing folder, and for how many days; undefined means for ever. */
  readonly landing: {
    readonly keep: 'changed' | 'all'; // changed
    readonly keepDays: number | undefined;
    /** Where copies of the answers go, before old ones are removed here. */
    readonly archive: Destination | undefined;
  };
  /** Days after the end of a closed month in which its invoice comes; undefined: as earlier months had one. */
  readonly invoiceDays: number | undefined;
  /** Where copies of all exports go; undefined if they only stay here. */
  readonly exportsTo: Destination | undefined;
  /** How object stores are reached. */
  readonly storage: StorageSettings;
  /** Names in a FOCUS export: the provider, and an account name that overrides the account's own. */
  readonly focus: { readonly provider: string; readonly accountName: string | undefined }; // Cloud Workload Platform
  /** Where alerts are sent. */
  readonly sinks: readonly Sink[];
  /** The default sinks, and the days after which an undelivered message is given up. */
  readonly alerts: {
    readonly notify: readonly string[];
    readonly giveUpDays: number;
    /** Severities of alerts about the data that differ from the defaults, by kind. */
    readonly severity: AlertSeverities;
    /** The project's name in messages; undefined for the folder's name. */
    readonly project: string | undefined;
  }; // all sinks; 7; defaults
  /** Who gets which files by mail; undefined with mistakes in them. */
  readonly subscriptions: readonly Subscription[] | undefined;
  /** Who may open the dashboard, and under which names. */
  readonly serve: ServeSettings; // this machine only
  /** The cluster that runs reports with --engine; undefined if none is configured. */
  readonly engine: EngineSettings | undefined;
  /** The second currency beside USD; undefined if none is configured. */
  readonly currency: CurrencySettings | undefined;
  /** Where people open the dashboard, without a slash at its end; messages then link to it. */
  readonly dashboardUrl: string | undefined;
  readonly apiVersion: string; // the earliest version, the platform's own default
  readonly authorizationHeader: string; // Authorization
  readonly versionHeader: string; // Service-Version
  /** The header that names the workspace of a request; undefined if the platform wants none. */
  readonly workspaceHeader: string | undefined;
  /** The header of an agent's thread. */
  readonly threadHeader: string; // X-Service-Thread-Id
  /** More headers that the platform wants with every request, by name. Values may be secrets. */
  readonly headers: Readonly<Record<string, string>>;
  /** Root of the inference host; undefined if it is not configured. */
  readonly inferenceUrl: string | undefined;
  /** A sandbox's own host, with `{sandbox}`, `{workspace}` and `{region}`; undefined if it is not configured. */
  readonly sandboxUrl: string | undefined;
  /** The mode of new files; folders also get x for each r. */
  readonly fileMode: number; // 0600
}

/** The configuration, every field resolved. */
export interface Config extends LocalConfig {
  /** At least one. */
  readonly accounts: readonly AccountConfig[];
}

/** `dir` is the project folder, absolute. */
type ConfigPlace = Omit<ConfigInput, 'text' | 'file'> & { readonly dir: string };

/**
 * Reads `costbook.yaml` in the project folder, if it exists, and the environment.
 * Throws one UsageError whose message lists every mistake, one per line, and never contains a token.
 */
export function loadConfig(place: ConfigPlace & { readonly requireAccounts: false }): LocalConfig;
export function loadConfig(place: ConfigPlace & { readonly requireAccounts?: true }): Config;
export function loadConfig(place: ConfigPlace): LocalConfig {
  const { config, mistakes } = loadReadable(place);
  if (mistakes !== undefined) throw mistakes;
  return config;
}

/**
 * The configuration as far as it can be read, and one error with every mistake, for commands that must not fall silent.
 * Unless the sinks are required, mistakes in them are none: a sink must not stop what notifies nobody.
 */
export function loadReadable(place: ConfigPlace): {
  readonly config: LocalConfig;
  readonly mistakes: UsageError | undefined;
} {
  const file = join(place.dir, 'costbook.yaml');
  const ignoresSinks = place.requireSinks !== true;
  return resolve({ ...place, text: readYamlFile(file), file }, { ignoresSinks });
}

/**
 * Resolves a configuration: for each key, the environment overrides the file, which overrides the default. Pure.
 * Throws one UsageError whose message lists every mistake, one per line: those in the file by position
 * (`file:line:column: …`), then missing keys, then those in the environment (`COSTBOOK_…: …`). Never contains a token.
 */
export function parseConfig(input: ConfigInput & { readonly requireAccounts: false }): LocalConfig;
export function parseConfig(input: ConfigInput & { readonly requireAccounts?: true }): Config;
export function parseConfig(input: ConfigInput): LocalConfig;
export function parseConfig(input: ConfigInput): LocalConfig {
  const { config, mistakes } = resolve(input, { ignoresSinks: false });
  if (mistakes !== undefined) throw mistakes;
  return config;
}

function resolve(input: ConfigInput, { ignoresSinks }: { readonly ignoresSinks: boolean }) {
  const reading = { ...input, strict: input.requireAccounts ?? true, problems: gatherProblems(input.keepSecret) };
  const env = environmentLayer(reading);
  const spec = fileSpec(reading) ?? { top: noLayer, entries: undefined, isSound: false };
  // Mistakes that follow from an unreadable file are not reported.
  const ofSinks = ignoresSinks || !spec.isSound ? withoutMistakes(reading.problems) : reading.problems;
  const config = resolveConfig(spec, env, spec.isSound ? reading : { ...reading, strict: false }, ofSinks);
  return { config, mistakes: reading.problems.error({ code: mistakenSettings }) };
}

function readCurrency(given: Parameters<typeof readSetting>[0], reading: Reading): CurrencySettings | undefined {
  const currency = readSetting(given, currencyShape, reading);
  return currency && { ...currency, where: given?.where };
}

/** A hundred years: anything longer is a mistake, and would exceed the calendar. */
const maxDays = 36_500;

function resolveConfig(spec: ConfigSpec, env: Layer, reading: Reading, ofSinks: Problems): LocalConfig {
  const layer = overlay(spec.top, env);
  function setting<T>(key: (typeof settingKeys)[number], parse: Parse<T>): T | undefined {
    return read(layer.get(key), parse, reading);
  }
  const accounts = resolveAccounts(spec, env, reading);
  const headerNames = readHeaderNames(layer, reading);
  const sinksGiven = spec.top.get('sinks');
  const sinkReading = { ...reading, strict: reading.requireSinks ?? false, problems: ofSinks };
  const sinks =
    sinksGiven === undefined
      ? []
      : readSinks(
          expanded(sinksGiven, sinkReading),
          { accounts: accounts.map(({ id }) => id), hasInferenceUrl: layer.has('inferenceUrl') },
          ofSinks,
        );
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
    freshnessHours: setting('freshness', parseHours) ?? usualFreshnessHours,
    verifyDays: setting('verifyDays', integerParser(0, maxDays)) ?? 400,
    deepVerifyPages: setting('deepVerifyPages', integerParser(0)) ?? 2,
    calendar: readCalendar(layer.get('calendar'), reading.problems),
    proofTolerance: setting('proof.tolerance', parseTolerance),
    landing: {
      keep: setting('landing.keep', choiceParser(['changed', 'all'])) ?? 'changed',
      keepDays: setting('landing.keepDays', integerParser(1, maxDays)),
      archive: setting('landing.archive', parseDestination),
    },
    invoiceDays: setting('closing.invoiceDays', integerParser(0, 366)),
    exportsTo: setting('exports.to', parseDestination),
    storage: readStorage(setting),
    focus: {
      provider: setting('focus.provider', parseName) ?? 'Cloud Workload Platform',
      accountName: setting('focus.accountName', parseName),
    },
    sinks,
    alerts: {
      notify: readSinkNames(layer.get('alerts.notify'), sinks, ofSinks) ?? alertSinksOf(sinks),
      giveUpDays: setting('alerts.giveUpDays', integerParser(1, 365)) ?? 7,
      severity: readSeverities(layer.get('alerts.severity'), reading.problems),
      project: setting('alerts.project', parseName),
    },
    subscriptions: readSubscriptions(spec.top.get('subscriptions'), sinks, sinkReading),
    serve: readServe(layer, { ...reading, strict: reading.requireServe ?? false }),
    engine: readSetting(spec.top.get('engine'), engineShape, reading),
    currency: readCurrency(spec.top.get('currency'), reading),
    dashboardUrl: setting('dashboardUrl', parseUrl),
    apiVersion: setting('apiVersion', parseApiVersion) ?? earliestVersion,
    ...headerNames,
    headers: readHeaders(spec.top.get('headers'), Object.values(headerNames), reading),
    inferenceUrl: setting('inferenceUrl', parseUrl),
    sandboxUrl: setting('sandboxUrl', parseSandboxUrl),
    fileMode: setting('fileMode', parseFileMode) ?? 0o600,
  };
}
