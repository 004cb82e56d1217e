import {
  act,
  asSentence,
  type NextStep,
  nextWords,
  refusedTokenStep,
  unreadListingStep,
} from '../../base/next-step.ts';
import { sumOf, usd } from '../../money/money.ts';
import { textOrNull } from '../../tables/optional-text.ts';
import { counted } from '../../text/counted.ts';
import { nightsCause, waitAtMostMs } from '../causes.ts';
import { type Finding, findingOf } from '../finding.ts';
import { byAccount, type DataKind, isRead, throughOf } from '../kind.ts';
import { listedCosts } from '../owner-sources.ts';
import { alertRows } from '../rows.ts';
import { isIngestFailed } from './run.ts';
import { changeWords } from './sentences.ts';

/** A listing that was not read in full. */
interface Listing {
  readonly resourceType: string;
  /** Workspace of the token that read it; null for the account's own token. */
  readonly workspace: string | null;
  readonly outcome: string;
  readonly reason: string | null;
  readonly step: NextStep | null;
  /** The same in words, for receivers of messages. */
  readonly nextStep: string | null;
  /** When it was last read in full; left out if it never was. */
  readonly lastReadAt?: string;
  /** Whether it failed for hours, so on a second night. */
  readonly isWaitOver?: boolean;
}

/** Listings of resources that were not read in full: names, owners and states become out of date. */
export interface ListingsFact extends Finding<'listings'> {
  /** Those that the token may not read first, then shrunken ones. */
  readonly listings: readonly Listing[];
  /** What resources that no listing ever showed cost in 30 days: USD, decimal text; left out if it is unknown. */
  readonly neverListed?: string;
}

function stepIn(json: unknown): Pick<Listing, 'step' | 'nextStep'> {
  const step = json === null ? null : (JSON.parse(String(json)) as NextStep);
  return { step, nextStep: step && nextWords(step) };
}

/** One finding for an account, however many of its listings could not be read. */
export const listings: DataKind<ListingsFact, Listing & { readonly account: string; readonly neverListed: string }> = {
  name: 'listings',
  read: async (connection) => {
    const rows = await alertRows(connection, 'unread_listings');
    const costs = rows.length === 0 ? undefined : await listedCosts(connection);
    return rows.map((row) => ({
      neverListed: sumOf((costs?.get(String(row['account']))?.neverListed ?? []).map(({ cost }) => cost)),
      account: String(row['account']),
      workspace: textOrNull(row['token_workspace']),
      resourceType: String(row['resource_type']),
      outcome: String(row['outcome']),
      reason: textOrNull(row['reason']),
      ...stepIn(row['step']),
      ...(row['last_read_at'] === null ? {} : { lastReadAt: String(row['last_read_at']) }),
      ...(Number(row['read_at']) - Number(row['failing_since']) >= waitAtMostMs ? { isWaitOver: true } : {}),
    }));
  },
  findings: (rows, world) =>
    byAccount(rows, world).map(({ account, own }) => ({
      ...findingOf('listings', [account], {
        ...{ account, severity: 'warning', completeThrough: throughOf(world, account) },
      }),
      listings: own.map(({ neverListed: _, ...listing }) => listing),
      neverListed: own[0]?.neverListed ?? '0',
    })),
  isLookedFor: isRead,
  follows: (_, others) => others.some(isIngestFailed),
  causes: (fact) => [
    ...new Set(fact.listings.map(({ outcome }) => outcome)),
    ...(isActAfterWaiting(fact) ? [nightsCause] : []),
  ],
  causeWords: ({ listings: [first] }) => `${first?.resourceType ?? 'a'} listing ${first?.outcome ?? 'failed'}`,
  /** What is affected, and the first reason; the list has all. */
  words: ({ account, listings: all, ...fact }) => {
    const first = mostTypical(all);
    const reason = first?.reason ?? undefined;
    return {
      title: titleOf(account, all),
      sentences: [
        // The title names the account.
        ...(reason === undefined
          ? []
          : [asSentence(`${first?.resourceType}: ${reason.replace(/^account [^,:]+[:,] /, '')}`)]),
        `No cost is missing. Resources that were listed before keep their names and owners${ofWords(all)}; those that no listing ever showed cost ${usd(fact.neverListed ?? '0')} in the last 30 days.`,
        ...changeWords(fact),
      ],
      list: {
        label: 'Listings',
        items: groupedLines(all),
      },
    };
  },
  detail: (fact) => listings.words(fact).sentences.slice(0, 2).join(' '),
  over: ({ account }) => ({ title: `no resource listing of ${account} fails now`, sentences: [] }),
  step: (fact) => (isActAfterWaiting(fact) ? stepAfterWaiting : firstStep(fact)),
};

/** `The platform refuses the token of workspace research: 13 listings of acc_main are not up to date`. */
function titleOf(account: string | null, all: readonly Listing[]): string {
  const refused = refusedWorkspaces(all);
  const words = `${counted(all.length, refused === undefined ? 'resource listing' : 'listing')} of ${account} ${all.length === 1 ? 'is' : 'are'} not up to date`;
  return refused === undefined
    ? words
    : `The platform refuses the token of workspace ${refused.join(' and ')}: ${words}`;
}

/** The workspaces whose own tokens are refused; undefined if anything else failed, too. */
function refusedWorkspaces(all: readonly Listing[]): readonly string[] | undefined {
  const names = all.map(({ outcome, workspace }) => (outcome === 'refused' ? workspace : null));
  return names.includes(null) ? undefined : [...new Set(names.flatMap((name) => name ?? []))];
}

/** `refused, workspace production: agent, model`: a line for each workspace and outcome. */
function groupedLines(all: readonly Listing[]): readonly string[] {
  const types = new Map<string, string[]>();
  for (const { workspace, outcome, resourceType } of all) {
    const where = `${outcome}${workspace === null ? '' : `, workspace ${workspace}`}`;
    types.set(where, [...(types.get(where) ?? []), resourceType]);
  }
  return [...types].map(([where, names]) => `${where}: ${names.join(', ')}`);
}

/** The first listing with the step that most of them need, of those that need a person. */
function mostTypical(all: readonly Listing[]): Listing | undefined {
  const urgent = all.filter(({ step }) => step?.who === 'Act');
  const own = urgent.length > 0 ? urgent : all.filter(({ step }) => step !== null);
  const countOf = ({ nextStep }: Listing) => own.filter((other) => other.nextStep === nextStep).length;
  return own.toSorted((a, b) => countOf(b) - countOf(a))[0] ?? all[0];
}

/** ` of 2026-11-11T02:15:00Z`: when the oldest of these listings was last read; empty if none ever was. */
function ofWords(all: readonly Listing[]): string {
  const [oldest] = all.flatMap(({ lastReadAt }) => lastReadAt ?? []).toSorted();
  return oldest === undefined ? '' : ` of ${oldest}`;
}

/** One step for all listings: that of most of them. */
function firstStep({ listings: all }: ListingsFact): NextStep {
  const refused = refusedWorkspaces(all);
  return refused === undefined ? (mostTypical(all)?.step ?? unreadListingStep) : refusedTokenStep(refused);
}

/** Whether nobody had to act, and a listing failed on a second night. */
function isActAfterWaiting(fact: ListingsFact): boolean {
  return firstStep(fact).who === 'Wait' && fact.listings.some(({ isWaitOver }) => isWaitOver === true);
}

const stepAfterWaiting = act(
  'run "costbook ingest" again: the listings may work by now. If they fail again, ask the platform\'s support for the reason.',
  'ingest',
);
