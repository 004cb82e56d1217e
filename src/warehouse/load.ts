import { RefusedAnswerError } from '../errors.ts';
import {
  formatInstant,
  formatWindow,
  hourMs,
  type Instant,
  intersectWindows,
  subtractWindows,
  type Window,
} from '../time.ts';
import type { Connection, SqlParameters } from './connection.ts';
import type { JournalEvent, Recorder } from './journal.ts';
import { readSql, readSqlFolder, type SqlFile } from './sql-files.ts';

/** One decoded page of a query, as columns. Amounts are scaled integers: USD × 10^12 and unit × 10^6. */
export interface StagedPage {
  readonly totalCost: string;
  readonly costDecimals: number;
  readonly usageDecimals: number;
  readonly entries: readonly {
    readonly workspace: string | undefined;
    readonly resourceType: string | undefined;
    readonly resourceName: string | undefined;
    readonly resourceUuid: string | undefined;
    readonly billingDimension: string | undefined;
    readonly cost: string;
    readonly usage: string;
  }[];
  readonly points: {
    readonly count: number;
    readonly entry: Int32Array;
    readonly bucket: Int32Array;
    readonly cost: BigInt64Array;
    readonly usage: BigInt64Array;
  };
}

/** As whom a window was read. */
export type LoadRole = 'admin' | 'member';

/** A comparison with the platform's own totals; amounts of money and usage are decimal text. */
export interface Proof {
  readonly compared: string;
  readonly measure: string;
  readonly billingDimension: string | undefined;
  /** How many amounts of ours were added up; whole, as text. */
  readonly amounts: string;
  readonly ours: string;
  readonly theirs: string;
  readonly difference: string;
  readonly tolerance: number;
  readonly proven: boolean;
}

/** Hours of a window in which the rows of a billing dimension and the control differ. */
export interface DifferingHours {
  readonly billingDimension: string | undefined;
  readonly hours: number;
  /** From the first to the last of them. */
  readonly span: Window;
  /** USD, decimal text: ours less theirs over those hours. */
  readonly costDifference: string;
}

/** How many decimals the platform's own totals carry, for cost and for usage. */
export interface TotalDecimals {
  readonly cost: number;
  readonly usage: number;
}

/** One query that made a load: what for, what it was filtered by (null where by nothing), and its pages. */
export interface LoadedQuery {
  readonly purpose: string;
  readonly resourceType: string | null;
  readonly billingDimension: string | null;
  readonly pages: number;
}

/** By what a query was restricted. */
export interface QueryFilter {
  readonly resourceType: string | undefined;
  readonly billingDimension: string | undefined;
}

/** What is known about an account's totals before a window of it is compared with them. */
export interface TotalsKnown {
  /** The most decimals that they were seen to carry. */
  readonly decimals: TotalDecimals;
  /** A tolerance in USD that was agreed by hand stands instead of the computed one. */
  readonly agreedTolerance: string | undefined;
}

/** What is compared where the detail's pages fall short of their own total, and all rows together meet it. */
export const allRowsMeet = 'all rows = the total of detail, which leaves some out';

/** What a load is recorded with. */
export interface LoadFacts {
  readonly loadNumber: number;
  readonly runNumber: number;
  /** Which reading of the window within the run. */
  readonly reading: number;
  readonly reason: string;
  readonly requests: number;
  readonly pages: number;
  readonly queries: readonly LoadedQuery[];
  /** Hours from here on are too young to be claimed. */
  readonly claimedEnd: Instant;
  readonly seenAt: Instant;
  /** The platform's clock when the window was read; undefined where it did not say. */
  readonly platformAt?: Instant | undefined;
}

export interface LoadResult {
  readonly outcome: 'loaded' | 'unchanged';
  /** Rows of the window now, and how many hours of series differ from before. */
  readonly amounts: number;
  readonly restated: number;
}

