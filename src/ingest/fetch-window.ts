import type { Log } from '../base/effects.ts';
import { PlatformError } from '../base/errors.ts';
import type { DecodedPage } from '../fetch/index.ts';
import {
  controlQuery,
  describeQuery,
  detailQuery,
  type Query,
  repairQuery,
  residualQuery,
  typesQuery,
} from '../fetch/plan/index.ts';
import { largestMagnitude, plainDecimal } from '../money/money.ts';
import { formatWindow, type Instant, type Window } from '../time/time.ts';
import {
  checkWords,
  type DifferingHours,
  type LoadedQuery,
  type Stage,
  type TotalsKnown,
} from '../warehouse/load/index.ts';
import type { PageSink, Reconciliation, Role } from '../warehouse/page.ts';

/** More queries of one kind than this cost more calls than one query about everything, which takes one or two pages. */
const manyQuestions = 3;

/** The input for reading one window. */
export interface WindowReading {
  readonly account: string;
  readonly window: Window;
  readonly stage: Stage;
  /**
   * The source of answers, platform or landing folder: runs one query to its last page, passes each page to the sink,
   * and returns their number.
   */
  ask(query: Query, sink: PageSink, signal: AbortSignal): Promise<number>;
  /** The role if known; otherwise the control query, sent as admin, reveals it. */
  readonly role: Role | undefined;
  /** What earlier answers revealed about this account's totals. */
  readonly known: TotalsKnown;
  /**
   * Whether the platform is known to omit rows of these billing dimensions from the detail but include them in its
   * total. If not, missing rows may mean a lost page.
   */
  leavesOut(billingDimensions: readonly string[]): boolean;
  /** Whether rows that the detail omits in these billing dimensions may be added from queries by name. */
  mayAddRows(billingDimensions: readonly string[]): boolean;
  /** Runs queries of the stage when it is their turn. */
  comparing<T>(work: () => Promise<T>): Promise<T>;
  /** Called once the role is known. */
  onRole(role: Role): void;
  /** Called for each page that arrives. */
  onPage(page: DecodedPage): void;
  readonly log: Log;
  readonly signal: AbortSignal;
}

/** A window that was read into the stage and compared. */
export interface WindowRead {
  readonly role: Role;
  readonly queries: readonly LoadedQuery[];
  /** Which checks failed; undefined if all passed. */
  readonly reason: string | undefined;
  /** The largest difference in cost: USD, decimal text without sign; undefined if no cost differs. */
  readonly costDifference: string | undefined;
  /** The first hour in which rows and control differ. */
  readonly firstUnprovenHour: Instant | undefined;
  /** Whether the platform was known to omit what the pages are missing. */
  readonly leavesOut: boolean;
  /** The billing dimensions whose rows the detail omits although its total includes them. */
  readonly leftOut: readonly string[];
}

/**
 * Reads one window into the stage: the detail and its control at the same time; then further queries if the detail
 * omits something; and compares everything with the platform's totals. Throws PlatformError or RefusedAnswerError.
 */
export async function readWindow(reading: WindowReading): Promise<WindowRead> {
  await reading.stage.begin(reading.account, reading.window);
  const reader = new WindowReader(reading);
  const role = await reader.readDetail();
  if (role === 'admin') await reader.readResiduals();
  else await reading.comparing(() => reading.stage.takeDetail());
  const short = await reader.repairGaps(role);
  return reader.reconcile(role, short);
}

/** One window while it is read into the stage, with its queries so far. */
class WindowReader {
  readonly #reading: WindowReading;
  readonly #abort = new AbortController();
  readonly #signal: AbortSignal;
  readonly #answered: LoadedQuery[] = [];
  #queries = 0;

  constructor(reading: WindowReading) {
    this.#reading = reading;
    this.#signal = AbortSignal.any([reading.signal, this.#abort.signal]);
  }

  /** Runs the detail and its control; returns the role of the token. */
  async readDetail(): Promise<Role> {
    const { window, stage, onRole } = this.#reading;
    let { role } = this.#reading;
    if (role === undefined) {
      role = await this.#learnRole();
      onRole(role);
      await this.#askAll([detailQuery(window)]);
    } else {
      await this.#askAll([detailQuery(window), controlQuery(window, role)]);
    }
    stage.readAs(role);
    return role;
  }

