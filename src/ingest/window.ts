import { plainDecimal } from '../decimals.ts';
import type { Log } from '../effects.ts';
import { PlatformError } from '../errors.ts';
import {
  controlQuery,
  type DecodedPage,
  describeQuery,
  detailQuery,
  type PageSink,
  type Query,
  type Role,
  repairQuery,
  residualQuery,
  typesQuery,
} from '../fetch/index.ts';
import { formatWindow, type Instant, type Window } from '../time.ts';
import type { DifferingHours, LoadedQuery, Proof, Stage, TotalsKnown } from '../warehouse/index.ts';

/** So many questions of one kind cost more calls than one about everything, which is one page or two. */
const manyQuestions = 3;

/** What reading one window takes. */
export interface WindowReading {
  readonly account: string;
  readonly window: Window;
  readonly stage: Stage;
  /**
   * Where answers come from, the platform or the landing folder: asks one query to its last page, hands each page to
   * the sink, and returns their number.
   */
  ask(query: Query, sink: PageSink, signal: AbortSignal): Promise<number>;
  /** The role if it is known; otherwise it is found out by asking for the control as admin. */
  readonly role: Role | undefined;
  /** What earlier answers taught about this account's totals. */
  readonly known: TotalsKnown;
  /**
   * Whether the platform is known to leave rows of these billing dimensions out of the detail while they stay in its
   * total. Anything else that the pages lack may be a page that was lost.
   */
  leavesOut(billingDimensions: readonly string[]): boolean;
  /** Runs work on the warehouse while no other does. */
  exclusively<T>(work: () => Promise<T>): Promise<T>;
  /** Called as soon as the role is known. */
  onRole(role: Role): void;
  /** Called for each page that arrived. */
  onPage(page: DecodedPage): void;
  readonly log: Log;
  readonly signal: AbortSignal;
}

/** A window that was read into the stage and compared. */
export interface WindowRead {
  readonly role: Role;
  readonly queries: readonly LoadedQuery[];
  /** What did not prove; undefined where everything did. */
  readonly because: string | undefined;
  /** The first hour in which rows and control differ. */
  readonly firstUnprovenHour: Instant | undefined;
  /** Whether the platform was known to leave out what the pages lack. */
  readonly leavesOut: boolean;
  /** The billing dimensions of which the detail left out rows that stood in its total; empty where it did not. */
  readonly leftOut: readonly string[];
}

/**
 * Reads one window into the stage: the detail and its control at once; then, where the detail has blind spots, the
 * queries that light them; and compares everything with the platform's own totals.
 * Throws PlatformError or RefusedAnswerError.
 */
