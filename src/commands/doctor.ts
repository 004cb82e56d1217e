import { access, constants, stat, statfs } from 'node:fs/promises';
import { totalmem } from 'node:os';
import { dirname, join } from 'node:path';
import { allOpenAlerts, countWords, sinkFault, unstoredStill } from '../alerts/index.ts';
import { allocationFile, loadAllocation } from '../allocation/index.ts';
import type { Effects } from '../base/effects.ts';
import {
  CostbookError,
  exitCodeOf,
  exitCodes,
  firstSentence,
  isForRepair,
  messageOf,
  PlatformError,
  UsageError,
  worstExitCode,
} from '../base/errors.ts';
import { faultAndStep, unprovenWindowCode } from '../base/failure.ts';
import { memoryLimitMb } from '../base/memory.ts';
import { causeInMisplaced, describeMisplaced, misplacedFiles } from '../base/misplaced.ts';
import {
  act,
  clockStep,
  type NextStep,
  nextWords,
  refusedListingStep,
  wait,
  waitForPlatform,
} from '../base/next-step.ts';
import { nodeVersion, version } from '../base/version.ts';
import { budgetsFile, loadBudgets, staleCounts } from '../budgets/index.ts';
import {
  type ActingSettings,
  alertSinksOf,
  holidaysOf,
  isActing,
  isStandardSecret,
  type LocalAccount,
  type LocalConfig,
  loadConfig,
  readToken,
  secretsOf,
  umaskOf,
} from '../config/index.ts';
import { areOld, oldAfterDays, readRates } from '../currency/index.ts';
import { openLandingWriter } from '../fetch/index.ts';
import { alertRows, diskKey, isRefusedClose, isSameCause, type OpenAlert, stepAfterRun } from '../findings/index.ts';
import { checkLanding, reducedAccessOf, refusedListings } from '../ingest/index.ts';
import { readJobs } from '../jobs/index.ts';
import { expiryOf, listings, type PlatformDifferences } from '../platform/index.ts';
import { runChecks } from '../query/index.ts';
import { readReports } from '../reports/index.ts';
import { textOrNull } from '../tables/optional-text.ts';
import { folded } from '../terminal/index.ts';
import { counted } from '../text/counted.ts';
import { forTerminal, shorten } from '../text/safe-text.ts';
import { clockToleranceMs } from '../time/clock.ts';
import { describeSpan, formatInstant, formatSecond, hourMs, type Instant } from '../time/time.ts';
import {
  type Books,
  type Connection,
  completeness,
  findTraces,
  lastClocks,
  loadsOfSnapshot,
  openBooks,
  readAllTables,
  readChecks,
  readSeal,
  readSql,
  type SqlRow,
  snapshotFile,
  type UnendedRun,
  unendedRun,
  warehouseBytes,
  warehouseFault,
} from '../warehouse/index.ts';
import { futureInstants } from './books-clock.ts';
import type { Command, CommandContext } from './command.ts';
import { findOnPlatform } from './doctor-acting-sinks.ts';
import { faultsOfFiles, unpublishedLoads } from './files-of-books.ts';
import { expectJobs } from './job-mistakes.ts';
import { type AccountSeen, askPlatform } from './platform-access.ts';
import { undelivered } from './undelivered.ts';
import { unendedWords } from './unended-words.ts';