  /** As admin: queries what has no UUID and therefore no row of its own in the detail. */
  async readResiduals(): Promise<void> {
    const { window, stage, comparing } = this.#reading;
    const types = await comparing(async () => {
      await stage.takeDetail();
      return stage.typesWithoutUuid();
    });
    // One query about everything is as good as one per type, unless names can merge resources of two types.
    const asked = (await this.#isBestAskedAtOnce(types, 'admin')) ? [undefined] : types;
    const numbers = await this.#askAll(asked.map((type) => residualQuery(window, type)));
    await comparing(async () => {
      for (const [index, resourceType] of asked.entries()) {
        await stage.takeResidual(numbers[index] ?? 0, { resourceType, billingDimension: undefined });
      }
    });
  }

  /**
   * Queries by name the billing dimensions that the detail reports incompletely. Returns those whose rows were below
   * their total before.
   */
  async repairGaps(role: Role): Promise<readonly string[]> {
    const { account, window, stage, comparing, known, log } = this.#reading;
    const { short, incomplete } = await comparing(async () => {
      const short = await stage.shortDimensions(known);
      // As admin, the rows of a type were already queried by that type.
      const ambiguous = role === 'admin' ? [] : await stage.ambiguousDimensions();
      return { short, incomplete: [...new Set([...short, ...ambiguous])] };
    });
    if (incomplete.length === 0 || !this.#reading.mayAddRows(short)) return short;
    log.info('query.split', 'The detail omits part of some billing dimensions; querying them by name', {
      account,
      window: formatWindow(window),
      billingDimensions: incomplete,
    });
    const shared = role === 'admin' ? await this.#repairByType(incomplete) : [];
    const left = incomplete.filter((dimension) => !shared.includes(dimension));
    // Permanent omissions are recorded per billing dimension, so they are queried by dimension.
    const byName = short.length === 0 && (await this.#isBestAskedAtOnce(left, role)) ? [undefined] : left;
    const numbers = await this.#askAll(byName.map((dimension) => repairQuery(window, dimension, role)));
    await comparing(async () => {
      for (const [index, dimension] of byName.entries()) await stage.takeRepair(numbers[index] ?? 0, dimension);
    });
    return short;
  }

  /** Compares what was read with the platform's totals. */
  async reconcile(role: Role, short: readonly string[]): Promise<WindowRead> {
    const { stage, comparing, known } = this.#reading;
    return comparing(async () => {
      const leavesOut = this.#reading.leavesOut(short);
      const { reconciliations, leftOut, differing } = await stage.reconcile(known, leavesOut);
      return {
        role,
        queries: this.#answered,
        reason: describeFailures(reconciliations, differing),
        costDifference: largestCostDifference(reconciliations),
        firstUnprovenHour: differing.length === 0 ? undefined : Math.min(...differing.map(({ span }) => span.start)),
        leavesOut,
        leftOut: leftOut ? short : [],
      };
    });
  }

  /** Runs one query into the stage and returns its number; a query that fails leaves nothing behind. */
  async #ask(query: Query): Promise<number> {
    this.#queries += 1;
    const number = this.#queries;
    const sink = this.#reading.stage.addQuery(number, query.purpose, describeQuery(query));
    const page = async (decoded: DecodedPage): Promise<void> => {
      this.#reading.onPage(decoded);
      await sink.page(decoded);
    };
    try {
      const pages = await this.#reading.ask(query, { page, restart: sink.restart }, this.#signal);
      this.#answered.push({
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

  /** Runs several queries at once and returns their numbers; the failure of one ends the others. */
  async #askAll(asked: readonly Query[]): Promise<number[]> {
    const settled = await Promise.allSettled(
      asked.map((query) =>
        this.#ask(query).catch((error: unknown) => {
          if (!this.#signal.aborted) this.#abort.abort(error);
          throw error;
        }),
      ),
    );
    return settled.map((result) => {
      if (result.status === 'rejected') throw this.#signal.reason ?? result.reason;
      return result.value;
    });
  }

  /** Runs the control, as admin if the token may; this reveals the role, once. */
  async #learnRole(): Promise<Role> {
    const { window } = this.#reading;
    try {
      await this.#ask(controlQuery(window, 'admin'));
      return 'admin';
    } catch (error) {
      if (!(error instanceof PlatformError) || error.status !== 403) throw error;
      await this.#ask(controlQuery(window, 'member'));
      return 'member';
    }
  }

  /**
   * Whether one query replaces many, one for each resource type or billing dimension: if everything fits on a page and,
   * as admin, if no billing dimension may be shared by types, which the one query does not show.
   */
  async #isBestAskedAtOnce(parts: readonly string[], role: Role): Promise<boolean> {
    const { stage, comparing } = this.#reading;
    const detail = this.#answered.find(({ purpose }) => purpose === 'detail');
    if (parts.length < manyQuestions || detail?.pages !== 1) return false;
    if (role !== 'admin') return true;
    const [certain, all] = await comparing(async () => [await stage.dimensionsOfOneType(), await stage.dimensions()]);
    return all.every((dimension) => certain.includes(dimension));
  }

