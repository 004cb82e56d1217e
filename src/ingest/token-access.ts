import type { Effects } from '../base/effects.ts';
import { PlatformError } from '../base/errors.ts';
import type { LocalConfig } from '../config/index.ts';
import { askQuery } from '../fetch/index.ts';
import { daysQueries, settledDays } from '../fetch/plan/index.ts';
import { type Client, listings, openListings } from '../platform/index.ts';
import { metricsLimits } from '../platform/interface/index.ts';
import { floorHour } from '../time/time.ts';
import type { Books } from '../warehouse/integrity/index.ts';
import { accountLedger, coveredWindows } from '../warehouse/ledger/index.ts';
import { groupsByWorkspace, openPastReader } from '../warehouse/load/index.ts';
import type { Role } from '../warehouse/page.ts';
import { accessDays, type ReducedAccess, reducedRole, reducedTotals } from './reduced-access.ts';
import { questionOf, withoutLanding } from './verify-past.ts';

/** An account, its token today, and how to reach its platform. */
interface TokenToday {
  readonly account: string;
  readonly role: Role;
  readonly client: Client;
  readonly effects: Effects;
  readonly signal: AbortSignal;
}

/**
 * How the token has less access than the books show, as the next ingest will find; undefined if it has not. Compares
 * the role, then the daily totals of the settled past, and records nothing. Throws PlatformError or RefusedAnswerError.
 */
export async function reducedAccessOf(
  { account, role, client, effects, signal }: TokenToday,
  { connection: books, connect }: Books,
  { settleDays, verifyDays, proofTolerance }: LocalConfig,
): Promise<ReducedAccess | undefined> {
  const ledger = await accountLedger(books, account);
  if (ledger === undefined) return undefined;
  const reduced = reducedRole(ledger.role, role);
  if (reduced !== undefined) return reduced;
  const lastHour = floorHour(effects.now());
  const days = settledDays(await coveredWindows(books, account), { lastHour, settleDays, verifyDays });
  if (days.length === 0) return undefined;
  const { queries } = daysQueries(days, role, await groupsByWorkspace(books, account, days, metricsLimits.maxPageSize));
  const known = { decimals: ledger.decimals, agreedTolerance: proofTolerance };
  const past = await openPastReader(await connect(signal), account, known);
  try {
    for (const [index, query] of queries.entries()) {
      const question = questionOf(query, index + 1);
      const sink = await past.addQuestion(question);
      await askQuery({ account, query, client, landing: withoutLanding, sink, log: effects.log, signal });
      await past.compare(question);
    }
    return reducedTotals(await past.totals(accessDays));
  } finally {
    past.close();
  }
}

/**
 * The listings whose first page the platform refuses to this token in a workspace, each with its error; undefined for a
 * request that names none. Throws other failures.
 */
export async function refusedListings(
  { account, client, effects, signal }: Omit<TokenToday, 'role'>,
  workspace: string | undefined,
): Promise<{ readonly resourceType: string; readonly error: PlatformError }[]> {
  const reader = openListings(client, effects.log);
  const refused: { readonly resourceType: string; readonly error: PlatformError }[] = [];
  for (const listing of listings.filter(({ serves }) => serves === undefined)) {
    try {
      await reader.pages(listing, `account ${account}`, signal, workspace).next();
    } catch (error) {
      if (!(error instanceof PlatformError) || error.status === undefined) throw error;
      if (![401, 403, 404].includes(error.status)) throw error;
      refused.push({ resourceType: listing.resourceType, error });
    }
  }
  return refused;
}