export const doctorCommand: Command = {
  name: 'doctor',
  summary: 'Check everything that a nightly run needs: configuration, token, platform, machine, books, sinks.',
  options: [
    { flags: '--offline', summary: 'contact neither the platform nor the sinks' },
    { flags: '--deep', summary: 'also read every stored page of the platform and compare its hash' },
  ],
  needsProject: () => false,
  examples: ['costbook doctor', 'costbook doctor --offline --deep', 'costbook doctor --json'],
  async run(input, context) {
    const isOffline = input.options['offline'] === true;
    const isNowGiven = typeof input.options['now'] === 'string' || Boolean(context.env['COSTBOOK_NOW']);
    const findings: Finding[] = [];
    async function look(subject: string, work: () => Promise<readonly Found[]> | readonly Found[]): Promise<void> {
      context.progress?.(`checking ${subject}`);
      context.signal.throwIfAborted();
      let found: readonly Found[];
      try {
        found = await work();
      } catch (error) {
        context.signal.throwIfAborted();
        if (causeInMisplaced(error, context.dir).length > 0) return; // reported with the files
        // What cannot be checked counts as failed; bugs are thrown on.
        if (exitCodeOf(error) === exitCodes.bug) throw error;
        found = faultsIn(error);
      }
      for (const { state, found: words, remedy, exitCode } of found) {
        // Several checks may meet the same fault; it is reported once.
        if (state !== 'ok' && findings.some((before) => isSameFault(before, context.redact(words)))) continue;
        const own = context
          .redact(words)
          .replace(/^account ([^,:]+): /, (prefix, id) => (subject.endsWith(` ${id}`) ? '' : prefix));
        const finding = { subject, state, found: own, remedy: remedy ?? null, exitCode };
        findings.push(finding);
        if (!context.json) await context.write(folded(describe(finding), context.layout));
      }
    }

    await look('program', program);
    let read: LocalConfig | undefined;
    await look('configuration', () => {
      read = local(context);
      return configuration(context);
    });
    const config = read as LocalConfig | undefined; // assigned in a closure that the compiler does not see
    await look('jobs', () => jobs(config, context));
    if (config?.currency !== undefined) await look('currency', () => currency(config, context));
    await look('sql', () => sqlFiles(context));
    const seen = nothingSeen();
    const wrongNow = new Map<string, number>(); // how far the clock in use is ahead of the platform's, if it is wrong
    for (const account of config?.accounts ?? []) {
      const of = account.id === undefined ? '' : ` ${account.id}`;
      await look(`token${of}`, () => token(account, context, seen));
      if (config !== undefined && !isOffline)
        await look(`platform${of}`, () => platform(account, config, context, { isNowGiven, wrongNow, seen }));
    }
    await look('disk', () => disk(context, seen));
    await look('memory', memory);
    await look('files', () => misplaced(context));
    await look('files', () => fileModes(config, context));
    await look('books', () => books(config, context, wrongNow, seen));
    await look('writing', () => unstored(context.dir, seen));
    await look('landing', () => landing(config, context, input.options['deep'] === true));
    await look('alerts', () => alerts(context, wrongNow, seen));
    if (config !== undefined) {
      if (config.sinks.length === 0) {
        await look('sinks', () => [
          warn(
            'there are none, so nobody is notified of alerts',
            'add one under sinks in costbook.yaml; it then gets every open alert',
          ),
        ]);
      }
      for (const sink of config.sinks) {
        if (sink.settings?.type === 'webhook' && !isStandardSecret(sink.settings.secret)) {
          await look(`sink ${sink.name}`, () => [
            warn(
              'its secret does not start with whsec_, so Standard Webhooks libraries cannot verify the signature',
              'create one with: echo "whsec_$(openssl rand -base64 32)"',
            ),
          ]);
        }
        await look(`sink ${sink.name}`, async () => {
          const { settings } = sink;
          if (settings === undefined) return []; // reported with the configuration, with file and line
          if (isOffline) return [ok(`is of type ${settings.type}`)];
          if (isActing(settings)) return actingSink(sink.name, settings, config, context);
          const fault = await sinkFault(settings, context.signal);
          return fault === undefined
            ? [ok(settings.type === 'log' ? 'writes to the log' : 'can be reached; nothing was sent')]
            : [fail(exitCodes.undelivered, fault, `correct the sink, then run "costbook alerts test ${sink.name}"`)];
        });
      }
    }
    context.progress?.('');
    const exitCode = worstExitCode(findings.flatMap((finding) => (finding.state === 'fail' ? [finding.exitCode] : [])));
    if (context.json) await context.write(`${JSON.stringify({ exitCode, findings: findings.map(toJson) })}\n`);
    else await context.write(`${summary(findings)}\n`);
    return exitCode;
  },
};

/** Whether the agent, job or model of a sink exists. */
async function actingSink(
  name: string,
  settings: ActingSettings,
  config: LocalConfig,
  context: CommandContext,
): Promise<readonly Found[]> {
  const found = await findOnPlatform(settings, config, context);
  const test = `"costbook alerts test ${name}"`;
  switch (found.state) {
    case 'found':
      return [ok('exists; it was not called')];
    case 'unknown':
      return [warn(`could not be looked up: ${found.reason}`, `run ${test}, which calls the ${settings.type}`)];
    case 'disabled':
      return [fail(exitCodes.undelivered, found.reason, `switch it on, then run ${test}`)];
    case 'missing':
      return [fail(exitCodes.undelivered, found.reason, `correct the sink in costbook.yaml, then run ${test}`)];
  }
}

interface Found {
  readonly state: 'ok' | 'warn' | 'fail';
  readonly found: string;
  /** What to do; undefined if there is nothing to do. */
  readonly remedy?: string | undefined;
  readonly exitCode: number;
}

interface Finding extends Omit<Found, 'remedy'> {
  readonly subject: string;
  readonly remedy: string | null;
}

function ok(found: string): Found {
  return { state: 'ok', found, exitCode: exitCodes.done };
}

function warn(found: string, remedy: string): Found {
  return { state: 'warn', found, remedy, exitCode: exitCodes.done };
}

function fail(exitCode: number, found: string, remedy: string): Found {
  return { state: 'fail', found, remedy, exitCode };
}

/** What the checks of an account have found, which explains later findings. */
interface Seen {
  /** Accounts whose token has expired. */
  readonly expired: Set<string | undefined>;
  /** Why a platform does not answer as expected. */
  readonly platformFaults: string[];
  /** Keys of alerts that other findings report. */
  readonly alertKeys: Set<string>;
  /** Whether files of the books have faults that "costbook repair" heals. */
  isForRepair: boolean;
  /** Whether the disk lacks space. */
  lacksSpace: boolean;
}

function nothingSeen(): Seen {
  return { expired: new Set(), platformFaults: [], alertKeys: new Set(), isForRepair: false, lacksSpace: false };
}

/** The faults that an error names, each with its own step. */
function faultsIn(error: unknown): readonly Found[] {
  const exitCode = exitCodeOf(error);
  const { found, next } = faultAndStep(error);
  // That step ends with "run costbook doctor".
  const step = next === waitForPlatform ? platformStep : next;
  return found
    .split('\n')
    .map((line) => fail(exitCode, line, step === undefined ? usualStep(exitCode) : nextWords(step)));
}

const platformStep = wait(
  "the platform fails, not this machine. If it still fails in some hours, ask the platform's support.",
);

function usualStep(exitCode: number): string {
  if (exitCode === exitCodes.usage) return 'correct it, then run "costbook doctor" again';
  if (exitCode === exitCodes.platform) return nextWords(platformStep);
  return exitCode === exitCodes.locked ? 'wait until that process ends' : 'read the error, and correct what it names';
}