/** What a load found and writes: with its facts it is all of the load but the rows themselves. */
export interface LoadWritten extends LoadResult {
  /** USD of the window's rows, decimal text. */
  readonly cost: string;
  /** The window in pieces, each with the role as which its rows were read. */
  readonly pieces: readonly { readonly window: Window; readonly role: LoadRole }[];
  readonly proofs: readonly Proof[];
}

/** What is recorded of a window that did not prove. */
export interface UnprovenFacts {
  readonly because: string;
  /** Whether only hours are concerned whose numbers may still be changing. */
  readonly isYoung: boolean;
  readonly runNumber: number;
  readonly seenAt: Instant;
}

/** Where one window's answers are collected, proven and written; it owns its connection. */
export interface Stage {
  /** Empties the stage for a window. */
  begin(account: string, window: Window): Promise<void>;
  /** As whom the window is read; said before anything is taken, compared or loaded. */
  readAs(role: LoadRole): void;
  /**
   * A sink for the pages of one query of the given purpose and name; `query` numbers them within the window. `of` is the
   * window that the query is about, where that is another one.
   */
  addQuery(
    query: number,
    purpose: string,
    name: string,
    of?: Window,
  ): { page(page: StagedPage): Promise<void>; restart(): Promise<void> };
  /** Makes the detail's entries the window's rows. */
  takeDetail(): Promise<void>;
  /** Resource types whose rows carry no uuid. */
  typesWithoutUuid(): Promise<string[]>;
  /** Puts rows by workspace (of the query numbered, filtered so) in the place of rows without uuid. */
  takeResidual(query: number, filter: QueryFilter): Promise<void>;
  /** Billing dimensions in which rows and control differ. */
  shortDimensions(known: TotalsKnown): Promise<string[]>;
  /** Billing dimensions that are known to belong to one resource type. */
  dimensionsOfOneType(): Promise<string[]>;
  /** The billing dimensions of the window's rows so far. */
  dimensions(): Promise<string[]>;
  /** The resource types among the groups of a query; undefined where the platform names none. */
  typesAsked(query: number): Promise<(string | undefined)[]>;
  /** Billing dimensions whose rows without uuid may be several resources of several types. */
  ambiguousDimensions(): Promise<string[]>;
  /** Adds what a query of one billing dimension shows beyond the rows. */
  takeRepair(query: number, billingDimension: string | undefined): Promise<void>;
  /**
   * Compares everything with the platform's own totals. Where the platform is known to leave rows out of the detail,
   * all rows together may meet the detail's total in its pages' place; `leftOut` tells whether they had to. `differing`
   * are the hours whose rows and control differ, by billing dimension.
   */
  prove(
    known: TotalsKnown,
    leavesOut: boolean,
  ): Promise<{ proofs: Proof[]; leftOut: boolean; differing: readonly DifferingHours[] }>;
  /** The most decimals that this window's totals carry. */
  decimals(): TotalDecimals;
  /** The start of the last hour of the window with any cost or usage; undefined where there is none. */
  lastHour(): Promise<Instant | undefined>;
  /**
   * Replaces the window and writes the ledger, in one transaction. `file` gives the answers their place, which it
   * returns, and is called last before the commit: no load is in the books whose answers are not where it says.
   */
  load(facts: LoadFacts, file: (written: LoadWritten) => Promise<string | undefined>): Promise<LoadResult>;
  /** Writes a load that changed nothing into the ledger once more, from what was kept of it. */
  repeat(facts: LoadFacts, written: LoadWritten, place: string | undefined): Promise<void>;
  /** Records the comparisons that were made last, of a reading that did not prove. */
  recordFailedProofs(runNumber: number, reading: number, seenAt: Instant): Promise<void>;
  /** Records a window that did not prove. */
  recordUnproven(unproven: Window, facts: UnprovenFacts): Promise<void>;
  /** Takes a window that was proven off the record of those that were not. */
  forgetUnproven(proven: Window): Promise<void>;
  close(): void;
}

/** A total that pages of one answer tell so differently did change while they were read: USD, and share of it. */
const changedFromUsd = 0.005;
const changedFromShare = 1e-8;

