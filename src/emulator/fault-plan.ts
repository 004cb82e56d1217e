import { UsageError } from '../base/errors.ts';
import { remember } from './maps.ts';
import { hashText, mix, toUnit } from './random.ts';

interface FaultDescription {
  readonly about: string;
  /** Passing faults hit single requests, lasting ones change the data. */
  readonly kind: 'passing' | 'lasting';
  /** Whether a client may give up on it: trying the same request again is not a remedy. */
  readonly isFinal?: true;
  /** What a rate counts, and its default. */
  readonly rateOf: string;
  readonly defaultRate: number;
}

const passing = { kind: 'passing', rateOf: 'requests', defaultRate: 1 / 7 } as const;

/** Everything that the emulator can do wrong on purpose. */
export const faultDescriptions = {
  '429': { ...passing, about: 'too many requests, Retry-After in seconds' },
  '429-date': { ...passing, about: 'too many requests, Retry-After as an HTTP date' },
  '429-ms': { ...passing, about: 'too many requests, Retry-After-Ms with a fraction beside a longer Retry-After' },
  '402': { ...passing, isFinal: true, about: 'the quota of the plan is used up; an object under error' },
  '404': { ...passing, about: 'what is there is not served at this moment; an object under error that says: retry' },
  '500': { ...passing, about: 'internal error' },
  '503': { ...passing, about: 'unavailable for a moment' },
  reset: { ...passing, about: 'the connection is reset before any answer' },
  truncated: { ...passing, about: 'the body ends before content-length is reached' },
  'slow-body': { ...passing, about: 'the body arrives slowly, over a second' },
  'expired-cursor': { ...passing, rateOf: 'pages fetched by cursor', about: 'a valid cursor is refused as expired' },
  'expired-token': { ...passing, isFinal: true, about: 'the token is refused with 401 as expired' },
  redirect: { ...passing, isFinal: true, about: 'a redirection to a login page' },
  html: { ...passing, isFinal: true, about: 'a login page in HTML with status 200' },
  'gzip-bomb': { ...passing, isFinal: true, about: 'a small gzipped body that unpacks to 128 MiB' },
  'missing-scope': {
    kind: 'lasting',
    isFinal: true,
    rateOf: 'operations',
    defaultRate: 1,
    about: 'operations are refused with 403, because the token has no such scope',
  },
  'empty-texts': {
    kind: 'lasting',
    isFinal: true,
    rateOf: 'resources',
    defaultRate: 1,
    about: 'texts that are missing otherwise are empty, in listings and in metrics',
  },
  'undercounted-listings': {
    kind: 'lasting',
    isFinal: true,
    rateOf: 'listings',
    defaultRate: 1,
    about: 'meta.total counts one item fewer than the listing has',
  },
  'totals-disagree': {
    kind: 'lasting',
    rateOf: 'windows',
    defaultRate: 1 / 7,
    about: 'summary.totalCost is always off by a cent or more, for some windows',
  },
  'totals-flicker': {
    kind: 'lasting',
    rateOf: 'windows',
    defaultRate: 1 / 7,
    about: 'summary.totalCost is off in the first answer for a window, and correct in all later ones',
  },
  'wrong-rows': {
    kind: 'lasting',
    rateOf: 'windows',
    defaultRate: 1 / 7,
    about:
      'rows by resource are wrong in answers that look right (a cost, an hour or a whole row); the totals are correct',
  },
  'missing-without-uuid': {
    kind: 'lasting',
    rateOf: 'windows',
    defaultRate: 1,
    about: 'rows without a UUID are missing, also from the total, when grouping by resource_uuid',
  },
  'earliest-version': {
    kind: 'lasting',
    rateOf: 'platforms',
    defaultRate: 1,
    about: 'only the earliest API version is supported, so listings have no pages',
  },
  'ignored-version': {
    kind: 'lasting',
    rateOf: 'platforms',
    defaultRate: 1,
    about: 'the version header is ignored, so listings have no pages whatever a request names',
  },
  'error-objects': {
    kind: 'lasting',
    rateOf: 'platforms',
    defaultRate: 1,
    about: 'refusals have an object under error, and their code in a header',
  },
  'forbidden-listings': {
    kind: 'lasting',
    rateOf: 'listings',
    defaultRate: 1,
    about: 'listings are refused with 403, metrics are not',
  },
  'shrunken-listings': {
    kind: 'lasting',
    rateOf: 'resources',
    defaultRate: 3 / 5,
    about: 'resources are missing from a listing that claims to be complete',
  },
  'double-sums': {
    kind: 'lasting',
    rateOf: 'answers',
    defaultRate: 1,
    about: 'hours are summed as doubles, in another order in each answer',
  },
  'overcounted-listings': {
    kind: 'lasting',
    rateOf: 'listings',
    defaultRate: 1,
    about: 'meta.total counts one item more than the listing has',
  },
  late: {
    kind: 'lasting',
    rateOf: 'series',
    defaultRate: 1 / 2,
    about: 'costs arrive over hours or days, and single buckets change up to nine days later',
  },
} as const satisfies Record<string, FaultDescription>;