/** Whether an earlier finding reports the fault: with the same words, or as part of them. */
function isSameFault({ state, found }: Finding, words: string): boolean {
  return state !== 'ok' && (found === words || (words.length > 40 && found.includes(words)));
}

const nodeAtLeast = [20, 19] as const;

function program(): readonly Found[] {
  const [major = 0, minor = 0] = nodeVersion.split('.').map(Number);
  const isOld = major < nodeAtLeast[0] || (major === nodeAtLeast[0] && minor < nodeAtLeast[1]);
  const words = `Costbook ${version} on Node ${nodeVersion}`;
  return [
    isOld
      ? fail(exitCodes.machine, `${words}, which is too old`, `install Node ${nodeAtLeast.join('.')} or newer`)
      : ok(words),
  ];
}

/** The configuration, with missing settings left out; mistakes throw. */
function local({ dir, env, effects, keepSecret }: CommandContext): LocalConfig {
  const config = loadConfig({ dir, env, now: effects.now(), requireAccounts: false });
  for (const { settings } of config.sinks) {
    if (settings !== undefined) for (const secret of secretsOf(settings)) keepSecret(secret);
  }
  return config;
}

/** The problems that an ingest would report, one a line. */
function configuration({ dir, env, effects }: CommandContext): readonly Found[] {
  try {
    const config = loadConfig({ dir, env, now: effects.now(), requireSinks: true });
    holidaysOf(config.calendar, dir);
    const names = config.accounts.map(({ id }) => id ?? '(the only one that the token sees)').join(', ');
    return [ok(`account ${names}, with ${config.sinks.length} sink${config.sinks.length === 1 ? '' : 's'}`)];
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    return faultsIn(error);
  }
}

/** The file of rates of the second currency, and whether its last rate is old. */
function currency({ currency }: LocalConfig, { dir, effects }: CommandContext): readonly Found[] {
  if (currency === undefined) return [];
  try {
    const rates = readRates(currency, dir);
    const date = formatInstant(rates.at(-1)?.from ?? 0).slice(0, 10);
    const words = `${counted(rates.length, 'rate')} of ${currency.code}, the last of ${date}`;
    if (!areOld(rates, effects.now())) return [ok(words)];
    return [warn(`${words}, more than ${oldAfterDays} days ago`, `add newer rates to ${currency.rates}`)];
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    return faultsIn(error);
  }
}

/** Every file in jobs/ that a nightly run reads. */
async function jobs(config: LocalConfig | undefined, context: CommandContext): Promise<readonly Found[]> {
  const { dir, env, effects, keepSecret } = context;
  const now = effects.now();
  const found: Found[] = [];
  async function read(what: () => string | Promise<string>): Promise<void> {
    try {
      found.push(ok(await what()));
    } catch (error) {
      if (!(error instanceof UsageError)) throw error;
      found.push(...faultsIn(error));
    }
  }
  await read(async () => {
    const all = await expectJobs(readJobs({ dir, env, now, keepSecret, requirePing: false }), context);
    return `${all.map(({ name }) => name).join(', ')} are valid`;
  });
  await read(() => {
    const sinks = alertSinksOf(config?.sinks ?? []);
    const count = (loadBudgets(budgetsFile(dir), { now, sinks }) ?? []).length;
    return count === 0 ? 'no budgets' : `${count} budget${count === 1 ? '' : 's'}`;
  });
  await read(() => {
    const count = (loadAllocation(allocationFile(dir))?.definition.rules.length ?? 1) - 1; // the default is none
    return count === 0 ? 'no allocation rules' : `${count} allocation rule${count === 1 ? '' : 's'}`;
  });
  return found;
}

/** Every report and check: its header, and, if there are books, whether DuckDB accepts its SQL. */
async function sqlFiles({ dir, signal }: CommandContext): Promise<readonly Found[]> {
  const overlay = join(dir, 'sql');
  const [reports, checks] = await Promise.all([readReports(overlay), readChecks(overlay)]);
  const all = [...reports.map((report) => ({ ...report, severity: 'fail' as const })), ...checks];
  const tried = await triedInBooks(dir, all, signal);
  const problems = tried ?? all.flatMap(({ problem }) => problem ?? []);
  if (problems.length > 0) {
    return problems.map((words) => fail(exitCodes.usage, words, 'correct it, or move it away; the others work'));
  }
  const depth =
    tried === undefined ? ' (only headers checked: there are no books of this version to run their SQL on)' : '';
  return [ok(`${reports.length} reports and ${checks.length} checks are valid${depth}`)];
}

/** The SQL errors that DuckDB reports; undefined if no books can be read, which is a finding of its own. */
async function triedInBooks(
  dir: string,
  all: Parameters<typeof runChecks>[1],
  signal: AbortSignal,
): Promise<string[] | undefined> {
  if ((await stat(snapshotFile(dir)).catch(() => undefined)) === undefined) return undefined;
  try {
    return (await runChecks(dir, all, { isDry: true, signal })).flatMap(({ error }) => error?.message ?? []);
  } catch (error) {
    if (!(error instanceof CostbookError)) throw error;
    return undefined;
  }
}

