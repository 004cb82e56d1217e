import { stat } from 'node:fs/promises';
import { exitCodeOf, exitCodes, PlatformError } from '../base/errors.ts';
import { act } from '../base/next-step.ts';
import { type AccountConfig, type LocalAccount, type LocalConfig, readToken } from '../config/index.ts';
import { keyOfFinding } from '../findings/index.ts';
import { reducedAccessOf } from '../ingest/index.ts';
import { expiryOf } from '../platform/index.ts';
import type { PlatformDifferences } from '../platform/interface/index.ts';
import { shorten } from '../text/safe-text.ts';
import { describeSpan, formatInstant, hourMs, type Instant } from '../time/time.ts';
import { type Books, openBooks, snapshotFile } from '../warehouse/integrity/index.ts';
import { completeness } from '../warehouse/ledger/index.ts';
import type { HealthContext } from './context.ts';
import { type Found, fail, ok, type Seen, warn } from './found.ts';
import { type AccountSeen, askPlatform } from './platform-access.ts';
import { reachFound } from './reach.ts';

export async function token(
  account: LocalAccount,
  { dir, keepSecret, signal }: HealthContext,
  { expired }: Seen,
): Promise<readonly Found[]> {
  if (account.token === undefined) return []; // reported with the configuration
  const from = `from ${account.tokenSetting ?? account.token.kind}`;
  // The examination of the platform exchanges them.
  if (account.token.kind === 'oauth') return [ok(`${from}; each run gets its own, and renews it before it expires`)];
  const issued = await readToken(account.token, { dir, keepSecret, signal });
  const expiresAt = typeof issued === 'string' ? expiryOf(issued) : issued.expiresAt;
  if (expiresAt === undefined) return [ok(`${from}, without an expiry date`)];
  const at = formatInstant(expiresAt);
  const now = Date.now(); // the platform uses real time, also with --now
  if (expiresAt <= now) {
    expired.add(account.id);
    const place = account.tokenSetting ?? 'the configuration';
    const step = act(`replace the token in ${place} with a new one.`);
    const host = account.url === undefined ? null : new URL(account.url).hostname;
    const cause = { code: 'answered_401', subject: host, found: '', next: step };
    return [{ ...fail(exitCodes.platform, `${from}, expired at ${at}`, step), cause }];
  }
  // A command prints a new token every night.
  if (account.token.kind !== 'command' && expiresAt < now + 48 * hourMs) {
    return [warn(`${from}, expires at ${at}`, act('replace it before then, or use tokenCommand.'))];
  }
  return [ok(`${from}, valid until ${at}`)];
}

/** Beyond this, an hour may be over here but not on the platform. */
const skewLimitMs = 120_000;

export async function platform(
  account: LocalAccount,
  config: LocalConfig,
  context: HealthContext,
  known: { readonly isNowGiven: boolean; readonly wrongNow: Map<string, number>; readonly seen: Seen },
): Promise<readonly Found[]> {
  const { url, token: source, tokenSetting } = account;
  if (url === undefined || source === undefined) return []; // reported already
  const asked = { ...config, url, token: source, tokenSetting, account: account.id };
  const access: Found[] = [];
  async function inspect(about: AccountSeen): Promise<void> {
    const whole = { ...account, url: asked.url, token: asked.token };
    access.push(...(await accessFound({ ...about, effects: context.effects }, whole, config, context, known.seen)));
  }
  const seen = await askPlatform(asked, context, { compares: true, inspect }).catch((error: unknown) => {
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
        act('set account in costbook.yaml to one of them.'),
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

/** Where the token has less access than the books show, and what each token lists. */
async function accessFound(
  about: AccountSeen & Pick<HealthContext, 'effects'>,
  account: AccountConfig,
  config: LocalConfig,
  context: HealthContext,
  seen: Seen,
): Promise<readonly Found[]> {
  const books = await presentBooks(context.dir, about.signal);
  try {
    const found = books === undefined ? [] : await reducedAccessFound(about, account.id, books, config);
    if (account.inventory?.isRead === false) return found;
    const reach = await reachFound(about, account, config, context, books?.connection);
    if (reach.areListingsRefused) seen.alertKeys.add(keyOfFinding('listings', about.account));
    return [...found, ...reach.found];
  } finally {
    books?.close();
  }
}

async function reducedAccessFound(
  about: AccountSeen & Pick<HealthContext, 'effects'>,
  configured: string | undefined,
  books: Books,
  config: LocalConfig,
): Promise<readonly Found[]> {
  const known = (await completeness(books.connection)).map((each) => each.account);
  if (configured === undefined && known.length > 0 && !known.includes(about.account)) {
    const names = known.join(', ');
    return [
      warn(
        `the token sees account ${about.account}, and the books have ${names}: the next run adds an account`,
        act(`use a token of ${names}, or set account in costbook.yaml.`),
      ),
    ];
  }
  const reduced = await reducedAccessOf(about, books, config);
  if (reduced === undefined) return [];
  const words = `${reduced.found}. The next run changes nothing and ends with exit code ${exitCodes.unproven}`;
  return [fail(exitCodes.unproven, words, reduced.next)];
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
        act('ask the platform whether it still groups costs by them: Costbook needs all five.'),
      ),
    );
  }
  if (newDimensions.length > 0) {
    found.push(
      warn(
        `the platform also groups costs by ${names(newDimensions)}, which this version of Costbook does not store`,
        act('look for a newer version; nothing is missing from the costs.'),
      ),
    );
  }
  if (newResourceTypes.length > 0) {
    found.push(
      warn(
        `the platform has costs of ${names(newResourceTypes)}, which its interface does not name`,
        act('check that budgets and allocation rules cover them; they are stored like all others.'),
      ),
    );
  }
  return found;
}

/** Through when the costs of every account are complete that is asked for. */
export function earliest(
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
        act('leave out --now: the platform has no costs from the future.'),
      );
    }
    if (Math.abs(aheadMs) <= skewLimitMs) return ok(`${words} behind the platform's clock`);
    return warn(
      `${skewOf(aheadMs)}, and ${words} behind it`,
      act("correct --now (COSTBOOK_NOW) and this machine's clock."),
    );
  }
  if (Math.abs(aheadMs) <= skewLimitMs) return ok("this machine's clock agrees with the platform's");
  return warn(skewOf(aheadMs), act("correct this machine's clock and synchronize it with NTP."));
}

function skewOf(aheadMs: number): string {
  return `this machine's clock is ${describeSpan(aheadMs)} ${aheadMs > 0 ? 'ahead of' : 'behind'} the platform's`;
}