/**
 * Whether two tellings of a total may be one sum of doubles, added up in two orders: the comparison with the rows judges
 * that exactly. Both are decimal text.
 */
function isNearly(total: string, other: string): boolean {
  const [a, b] = [Number(total), Number(other)];
  return Math.abs(a - b) <= Math.max(changedFromUsd, changedFromShare * Math.max(Math.abs(a), Math.abs(b)));
}

/** Fewest decimals that a total is taken to carry, whatever we saw: a platform that bills in USD knows cents. */
const fewestDecimals = 2;

/** What the SQL that compares is told of tolerances; `seen` are the decimals of the answers at hand. */
export function toleranceParameters(known: TotalsKnown, seen: TotalDecimals): SqlParameters {
  return {
    cost_half_unit: 0.5 * 10 ** -Math.max(fewestDecimals, known.decimals.cost, seen.cost),
    usage_half_unit: 0.5 * 10 ** -Math.max(fewestDecimals, known.decimals.usage, seen.usage),
    agreed: known.agreedTolerance ?? null,
  };
}

/** Opens a stage on a connection of its own; what no load speaks of goes through the recorder. */
export async function openStage(connection: Connection, recorder: Recorder): Promise<Stage> {
  const files = new Map((await readSqlFolder('load')).map((file) => [file.name, file]));
  const givenProofs = (await readSqlFolder('journal')).find(({ name }) => name === 'proofs');
  if (givenProofs === undefined) throw new Error('sql/journal/proofs.sql is missing');
  const givenProofsSql = givenProofs.text;
  function sql(name: string): string {
    const file: SqlFile | undefined = files.get(name);
    if (file === undefined) throw new Error(`sql/load/${name}.sql is missing`);
    return file.text;
  }
  await connection.run(sql('macros'));

  let account = '';
  let window: Window = { start: 0, end: 0 };
  let role: LoadRole = 'member';
  let entries = 0;
  let decimals = new Map<number, TotalDecimals>();
  let proofs: readonly Proof[] = [];
  // What differed when the hours were compared; undefined where anything came or was taken since.
  let differing: readonly DifferingHours[] | undefined;

  function decimalsSeen(): TotalDecimals {
    const seen = [...decimals.values()];
    return {
      cost: Math.max(0, ...seen.map(({ cost }) => cost)),
      usage: Math.max(0, ...seen.map(({ usage }) => usage)),
    };
  }
  function byWorkspace(): boolean {
    return role === 'admin';
  }
  async function compareHours(known: TotalsKnown): Promise<readonly DifferingHours[]> {
    if (differing !== undefined) return differing;
    const tolerance = toleranceParameters(known, decimalsSeen());
    await connection.run(sql('compare_hours'), { by_workspace: byWorkspace(), ...tolerance });
    const rows = await connection.rows(sql('differing_hours'));
    differing = rows.map((row) => ({
      billingDimension: row['billing_dimension'] === null ? undefined : String(row['billing_dimension']),
      hours: Number(row['hours']),
      span: {
        start: window.start + Number(row['first_bucket']) * hourMs,
        end: window.start + (Number(row['last_bucket']) + 1) * hourMs,
      },
      costDifference: String(row['cost_difference']),
    }));
    return differing;
  }
  function windowParameters(of: Window): { account: string; window_start: string; window_end: string } {
    return { account, window_start: formatInstant(of.start), window_end: formatInstant(of.end) };
  }

  return {
    async begin(newAccount, newWindow) {
      account = newAccount;
      window = newWindow;
      entries = 0;
      decimals = new Map();
      proofs = [];
      differing = undefined;
      await connection.run(sql('stage'));
    },

    readAs(newRole) {
      differing = undefined;
      role = newRole;
    },

    addQuery(query, purpose, name, of = window) {
      let total: string | undefined;
      return {
        async page(page) {
          differing = undefined;
          if (total === undefined) {
            total = page.totalCost;
            await connection.appendRows('staged_queries', [[query, purpose, name, total, total]]);
          } else if (page.totalCost !== total) {
            if (!isNearly(total, page.totalCost)) {
              throw new RefusedAnswerError(
                `${name} of ${formatWindow(of)} of account ${account}: summary.totalCost was ${total} on the ` +
                  `first page and is ${page.totalCost} on a later one; the numbers changed while they were read`,
              );
            }
            await connection.run(sql('widen_total'), { query, total: page.totalCost });
          }
          const first = entries;
          entries += page.entries.length;
          const before = decimals.get(query);
          decimals.set(query, {
            cost: Math.max(before?.cost ?? 0, page.costDecimals),
            usage: Math.max(before?.usage ?? 0, page.usageDecimals),
          });
          await connection.appendRows(
            'staged_entries',
            page.entries.map((entry, index) => [
              first + index,
              query,
              entry.workspace ?? null,
              entry.resourceType ?? null,
              entry.resourceName ?? null,
              entry.resourceUuid ?? null,
              entry.billingDimension ?? null,
              entry.cost,
              entry.usage,
            ]),
          );
          const { points } = page;
          for (let point = 0; point < points.count; point += 1)
            points.entry[point] = first + (points.entry[point] ?? 0);
          await connection.appendPoints('staged_points', points.count, {
            first: points.entry,
            second: points.bucket,
            third: { values: points.cost, scale: 12 },
            fourth: { values: points.usage, scale: 6 },
          });
        },
        async restart() {
          differing = undefined;
          total = undefined;
          decimals.delete(query);
          await connection.run(sql('forget_query'), { query });
        },
      };
    },

    async takeDetail() {
      differing = undefined;
      await connection.run(sql('rows_of_detail'), { account });
    },

    async typesWithoutUuid() {
      const rows = await connection.rows(sql('types_without_uuid'));
      return rows.map((row) => String(row['resource_type']));
    },

    async takeResidual(query, filter) {
      differing = undefined;
      const filters = {
        resource_type: filter.resourceType ?? null,
        billing_dimension: filter.billingDimension ?? null,
      };
      await connection.run(sql('drop_rows_without_uuid'), filters);
      await connection.run(sql('add_difference'), { query, account, by_workspace: true, ...filters });
    },

    async shortDimensions(known) {
      return (await compareHours(known)).flatMap(({ billingDimension }) => billingDimension ?? []);
    },

    async dimensionsOfOneType() {
      const rows = await connection.rows(sql('dimensions_of_one_type'));
      return rows.map((row) => String(row['billing_dimension']));
    },

    async dimensions() {
      const rows = await connection.rows(sql('dimensions'));
      return rows.map((row) => String(row['billing_dimension']));
    },

    async typesAsked(query) {
      const rows = await connection.rows(sql('types_asked'), { query });
      return rows.map((row) => (row['resource_type'] === null ? undefined : String(row['resource_type'])));
    },

    async ambiguousDimensions() {
      const rows = await connection.rows(sql('ambiguous_dimensions'));
      return rows.map((row) => String(row['billing_dimension']));
    },

    async takeRepair(query, billingDimension) {
      differing = undefined;
      // By resource type and name the query tells more of them than the detail did; by workspace it may tell less.
      if (role === 'member') {
        await connection.run(sql('drop_rows_without_uuid'), {
          resource_type: null,
          billing_dimension: billingDimension ?? null,
        });
      }
      await connection.run(sql('add_difference'), {
        query,
        account,
        by_workspace: byWorkspace(),
        resource_type: null,
        billing_dimension: billingDimension ?? null,
      });
    },

    async prove(known, leavesOut) {
      const differing = await compareHours(known);
      await connection.run(sql('prove'), { ...toleranceParameters(known, decimalsSeen()), leaves_out: leavesOut });
      proofs = await readProofs(connection);
      return { proofs: [...proofs], leftOut: proofs.some(({ compared }) => compared === allRowsMeet), differing };
    },

    decimals: decimalsSeen,

    async lastHour() {
      const [row] = await connection.rows(sql('last_hour'));
      const last = row?.['last_bucket'] ?? null;
      return last === null ? undefined : window.start + Number(last) * hourMs;
    },

    async load(facts, file) {
      const parameters = windowParameters(window);
      const [before] = await connection.rows(sql('before_loading'), parameters);
      const coveredHours = Number(before?.['covered_hours']);
      // A member's rows may have to give way to those that an admin read.
      const mayBeKept = role === 'member' && coveredHours > 0;
      await connection.run(
        sql(before?.['stand_once'] === true && !mayBeKept ? 'rows_to_load' : 'rows_to_load_added_up'),
      );
      const pieces = coveredHours === 0 ? [{ window, role }] : await keepWhatAdminKnew();
      if (coveredHours > 0) await connection.run(sql('changes'), parameters);
      const [counts] = await connection.rows(sql('to_load'));
      const shared = counts?.['shared_series_id'] ?? null;
      if (shared !== null) throw new Error(`two different series share the id ${shared}: nothing was written`);
      const [changed] = coveredHours > 0 ? await connection.rows(sql('count_changes')) : [{ changed: 0, restated: 0 }];
      const restated = Number(changed?.['restated']);
      const isWhollyCovered = coveredHours * hourMs === window.end - window.start;
      const outcome = isWhollyCovered && Number(changed?.['changed']) === 0 ? 'unchanged' : 'loaded';
      const written: LoadWritten = {
        outcome,
        amounts: Number(counts?.['amounts']),
        restated,
        cost: String(counts?.['cost']),
        pieces,
        proofs,
      };
      const numbers = {
        load_number: facts.loadNumber,
        run_number: facts.runNumber,
        seen_at: formatInstant(facts.seenAt),
      };
      await connection.transaction(async () => {
        if (outcome === 'loaded') {
          await connection.run(sql('new_series'));
          await connection.run(sql(coveredHours === 0 ? 'fill' : 'replace'), { ...parameters, ...numbers });
        }
        await connection.run(sql('record_proofs'), { ...parameters, ...numbers, reading: facts.reading });
        await record(facts, written, await file(written), coveredHours > 0);
      });
      return { outcome, amounts: written.amounts, restated };
    },

    async repeat(facts, written, place) {
      await connection.transaction(async () => {
        await connection.run(givenProofsSql, {
          ...windowParameters(window),
          load_number: facts.loadNumber,
          run_number: facts.runNumber,
          reading: facts.reading,
          seen_at: formatInstant(facts.seenAt),
          proofs: JSON.stringify(written.proofs.map(proofValues)),
        });
        await record(facts, written, place, true);
      });
    },

    recordFailedProofs: (runNumber, reading, seenAt) =>
      recorder.record(proofsEvent({ account, window, runNumber, reading, seenAt }, proofs)),

    recordUnproven: (unproven, facts) =>
      recorder.record({
        event: 'window_read',
        values: {
          ...windowParameters(unproven),
          because: facts.because,
          is_young: facts.isYoung,
          run_number: facts.runNumber,
          seen_at: formatInstant(facts.seenAt),
        },
      }),

    async forgetUnproven(proven) {
      const parameters = windowParameters(proven);
      const onRecord = await connection.rows(sql('unproven'), parameters);
      if (onRecord.length === 0) return;
      await recorder.record({
        event: 'window_read',
        values: { ...parameters, because: null, is_young: null, run_number: null, seen_at: null },
      });
    },

    close: () => connection.close(),
  };

  /** The ledger's rows of a load, within its transaction; `wasCovered` where hours of its window were in the books. */
  async function record(
    facts: LoadFacts,
    written: LoadWritten,
    place: string | undefined,
    wasCovered: boolean,
  ): Promise<void> {
    const parameters = { ...windowParameters(window), load_number: facts.loadNumber };
    await connection.run(sql('record'), {
      ...parameters,
      run_number: facts.runNumber,
      reason: facts.reason,
      role,
      outcome: written.outcome,
      requests: facts.requests,
      pages: facts.pages,
      queries: JSON.stringify(facts.queries),
      amounts: written.amounts,
      restated: written.restated,
      cost: written.cost,
      claimed_end: formatInstant(facts.claimedEnd),
      seen_at: formatInstant(facts.seenAt),
      landing: place ?? null,
      platform_at: facts.platformAt === undefined ? null : formatInstant(facts.platformAt),
    });
    if (wasCovered) await connection.run(sql('give_way'), parameters);
    for (const piece of written.pieces) {
      await connection.run(sql('record_covered'), {
        account,
        piece_start: formatInstant(piece.window.start),
        piece_end: formatInstant(piece.window.end),
        claimed_end: formatInstant(facts.claimedEnd),
        role: piece.role,
        load_number: facts.loadNumber,
      });
    }
  }

  /**
   * A window read as admin is not replaced by one read without unless its totals differ: the rows that know their
   * workspace stay. Returns the window in pieces, each with the role as which its rows were read.
   */
  async function keepWhatAdminKnew(): Promise<{ window: Window; role: LoadRole }[]> {
    if (role === 'admin') return [{ window, role }];
    function pieceParameters(piece: Window): SqlParameters {
      return {
        account,
        window_start: formatInstant(window.start),
        piece_start: formatInstant(piece.start),
        piece_end: formatInstant(piece.end),
      };
    }
    const rows = await connection.rows(sql('covered_as_admin'), windowParameters(window));
    const kept: Window[] = [];
    for (const row of rows) {
      const piece = intersectWindows(window, { start: Number(row['window_start']), end: Number(row['window_end']) });
      if (piece === undefined) continue;
      const parameters = pieceParameters(piece);
      const differing = await connection.rows(sql('kept_as_admin_differs'), {
        ...parameters,
        ...toleranceParameters({ decimals: { cost: 12, usage: 6 }, agreedTolerance: undefined }, decimalsSeen()),
      });
      if (differing.length > 0) return [{ window, role }];
      kept.push(piece);
    }
    for (const piece of kept) {
      await connection.run(sql('keep_as_admin'), pieceParameters(piece));
    }
    return [
      ...kept.map((piece) => ({ window: piece, role: 'admin' as const })),
      ...subtractWindows([window], kept).map((piece) => ({ window: piece, role })),
    ];
  }
}