  /**
   * As admin, queries by type the dimensions that several resource types may share: by workspace and name alone,
   * resources of two types with one name would arrive as one row. Returns the repaired dimensions.
   */
  async #repairByType(dimensions: readonly string[]): Promise<string[]> {
    const { window, stage, comparing } = this.#reading;
    const certain = await comparing(() => stage.dimensionsOfOneType());
    const shared = dimensions.filter((dimension) => !certain.includes(dimension));
    const numbers = await this.#askAll(shared.map((dimension) => typesQuery(window, dimension)));
    const filters: { resourceType: string; billingDimension: string }[] = [];
    for (const [index, billingDimension] of shared.entries()) {
      const types = await comparing(() => stage.typesAsked(numbers[index] ?? 0));
      const named = types.filter((type) => type !== undefined);
      // Rows without a type cannot be queried by type; then the dimension is repaired by name as a whole.
      if (named.length < types.length) continue;
      filters.push(...named.map((resourceType) => ({ resourceType, billingDimension })));
    }
    const residuals = await this.#askAll(
      filters.map(({ resourceType, billingDimension }) => residualQuery(window, resourceType, billingDimension)),
    );
    await comparing(async () => {
      for (const [index, filter] of filters.entries()) await stage.takeResidual(residuals[index] ?? 0, filter);
    });
    return [...new Set(filters.map(({ billingDimension }) => billingDimension))];
  }
}

/** The largest difference in cost that a check found: USD, decimal text without sign. Undefined if no cost differs. */
function largestCostDifference(reconciliations: readonly Reconciliation[]): string | undefined {
  const failed = reconciliations.filter(({ proven, measure }) => !proven && measure === 'cost');
  return largestMagnitude(failed.map(({ difference }) => difference));
}

/** The failed checks: what the rows add up to, and what the platform's totals expect. Undefined if all passed. */
function describeFailures(
  reconciliations: readonly Reconciliation[],
  differing: readonly DifferingHours[],
): string | undefined {
  const failed = reconciliations.filter((reconciliation) => !reconciliation.proven);
  if (failed.length === 0) return undefined;
  const shown = failed.slice(0, 3).map((reconciliation) => {
    const of = reconciliation.billingDimension === undefined ? '' : ` in ${reconciliation.billingDimension}`;
    return (
      `check "${checkWords(reconciliation.checkCode)}"${of} (${reconciliation.measure}): found ${trim(reconciliation.ours)}, expected ${trim(reconciliation.theirs)}, ` +
      `difference ${trim(reconciliation.difference)}, rounding explains ${plainDecimal(Number(reconciliation.tolerance.toPrecision(3)))}`
    );
  });
  const more = failed.length > shown.length ? `; and ${failed.length - shown.length} more` : '';
  const hours = differing
    .slice(0, 3)
    .map(
      ({ billingDimension, hours: count, span, costDifference }) =>
        `; ${billingDimension ?? 'no billing dimension'} differs in ${count} hour${count === 1 ? '' : 's'} of ` +
        `${formatWindow(span)}, by ${trim(costDifference)} USD in total`,
    );
  return shown.join('; ') + more + hours.join('');
}

function trim(decimal: string): string {
  return decimal.includes('.') ? decimal.replace(/\.?0+$/, '') : decimal;
}