async function token(
  account: LocalAccount,
  { dir, keepSecret, signal }: CommandContext,
  { expired }: Seen,
): Promise<readonly Found[]> {
  if (account.token === undefined) return []; // reported with the configuration
  const text = await readToken(account.token, { dir, keepSecret, signal });
  const expiresAt = expiryOf(text);
  const from = `from ${account.tokenSetting ?? account.token.kind}`;
  if (expiresAt === undefined) return [ok(`${from}; it has no expiry date`)];
  const at = formatInstant(expiresAt);
  const now = Date.now(); // the platform uses real time, also with --now
  if (expiresAt <= now) {
    expired.add(account.id);
    const place = account.tokenSetting ?? 'the configuration';
    return [fail(exitCodes.platform, `${from}, expired at ${at}`, `replace the token in ${place} with a new one`)];
  }
  // A command prints a new token every night.
  if (account.token.kind !== 'command' && expiresAt < now + 48 * hourMs) {
    return [warn(`${from}, expires at ${at}`, 'replace it before then, or use tokenCommand')];
  }
  return [ok(`${from}, valid until ${at}`)];
}

/** Beyond this, an hour may be over here but not on the platform. */
const skewLimitMs = 120_000;

async function platform(
  account: LocalAccount,
  config: LocalConfig,
  context: CommandContext,
  known: { readonly isNowGiven: boolean; readonly wrongNow: Map<string, number>; readonly seen: Seen },
): Promise<readonly Found[]> {
  const { url, token: source, tokenSetting } = account;
  if (url === undefined || source === undefined) return []; // reported already
  const asked = { ...config, url, token: source, tokenSetting, account: account.id };
  const { dir, effects } = context;
  const access: Found[] = [];
  async function inspect(about: AccountSeen): Promise<void> {
    access.push(...(await accessFound({ ...about, effects }, account, config, dir, known.seen)));
  }
  const seen = await askPlatform(asked, context, { compares: true, inspect }).catch((error: unknown) => {
    known.seen.platformFaults.push(messageOf(error));
    // The token is reported as expired: that is the step to take.
    if (error instanceof PlatformError && error.status === 401 && known.seen.expired.has(account.id)) return undefined;
    throw error;
  });
  if (seen === undefined) return [];
  const [only, ...others] = seen.accounts;
  if (only === undefined || others.length > 0) {
    return [
      fail(
        exitCodes.usage,
        `the token sees ${seen.accounts.length} accounts`,
        'set account in costbook.yaml to one of them',
      ),
    ];
  }
  const since =
    seen.historyStart === undefined ? 'no costs yet' : `costs since ${formatInstant(seen.historyStart).slice(0, 7)}`;
  const found: Found[] = [
    ok(`${url} works with API version ${config.apiVersion}; account ${only}, role ${seen.role}, ${since}`),
  ];
  const givenNow = known.isNowGiven ? context.effects.clockNow() : undefined;
  const clock = clockFound(seen.clockAheadMs, givenNow);
  if (clock.state === 'warn') {
    const aheadMs = (givenNow === undefined ? 0 : givenNow - Date.now()) + (seen.clockAheadMs ?? 0);
    // An instant in the past is on purpose.
    known.wrongNow.set(only, givenNow === undefined ? aheadMs : Math.max(0, aheadMs));
  }
  return [...found, ...access, clock, ...differencesFound(seen.differences)];
}

/** Where the token has less access than the books show, and which listings the platform refuses to it. */
async function accessFound(
  about: AccountSeen & Pick<CommandContext, 'effects'>,
  { id, inventory }: LocalAccount,
  config: LocalConfig,
  dir: string,
  seen: Seen,
): Promise<readonly Found[]> {
  const books = await presentBooks(dir, about.signal);
  try {
    const found = books === undefined ? [] : await reducedAccessFound(about, id, books, config);
    if (inventory?.isRead === false) return found;
    const refused = await refusedListingsFound(about, books?.connection);
    if (refused.length > 0) seen.alertKeys.add(`listings/${encodeURIComponent(about.account)}`);
    return [...found, ...refused];
  } finally {
    books?.close();
  }
}

async function reducedAccessFound(
  about: AccountSeen & Pick<CommandContext, 'effects'>,
  configured: string | undefined,
  books: Books,
  config: LocalConfig,
): Promise<readonly Found[]> {
  const known = (await completeness(books.connection)).map((each) => each.account);
  if (configured === undefined && known.length > 0 && !known.includes(about.account)) {
    const names = known.join(', ');
    return [
      warn(
        `the token sees account ${about.account}, and the books have ${names}: the next ingest adds an account`,
        `use a token of ${names}, or set account in costbook.yaml`,
      ),
    ];
  }
  const reduced = await reducedAccessOf(about, books, config);
  if (reduced === undefined) return [];
  const words = `${reduced.found}. The next ingest changes nothing and ends with exit code ${exitCodes.unproven}`;
  return [fail(exitCodes.unproven, words, nextWords(reduced.next))];
}

/** A member may not read every listing: refused ones count if the platform served them before, or serves none. */
async function refusedListingsFound(
  about: AccountSeen & Pick<CommandContext, 'effects'>,
  books: Connection | undefined,
): Promise<readonly Found[]> {
  const refused = await refusedListings(about);
  const { account } = about;
  const rows = (await books?.rows(await readSql('status', 'served_listings'), { account })) ?? [];
  const served = rows.map((row) => row['resource_type']);
  const missing =
    refused.length === listings.length ? refused : refused.filter((each) => served.includes(each.resourceType));
  const [first] = missing;
  if (first === undefined) return [];
  const names = missing.map(({ resourceType }) => resourceType).join(', ');
  const words = `the platform refuses to list ${names} (${first.error.status}): their costs have no labels`;
  return [warn(words, nextWords(refusedListingStep))];
}