export async function readWindow(reading: WindowReading): Promise<WindowRead> {
  const { account, window, stage, exclusively } = reading;
  const abort = new AbortController();
  const signal = AbortSignal.any([reading.signal, abort.signal]);
  const answered: LoadedQuery[] = [];
  let queries = 0;

  /** Asks one query into the stage and returns its number; one that fails leaves nothing behind. */
  async function ask(query: Query): Promise<number> {
    queries += 1;
    const number = queries;
    const sink = stage.addQuery(number, query.purpose, describeQuery(query));
    async function page(decoded: DecodedPage): Promise<void> {
      reading.onPage(decoded);
      await sink.page(decoded);
    }
    try {
      const pages = await reading.ask(query, { page, restart: sink.restart }, signal);
      answered.push({
        purpose: query.purpose,
        resourceType: query.resourceType ?? null,
        billingDimension: query.billingDimension ?? null,
        pages,
      });
    } catch (error) {
      await sink.restart();
      throw error;
    }
    return number;
  }

  /** Asks some queries at once and returns their numbers; the failure of one ends the others. */
  async function askAll(asked: readonly Query[]): Promise<number[]> {
    const settled = await Promise.allSettled(
      asked.map((query) =>
        ask(query).catch((error: unknown) => {
          if (!signal.aborted) abort.abort(error);
          throw error;
        }),
      ),
    );
    return settled.map((result) => {
      if (result.status === 'rejected') throw signal.reason ?? result.reason;
      return result.value;
    });
  }

  /** The control, as admin where the token may ask for it so: the role is learnt by asking, once. */
  async function learnRole(): Promise<Role> {
    try {
      await ask(controlQuery(window, 'admin'));
      return 'admin';
    } catch (error) {
      if (!(error instanceof PlatformError) || error.status !== 403) throw error;
      await ask(controlQuery(window, 'member'));
      return 'member';
    }
  }

  await stage.begin(account, window);
  let { role } = reading;
  if (role === undefined) {
    role = await learnRole();
    reading.onRole(role);
    await askAll([detailQuery(window)]);
  } else {
    await askAll([detailQuery(window), controlQuery(window, role)]);
  }
  stage.readAs(role);

  if (role === 'admin') {
    const types = await exclusively(async () => {
      await stage.takeDetail();
      return stage.typesWithoutUuid();
    });
    // One question about everything tells as much as one for each type, where names cannot merge resources of two types.
    const asked = (await isBestAskedAtOnce(types)) ? [undefined] : types;
    const numbers = await askAll(asked.map((type) => residualQuery(window, type)));
    await exclusively(async () => {
      for (const [index, resourceType] of asked.entries()) {
        await stage.takeResidual(numbers[index] ?? 0, { resourceType, billingDimension: undefined });
      }
    });
  } else {
    await exclusively(() => stage.takeDetail());
  }

  const readAs = role;
  const { short, incomplete } = await exclusively(async () => {
    const short = await stage.shortDimensions(reading.known);
    // As admin the rows of a type were asked for by that type already.
    const ambiguous = readAs === 'admin' ? [] : await stage.ambiguousDimensions();
    return { short, incomplete: [...new Set([...short, ...ambiguous])] };
  });
  if (incomplete.length > 0) {
    reading.log.info('the detail does not tell all of some billing dimensions; they are asked for by name', {
      account,
      window: formatWindow(window),
      billingDimensions: incomplete,
    });
    const shared = readAs === 'admin' ? await repairByType(incomplete) : [];
    const left = incomplete.filter((dimension) => !shared.includes(dimension));
    // What the detail leaves out for good is remembered by billing dimension, so it is asked by it.
    const byName = short.length === 0 && (await isBestAskedAtOnce(left)) ? [undefined] : left;
    const numbers = await askAll(byName.map((dimension) => repairQuery(window, dimension, readAs)));
    await exclusively(async () => {
      for (const [index, dimension] of byName.entries()) await stage.takeRepair(numbers[index] ?? 0, dimension);
    });
  }
  return exclusively(async () => {
    const leavesOut = reading.leavesOut(short);
    const { proofs, leftOut, differing } = await stage.prove(reading.known, leavesOut);
    return {
      role: readAs,
      queries: answered,
      because: describeFailures(proofs, differing),
      firstUnprovenHour: differing.length === 0 ? undefined : Math.min(...differing.map(({ span }) => span.start)),
      leavesOut,
      leftOut: leftOut ? short : [],
    };
  });

  /**
   * Whether many questions of one kind, one for each resource type or billing dimension, are better asked as one: where
   * everything fits on a page, and as admin no billing dimension may be shared by types, which are not told then.
   */
  async function isBestAskedAtOnce(parts: readonly string[]): Promise<boolean> {
    const detail = answered.find(({ purpose }) => purpose === 'detail');
    if (parts.length < manyQuestions || detail?.pages !== 1) return false;
    if (role !== 'admin') return true;
    const [certain, all] = await exclusively(async () => [await stage.dimensionsOfOneType(), await stage.dimensions()]);
    return all.every((dimension) => certain.includes(dimension));
  }

  /**
   * As admin, the dimensions that several resource types may share are asked for by type: by workspace and name alone,
   * resources of two types and one name would come as one row. Returns the dimensions that it repaired.
   */
  async function repairByType(dimensions: readonly string[]): Promise<string[]> {
    const certain = await exclusively(() => stage.dimensionsOfOneType());
    const shared = dimensions.filter((dimension) => !certain.includes(dimension));
    const numbers = await askAll(shared.map((dimension) => typesQuery(window, dimension)));
    const filters: { resourceType: string; billingDimension: string }[] = [];
    for (const [index, billingDimension] of shared.entries()) {
      const types = await exclusively(() => stage.typesAsked(numbers[index] ?? 0));
      const named = types.filter((type) => type !== undefined);
      // Rows of no type cannot be asked for by type; then the dimension is repaired by name as a whole.
      if (named.length < types.length) continue;
      filters.push(...named.map((resourceType) => ({ resourceType, billingDimension })));
    }
    const residuals = await askAll(
      filters.map(({ resourceType, billingDimension }) => residualQuery(window, resourceType, billingDimension)),
    );
    await exclusively(async () => {
      for (const [index, filter] of filters.entries()) await stage.takeResidual(residuals[index] ?? 0, filter);
    });
    return [...new Set(filters.map(({ billingDimension }) => billingDimension))];
  }
}

/** The checks that did not hold: found in the rows, expected by the platform's totals. Undefined where all hold. */
function describeFailures(proofs: readonly Proof[], differing: readonly DifferingHours[]): string | undefined {
  const failed = proofs.filter((proof) => !proof.proven);
  if (failed.length === 0) return undefined;
  const told = failed.slice(0, 3).map((proof) => {
    const of = proof.billingDimension === undefined ? '' : ` in ${proof.billingDimension}`;
    return (
      `check "${proof.compared}"${of} (${proof.measure}): found ${trim(proof.ours)}, expected ${trim(proof.theirs)}, ` +
      `difference ${trim(proof.difference)}, rounding explains ${plainDecimal(Number(proof.tolerance.toPrecision(3)))}`
    );
  });
  const more = failed.length > told.length ? `; and ${failed.length - told.length} more` : '';
  const hours = differing
    .slice(0, 3)
    .map(
      ({ billingDimension, hours: count, span, costDifference }) =>
        `; ${billingDimension ?? 'no billing dimension'} differs in ${count} hour${count === 1 ? '' : 's'} of ` +
        `${formatWindow(span)}, by ${trim(costDifference)} USD in all`,
    );
  return told.join('; ') + more + hours.join('');
}

function trim(decimal: string): string {
  return decimal.includes('.') ? decimal.replace(/\.?0+$/, '') : decimal;
}