/** The comparisons that were made last on a connection, those that failed first. */
export async function readProofs(connection: Connection): Promise<Proof[]> {
  const rows = await connection.rows(await readSql('load', 'comparisons'));
  return rows.map((row) => ({
    compared: String(row['compared']),
    measure: String(row['measure']),
    billingDimension: row['billing_dimension'] === null ? undefined : String(row['billing_dimension']),
    amounts: String(row['amounts']),
    ours: String(row['ours']),
    theirs: String(row['theirs']),
    difference: String(row['difference']),
    tolerance: Number(row['tolerance']),
    proven: row['proven'] === true,
  }));
}

/** Comparisons of which no load came, as the journal keeps them. */
export function proofsEvent(
  facts: {
    readonly account: string;
    readonly window: Window;
    readonly runNumber: number;
    readonly reading: number;
    readonly seenAt: Instant;
  },
  proofs: readonly Proof[],
): JournalEvent {
  return {
    event: 'proofs',
    values: {
      account: facts.account,
      window_start: formatInstant(facts.window.start),
      window_end: formatInstant(facts.window.end),
      run_number: facts.runNumber,
      reading: facts.reading,
      load_number: null,
      seen_at: formatInstant(facts.seenAt),
      proofs: proofs.map(proofValues),
    },
  };
}

function proofValues({ billingDimension, ...proof }: Proof): Record<string, string | number | boolean | null> {
  return { ...proof, billing_dimension: billingDimension ?? null };
}