/** The published books; undefined if they cannot be read, which is reported with them. */
async function presentBooks(dir: string, signal: AbortSignal): Promise<Books | undefined> {
  if ((await stat(snapshotFile(dir)).catch(() => undefined)) === undefined) return undefined;
  return openBooks(dir, { lockedDown: true, signal }).catch((error: unknown) => {
    if (exitCodeOf(error) === exitCodes.bug) throw error;
    return undefined;
  });
}

/** What the platform lists and Costbook does not know, or the other way round. */
function differencesFound({
  newDimensions,
  missingDimensions,
  newResourceTypes,
}: PlatformDifferences): readonly Found[] {
  const names = (list: readonly string[]) => shorten(list.join(', '), 200);
  const found: Found[] = [];
  if (missingDimensions.length > 0) {
    found.push(
      fail(
        exitCodes.platform,
        `the platform does not list ${names(missingDimensions)} among the dimensions of costs`,
        'ask the platform whether it still groups costs by them: Costbook needs all five',
      ),
    );
  }
  if (newDimensions.length > 0) {
    found.push(
      warn(
        `the platform also groups costs by ${names(newDimensions)}, which this version of Costbook does not store`,
        'nothing is missing from the costs; look for a newer version',
      ),
    );
  }
  if (newResourceTypes.length > 0) {
    found.push(
      warn(
        `the platform has costs of ${names(newResourceTypes)}, which its interface does not name`,
        'they are stored like all others; check that budgets and allocation rules cover them',
      ),
    );
  }
  return found;
}

/** The budgets for a cost per unit whose counts are far behind the costs. */
function countsFound(dir: string, now: Instant, costsThrough: Instant | undefined): readonly Found[] {
  try {
    const behind = (loadBudgets(budgetsFile(dir), { now }) ?? []).flatMap(
      (budget) => staleCounts(budget, costsThrough) ?? [],
    );
    return behind.map((words) => warn(words, 'continue the file of its counts'));
  } catch (error) {
    if (error instanceof UsageError) return []; // reported with the other files
    throw error;
  }
}

/** Through when the costs of every account are complete that is asked for. */
function earliest(
  accounts: Awaited<ReturnType<typeof completeness>>,
  configured: readonly string[],
): Instant | undefined {
  const own = accounts.filter(({ account }) => configured.length === 0 || configured.includes(account));
  const known = own.flatMap(({ completeThrough }) => completeThrough ?? []);
  return known.length === 0 || known.length < own.length ? undefined : Math.min(...known);
}

/** Compares the clock in use (`--now`, or else this machine's) with the platform's. */
export function clockFound(aheadMs: number | undefined, givenNow: Instant | undefined): Found {
  if (aheadMs === undefined) return ok('the platform sends no time, so clocks were not compared');
  if (givenNow !== undefined) {
    const givenAheadMs = givenNow - Date.now() + aheadMs;
    if (Math.abs(givenAheadMs) <= skewLimitMs) return ok("--now agrees with the platform's clock");
    const words = `--now is ${describeSpan(givenAheadMs)}`;
    if (givenAheadMs > 0) {
      return warn(
        `${words} ahead of the platform's clock`,
        'leave out --now: the platform has no costs from the future',
      );
    }
    if (Math.abs(aheadMs) <= skewLimitMs) return ok(`${words} behind the platform's clock`);
    return warn(`${skewOf(aheadMs)}, and ${words} behind it`, "correct --now (COSTBOOK_NOW) and this machine's clock");
  }
  if (Math.abs(aheadMs) <= skewLimitMs) return ok("this machine's clock agrees with the platform's");
  return warn(skewOf(aheadMs), "correct this machine's clock and synchronize it with NTP");
}

function skewOf(aheadMs: number): string {
  return `this machine's clock is ${describeSpan(aheadMs)} ${aheadMs > 0 ? 'ahead of' : 'behind'} the platform's`;
}

const gib = 1024 ** 3;

async function disk({ dir }: CommandContext, seen: Seen): Promise<readonly Found[]> {
  await access(dir, constants.W_OK).catch(() => {
    throw new UsageError(
      `this user cannot write to ${dir}: grant write access, or choose another project folder with --dir`,
    );
  });
  const { bavail, bsize } = await statfs(dir);
  const free = bavail * bsize;
  const books = (await warehouseBytes(dir)) ?? 0;
  const words = `${gigabytes(free)} free in ${dir}; the books use ${gigabytes(books)}`;
  // Publishing copies the books: for a moment they exist three times, and a night adds to them.
  const needed = Math.max(0.2 * gib, 2 * books);
  seen.lacksSpace = free < needed;
  if (seen.lacksSpace)
    return [fail(exitCodes.machine, words, `free some space: a nightly run needs up to ${gigabytes(needed)}`)];
  if (free < 2 * needed) return [warn(words, 'free some space soon; landing.keepDays removes old pages')];
  return [ok(words)];
}

/** Folders in place of files of the books, and files in place of their folders. */
function misplaced({ dir }: CommandContext): readonly Found[] {
  const remedy = 'run "costbook repair", which moves it aside';
  return misplacedFiles(dir).map((each) =>
    each.stopsRuns
      ? fail(exitCodes.unproven, `${describeMisplaced(each)}, so no ingest can load`, remedy)
      : warn(describeMisplaced(each), remedy),
  );
}