export type FaultName = keyof typeof faultDescriptions;

/** One fault, active for a share of what it can hit. */
export interface Fault {
  readonly name: FaultName;
  /** Above 0, at most 1. */
  readonly rate: number;
}

function isFaultName(name: string): name is FaultName {
  return Object.hasOwn(faultDescriptions, name);
}

/** The names of all faults. */
export const faultNames: readonly FaultName[] = Object.keys(faultDescriptions).filter(isFaultName);

/**
 * Parses a list such as `429,reset=0.5`: names with an optional rate above 0 and up to 1. Throws UsageError that lists
 * everything unknown or out of range, and all available faults.
 */
export function parseFaults(text: string): Fault[] {
  const problems: string[] = [];
  const faults = new Map<FaultName, Fault>();
  for (const item of text.split(',').map((part) => part.trim())) {
    if (item === '') continue;
    const [name = '', ...rest] = item.split('=').map((part) => part.trim());
    const rateText = rest.length > 0 ? rest.join('=') : undefined;
    const rate = rateText === undefined ? undefined : Number(rateText);
    if (!isFaultName(name)) {
      problems.push(`unknown fault "${name}"`);
    } else if (faults.has(name)) {
      problems.push(`fault ${name} is given twice`);
    } else if (rate !== undefined && !(rate > 0 && rate <= 1)) {
      problems.push(`fault ${name}: expected a rate above 0 and up to 1, found "${rateText}"`);
    } else {
      faults.set(name, { name, rate: rate ?? faultDescriptions[name].defaultRate });
    }
  }
  if (problems.length > 0) throw new UsageError(`${problems.join('; ')}; faults are ${faultNames.join(', ')}`);
  return [...faults.values()];
}

/** What can be wrong with a row: its cost, the hour that has it, or that it is missing. */
const rowLies = ['cost', 'hour', 'missing'] as const;
export type RowLie = (typeof rowLies)[number];

/** Decides which request or window is hit; the same requests are hit in any order. */
export interface FaultPlan {
  /** The passing fault for this attempt of a request, identified by method, path and query. */
  strike(request: string): FaultName | undefined;
  /** The error of the total in the answer for this window, in billionths of a dollar; records that it was fetched. */
  lieAbout(window: string): number;
  /** What is wrong with the rows in every answer for this window; undefined if nothing is. */
  rowLie(window: string): RowLie | undefined;
  leavesOutUnnamed(window: string): boolean;
  /** The seed for summing doubles in this answer; undefined if it sums exactly. Each call is another answer. */
  addsDoubles(): number | undefined;
  readonly knowsOnlyEarliestVersion: boolean;
  readonly ignoresVersion: boolean;
  readonly refusesWithObjects: boolean;
  /** How many items too many `meta.total` of a listing counts; negative for too few. */
  overcounts(kind: string): number;
  isOutOfScope(operation: string): boolean;
  /** Whether missing texts of this resource are empty instead. */
  emptiesTexts(resource: string): boolean;
  forbidsListing(kind: string): boolean;
  leavesUnlisted(resource: string): boolean;
  /** Share of series that arrive late; 0 without the fault. */
  readonly lateShare: number;
}