/** Whether files are readable by more users than `fileMode` permits: older files keep their mode. */
async function fileModes(config: LocalConfig | undefined, { dir }: CommandContext): Promise<readonly Found[]> {
  const mode = config?.fileMode ?? 0o600;
  const folder = join(dir, 'data');
  const found = await stat(folder).catch(() => undefined);
  if (found === undefined) return [];
  const wanted = 0o777 & ~umaskOf(mode);
  const octal = (bits: number) => `0${(bits & 0o777).toString(8)}`;
  const words = `${folder} has mode ${octal(found.mode)}`;
  if ((found.mode & 0o777 & ~wanted) === 0) return [ok(`${words}, as fileMode ${octal(mode)} permits`)];
  const who = (bits: number) => `${bits & 4 ? 'r' : ''}${bits & 2 ? 'w' : ''}${bits & 4 ? 'X' : ''}`;
  return [
    warn(
      `${words}: more users may read the books than fileMode ${octal(mode)} permits`,
      `run "chmod -R g=${who(mode >> 3)},o=${who(mode)} ${folder}", or change fileMode`,
    ),
  ];
}

function memory(): readonly Found[] {
  const words = `DuckDB may use ${memoryLimitMb(false)} MB in an ingest, ${memoryLimitMb(true)} MB in a reader`;
  return [totalmem() < 0.9 * gib ? warn(words, 'give the machine (or container) at least 1 GB of memory') : ok(words)];
}

function gigabytes(bytes: number): string {
  return bytes < gib ? `${Math.ceil(bytes / 1024 ** 2)} MB` : `${(bytes / gib).toFixed(1)} GB`;
}

/** Reads the snapshot, not the warehouse: an open warehouse keeps writers out. */
async function books(
  config: LocalConfig | undefined,
  { dir, effects, signal }: CommandContext,
  wrongNow: ReadonlyMap<string, number>,
  seen: Seen,
): Promise<readonly Found[]> {
  const file = snapshotFile(dir);
  const published = await stat(file).catch(() => undefined);
  if (published === undefined) {
    const isBegun = (await warehouseBytes(dir)) !== undefined;
    const { newestStored, hasJournal } = await findTraces(
      dir,
      await openLandingWriter(join(dir, 'data', 'landing')).newestLoad(),
    );
    const fault = await warehouseFault(dir);
    seen.isForRepair = isBegun || newestStored > 0 || hasJournal;
    return [
      seen.isForRepair
        ? fail(
            exitCodes.unproven,
            `${file} is missing${fault === undefined ? '' : `, and data/warehouse.duckdb ${fault}`}`,
            'run "costbook repair", unless the first "costbook ingest" is still running',
          )
        : warn(`there are no books yet in ${dirname(file)}`, 'run "costbook ingest"'),
    ];
  }
  const snapshot = await openBooks(dir, { lockedDown: true, signal }).catch((error: unknown) => {
    seen.isForRepair = isForRepair(error);
    throw error;
  });
  const found: Found[] = [];
  try {
    const [row] = await snapshot.connection.rows(await readSql('status', 'hours'));
    found.push(
      Number(row?.['last'] ?? 0) <= Number(row?.['loads'] ?? 0)
        ? ok(`${join('data', 'costbook.duckdb')} is readable and current, with ${row?.['hours']} rows of hourly costs`)
        : fail(exitCodes.unproven, 'the books have hours that belong to no known load', 'run "costbook repair"'),
    );
    await readAllTables(snapshot.connection, 'wh');
    const faults = await faultsOfFiles(dir, snapshot, signal, { isThorough: true });
    for (const { found: words, remedy } of faults) found.push(fail(exitCodes.unproven, words, remedy));
    seen.isForRepair = faults.length > 0;
    const unended = await unendedRun(dir, snapshot);
    found.push(...(await unendedFound(unended, dir, snapshot, seen)));
    const failures = (await alertRows(snapshot.connection, 'last_runs')).filter((row) => row['outcome'] !== 'done');
    const ingest = failures.find((row) => row['command'] === 'ingest');
    const [unstoredAlert] = await unstoredStill(dir);
    const ofIngest = ingest === undefined ? 'run "costbook ingest"' : nextWords(stepOf(ingest));
    const ofFailure = unstoredAlert?.next ?? ofIngest;
    const isHealed = faults.length > 0 && (ingest === undefined || ofFailure.includes('"costbook repair"'));
    const remedy = isHealed ? afterRepair : ofFailure;
    const now = effects.now();
    // The books are as old as the platform's clock says; a wrong clock of ours is reported already.
    function nowOf(account: string): Instant {
      const aheadMs = wrongNow.get(account);
      return aheadMs === undefined ? now : effects.clockNow() - aheadMs;
    }
    const freshnessHours = config?.freshnessHours ?? 26;
    const configured = (config?.accounts ?? []).flatMap(({ id }) => id ?? []);
    for (const { account, completeThrough } of await completeness(snapshot.connection)) {
      if (configured.length > 0 && !configured.includes(account)) continue;
      const through = completeThrough === undefined ? 'nothing yet' : formatInstant(completeThrough);
      const words = `account ${account} is complete through ${through}`;
      const isOld = completeThrough === undefined || completeThrough < nowOf(account) - freshnessHours * hourMs;
      found.push(isOld ? fail(exitCodes.unproven, `${words}: older than ${freshnessHours} h`, remedy) : ok(words));
    }
    found.push(...countsFound(dir, now, earliest(await completeness(snapshot.connection), configured)));
    for (const { account, aheadSeconds, platformAt, localAt } of await lastClocks(snapshot.connection)) {
      // A difference to the platform's present clock is reported already.
      if (Math.abs(aheadSeconds) * 1000 <= clockToleranceMs || wrongNow.has(account)) continue;
      found.push(
        warn(
          `this machine's clock was ${describeSpan(Math.abs(aheadSeconds) * 1000)} ${aheadSeconds > 0 ? 'ahead' : 'behind'} in the last ingest of ${account}: it showed ` +
            `${formatSecond(localAt)}, the platform's ${formatSecond(platformAt)}`,
          nextWords(clockStep),
        ),
      );
    }
    const future = await futureInstants(
      snapshot.connection,
      Math.max(now, ...platformTimes(effects, wrongNow)), // dates after a slow clock are no fault
    );
    if (future !== undefined) found.push(warn(future.found, future.remedy));
    if (unended === undefined)
      found.push(...(await lastRunFound(snapshot.connection, { failures, now, dir, signal, seen })));
  } finally {
    snapshot.close();
  }
  return found;
}

/** A run that was killed or is active, and loads that it did not publish. */
async function unendedFound(
  unended: UnendedRun | undefined,
  dir: string,
  snapshot: Books,
  { isForRepair }: Seen,
): Promise<readonly Found[]> {
  if (unended === undefined) {
    const loads = await unpublishedLoads(dir, snapshot);
    return loads === undefined ? [] : [warn(loads, 'if no run is active, run "costbook ingest"')];
  }
  // What a run found and could not store explains why it has no end.
  if (!unended.isActive && (await unstoredStill(dir)).length > 0) return [];
  const { found, next } = unendedWords(unended);
  if (next === undefined) return [ok(found)];
  return [warn(found, isForRepair ? afterRepair : nextWords(next))];
}

const afterRepair = 'after the repair, run "costbook ingest"';

/** How the last run ended; nothing if an open alert has the same fact with its amount. */
async function lastRunFound(
  connection: Connection,
  {
    failures,
    now,
    dir,
    signal,
    seen,
  }: {
    readonly failures: readonly SqlRow[];
    readonly now: Instant;
    readonly dir: string;
    readonly signal: AbortSignal;
    readonly seen: Seen;
  },
): Promise<readonly Found[]> {
  const [last] = await connection.rows(await readSql('status', 'last_ended_run'));
  if (last === undefined) return [];
  // A step of a job has the same next step as its alert.
  const failedStep = failures.find((row) => row['run_number'] === last['run_number']);
  if (failedStep?.['error_code'] === unprovenWindowCode) {
    const open = await allOpenAlerts(connection, now, { dir, signal });
    if (open.some(({ key }) => key.startsWith('unproven/'))) return [];
  }
  if (failedStep !== undefined) seen.alertKeys.add(`run/${encodeURIComponent(String(failedStep['command']))}`);
  return [lastRun(last, failedStep, seen)];
}

/**
 * Whether the books can be rebuilt from the landing folder: each load's description and pages exist and, with `isDeep`,
 * have not changed since they were stored.
 */
async function landing(
  config: LocalConfig | undefined,
  { dir, signal }: CommandContext,
  isDeep: boolean,
): Promise<readonly Found[]> {
  const sealed = await readSeal(snapshotFile(dir)).catch(() => undefined);
  if (sealed?.state !== 'intact') return []; // there are no books, or they are reported already
  const { fault, complete } = await checkLanding(
    {
      landingRoot: join(dir, 'data', 'landing'),
      afterLoad: 0,
      throughLoad: sealed.seal.loadNumber,
      loadsInBooks: () => loadsOfSnapshot(dir, signal),
      arePagesRemoved: config?.landing.keepDays !== undefined,
    },
    { isDeep },
  );
  if (fault !== undefined) {
    if (fault.isMovable) return [fail(exitCodes.unproven, fault.lost, 'run "costbook repair", which moves them')];
    const { found, next } = faultAndStep(fault);
    return [
      fail(
        exitCodes.unproven,
        `the books are right, but cannot be rebuilt from nothing: ${found}`,
        next === undefined ? 'restore data/landing from a backup' : nextWords(next),
      ),
    ];
  }
  const words = `${counted(complete, 'load')} with all pages`;
  return [ok(isDeep ? `${words}, unchanged since they were stored` : `${words}; "costbook doctor --deep" reads them`)];
}

/** How the last run ended, with the first line of each failed step. */
function lastRun(row: SqlRow, failedStep: SqlRow | undefined, { platformFaults, isForRepair }: Seen): Found {
  const [command, outcome] = [String(row['command']), String(row['outcome'])];
  const exitCode = row['exit_code'] === null ? null : Number(row['exit_code']);
  const reason = row['error'] === null ? 'no reason is stored' : reasonsOf(String(row['error']));
  if (outcome === 'done') return ok(`the last run (${command}) succeeded`);
  if (isRefusedClose({ command, outcome, exitCode })) {
    return ok(`the last run (${command}) was refused and changed nothing: ${reason}`);
  }
  const step = stepOf(failedStep ?? row);
  // The finding about the files has the reason and the step.
  if (isForRepair && step.words.includes(repairing))
    return warn(
      `the last run (${command}) ${outcome} for the same reason`,
      `after that, run "costbook ${command}" again`,
    );
  // The platform's own finding has the reason and the step.
  if (platformFaults.some((fault) => isSameCause(fault, String(row['error'] ?? '')))) {
    return warn(
      `the last run (${command}) ${outcome} for the same reason`,
      step.who === 'Act' ? `after that, run "costbook ${command}" again` : nextWords(step),
    );
  }
  return warn(`the last run (${command}) ${outcome}: ${reason}`, nextWords(step));
}