/** One way through the pages of a query. */
interface Pass {
  number: number;
  pages: number;
  isStruck: boolean;
  inRow: number;
}

// A client that tries four times succeeds: more patience cannot be expected.
const maxInRow = 3;
// A request that does not return within a hundred thousand others is forgotten.
const maxRemembered = 100_000;
const cent = 10_000_000;

/**
 * A plan for these faults. Randomness comes from seed, request and attempt, not from a running generator, so the order
 * of requests changes nothing.
 */
export function planFaults(faults: readonly Fault[], seed: number): FaultPlan {
  const attempts = new Map<string, { count: number; inRow: number }>();
  const passes = new Map<string, Pass>();
  const answered = new Map<string, true>();
  const oneShot = faults.filter(({ name }) => faultDescriptions[name].kind === 'passing' && name !== 'expired-cursor');
  const rates = new Map(faults.map((fault) => [fault.name, fault.rate]));

  function hits(name: FaultName, subject: string, attempt = 0): boolean {
    const rate = rates.get(name);
    return rate !== undefined && toUnit(mix(hashText(seed, `${name} ${subject}`), attempt)) < rate;
  }

  /**
   * An expired cursor sends its client back to the first page, so it is counted per query and not per request: once per
   * pass through the pages, and after three such passes one succeeds.
   */
  function expires(request: string): boolean {
    if (!rates.has('expired-cursor')) return false;
    const query = request.replace(/&?cursor=[^&]*/, '');
    const pass = passes.get(query) ?? { number: 0, pages: 0, isStruck: false, inRow: 0 };
    remember(passes, query, pass, maxRemembered);
    if (query === request) {
      if (pass.pages > 0 && !pass.isStruck) pass.inRow = 0;
      pass.number++;
      pass.pages = 0;
      pass.isStruck = false;
      return false;
    }
    pass.pages++;
    if (pass.isStruck || pass.inRow >= maxInRow) return false;
    pass.isStruck = hits('expired-cursor', `${query} page ${pass.pages}`, pass.number);
    if (pass.isStruck) pass.inRow++;
    return pass.isStruck;
  }

  let answers = 0;
  return {
    lateShare: rates.get('late') ?? 0,
    addsDoubles() {
      answers += 1;
      return hits('double-sums', 'answer', answers) ? mix(seed, answers, 0xadd) : undefined;
    },
    overcounts: (kind) => (hits('overcounted-listings', kind) ? 1 : 0) - (hits('undercounted-listings', kind) ? 1 : 0),
    isOutOfScope: (operation) => hits('missing-scope', operation),
    emptiesTexts: (resource) => hits('empty-texts', resource),
    knowsOnlyEarliestVersion: hits('earliest-version', 'platform'),
    ignoresVersion: hits('ignored-version', 'platform'),
    refusesWithObjects: hits('error-objects', 'platform'),
    forbidsListing: (kind) => hits('forbidden-listings', kind),
    leavesUnlisted: (resource) => hits('shrunken-listings', resource),
    strike(request) {
      if (expires(request)) return 'expired-cursor';
      const past = attempts.get(request) ?? { count: 0, inRow: 0 };
      const struck = past.inRow >= maxInRow ? undefined : oneShot.find(({ name }) => hits(name, request, past.count));
      remember(
        attempts,
        request,
        { count: past.count + 1, inRow: struck === undefined ? 0 : past.inRow + 1 },
        maxRemembered,
      );
      return struck?.name;
    },
    lieAbout(window) {
      const isFirst = !answered.has(window);
      remember(answered, window, true, maxRemembered);
      if (!hits('totals-disagree', window) && !(isFirst && hits('totals-flicker', window))) return 0;
      const bits = hashText(seed, `lie ${window}`);
      return (bits % 2 === 0 ? 1 : -1) * (1 + ((bits >>> 1) % 250)) * cent;
    },
    rowLie(window) {
      return hits('wrong-rows', window) ? rowLies[hashText(seed, `row ${window}`) % rowLies.length] : undefined;
    },
    leavesOutUnnamed(window) {
      return hits('missing-without-uuid', window);
    },
  };
}