/** What to do after a failed run or step. */
function stepOf(row: SqlRow): NextStep {
  return stepAfterRun({
    command: String(row['command']),
    outcome: String(row['outcome']),
    exitCode: row['exit_code'] === null ? null : Number(row['exit_code']),
    error: textOrNull(row['error']),
    errorCode: textOrNull(row['error_code']),
    nextStep: textOrNull(row['next_step']),
    endedAt: textOrNull(row['ended_at']),
    failingSince: textOrNull(row['failing_since']),
    startedAs: textOrNull(row['started_as']),
  });
}

/** The first line of the error of each failed step; a list stays with the line that introduces it. */
function reasonsOf(error: string): string {
  const [first = '', ...more] = error.split('\n');
  if (first.trimEnd().endsWith(':')) return firstSentence(error);
  return [first, ...more].map(firstSentence).join('\n');
}

const alertsShown = 5;

/** The open alerts; nothing if there are no books. */
async function alerts(
  { dir, effects, signal }: CommandContext,
  wrongNow: ReadonlyMap<string, number>,
  { alertKeys }: Seen,
): Promise<readonly Found[]> {
  if ((await stat(snapshotFile(dir)).catch(() => undefined)) === undefined) return [];
  const now = wrongNow.size === 0 ? effects.now() : Math.max(...platformTimes(effects, wrongNow));
  const isReported = ({ key }: OpenAlert) =>
    alertKeys.has(key) || [...wrongNow.keys()].some((account) => key === `clock/${account}`);
  return openAlertsOf(dir, now, isReported, signal).catch((error: unknown) => {
    if (error instanceof CostbookError) return []; // reported with the books
    throw error;
  });
}

/** The platforms' times, for accounts whose platform shows another time than the clock in use. */
function platformTimes(effects: Effects, wrongNow: ReadonlyMap<string, number>): Instant[] {
  return [...wrongNow.values()].map((aheadMs) => effects.clockNow() - aheadMs);
}

const repairing = 'run "costbook repair"';

/** What a run found and the books could not store. */
async function unstored(dir: string, { isForRepair, lacksSpace }: Seen): Promise<readonly Found[]> {
  // The fault of the files is reported with the books.
  const others = (await unstoredStill(dir)).filter(({ next = '' }) => !(isForRepair && next.includes(repairing)));
  return others.map(({ key, title, detail, next = repairing, at }) =>
    fail(
      exitCodes.machine,
      `${title}${detail === undefined ? '' : `. ${detail}`} (a run found it at ${at})`,
      // The finding about the disk says what to do first.
      lacksSpace && key === diskKey ? withoutFirst(next) : next,
    ),
  );
}

/** A step without its first sentence, which another finding has: `Act: after that, run "costbook ingest" again.` */
function withoutFirst(step: string): string {
  const [, then, others] = /^Act: [^.]*\. (Then )?(.*)$/s.exec(step) ?? [];
  if (others === undefined) return step;
  return then === undefined
    ? nextWords(wait(`${others.slice(0, 1).toLowerCase()}${others.slice(1)}`))
    : `Act: after that, ${others}`;
}

async function openAlertsOf(
  dir: string,
  now: Instant,
  isReported: (alert: OpenAlert) => boolean,
  signal: AbortSignal,
): Promise<readonly Found[]> {
  const snapshot = await openBooks(dir, { lockedDown: true, signal });
  try {
    const all = await allOpenAlerts(snapshot.connection, now, { dir, signal });
    const waiting = (await undelivered(snapshot.connection)).map(({ found, remedy }) => warn(found, remedy));
    if (all.length === 0) return [ok('no open alerts'), ...waiting];
    const unstored = (await unstoredStill(dir)).map(({ key }) => key);
    const open = all.filter((alert) => !isReported(alert) && !unstored.includes(alert.key));
    const shown = open.slice(0, alertsShown);
    const list = 'see "costbook alerts --open"';
    return [
      ...shown.map(({ title, detail, next }) =>
        warn(detail === undefined ? title : `${title}. ${detail}`, next ?? list),
      ),
      ...(shown.length < open.length ? [warn(`${countWords(open)}: ${shown.length} shown here`, list)] : []),
      ...waiting,
    ];
  } finally {
    snapshot.close();
  }
}

const words = { ok: 'OK  ', warn: 'WARN', fail: 'FAIL' } as const;

function describe({ subject, state, found, remedy }: Finding): string {
  const [first = '', ...others] = found.split('\n');
  const lines = [
    `${words[state]}  ${subject}: ${forTerminal(first)}`,
    ...others.map((line) => `      ${forTerminal(line)}`),
    ...(remedy === null ? [] : [`      → ${forTerminal(withWho(remedy))}`]),
  ];
  return `${lines.join('\n')}\n`;
}

/** `Act: free some space`: every step says whether somebody must act. */
function withWho(remedy: string): string {
  if (/^(Act|Wait|No action needed): /.test(remedy)) return remedy;
  return nextWords(act(`${remedy.slice(0, 1).toLowerCase()}${remedy.slice(1).replace(/\.$/, '')}.`));
}

function toJson({ exitCode, ...finding }: Finding): Record<string, unknown> {
  return { ...finding, exitCode: finding.state === 'fail' ? exitCode : null };
}

function summary(findings: readonly Finding[]): string {
  const [fails, warnings] = ['fail', 'warn'].map(
    (state) => findings.filter((finding) => finding.state === state).length,
  );
  if (fails === 0 && warnings === 0) return 'Everything works.';
  return `${fails} of ${findings.length} failed, ${warnings} warning${warnings === 1 ? '' : 's'}.`;
}
