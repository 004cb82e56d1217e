import { addCalendarMonths, formatInstant, formatMonth, type Instant } from '../../time/time.ts';
import { closedMonths } from '../../warehouse/ledger/index.ts';
import {
  type CostPartition,
  costPartitions,
  lastLoadOf,
  partitionsChangedSince,
  viewsSha256,
} from '../../warehouse/load/index.ts';
import { readSql } from '../../warehouse/sql/index.ts';
import type { Connection, SqlRow } from '../../warehouse/store/index.ts';
import { type Manifest, type PartitionBasis, sha256OfText } from '../exports/manifest.ts';
import type { BasisKind, LakeTable } from './tables.ts';

/** An account and a month as text: `2026-10`. */
export interface Partition {
  readonly account: string;
  readonly month: string;
}

/** The state of everything that partitions depend on. */
export interface Bases {
  /** Stored in the manifest, so that the next run knows which hours changed since. */
  readonly stored: PartitionBasis;
  /** The partitions of a table, in order. */
  partitionsOf(table: LakeTable): readonly Partition[];
  /** A text that changes when the rows of a partition, or of a table in one file, may have changed. */
  basisOf(table: LakeTable, partition: Partition | undefined): string;
  /** Whether a table certainly has no rows, so that its query need not be asked. */
  isEmpty(table: LakeTable): boolean;
}

/**
 * Reads the state of everything that partitions depend on, and makes the temporary tables that their queries read. Only
 * hours that changed since the current manifest are read, if that continues these books.
 */
export async function readBases(
  connection: Connection,
  current: Manifest | undefined,
  { isContinued, names }: { readonly isContinued: boolean; readonly names: string },
): Promise<Bases> {
  for (const text of [
    await readSql('partitions', 'series_in_order'),
    await readSql('partitions', 'states'),
    await readSql('partitions', 'billed'),
    await readSql('partitions', 'owners'),
  ]) {
    await connection.run(text);
  }
  const stored = await hoursBasis(connection, isContinued ? current?.basis : undefined);
  const views = sha256OfText(`${names}${await viewsSha256(connection)}`);
  const hours = new Map<string, string>(
    Object.entries(stored.hours ?? {}).flatMap(([account, months]) =>
      Object.entries(months).map(([month, load]) => [keyOf({ account, month }), String(load)] as const),
    ),
  );
  const months = { months: JSON.stringify([...hours.keys()].map(partitionOf)) };
  const found: Readonly<Record<Exclude<BasisKind, 'outcomes' | 'corrections'>, ReadonlyMap<string, string>>> = {
    hours,
    closes: toMap(await connection.rows(await readSql('partitions', 'basis_of_closes'))),
    owners: toMap(await connection.rows(await readSql('partitions', 'basis_of_owners'), months)),
    states: toMap(await connection.rows(await readSql('partitions', 'basis_of_resources'), months)),
    restatements: toMap(await connection.rows(await readSql('partitions', 'basis_of_restatements'))),
    accounts: new Map(
      (await connection.rows(await readSql('partitions', 'basis_of_accounts'))).map((row) => [
        String(row['account']),
        String(row['basis']),
      ]),
    ),
  };
  const outcomes = await outcomesBasis(connection, [found.hours, found.owners, found.states]);
  const corrections = await correctionsBasis(connection, found);
  return {
    stored,
    partitionsOf({ follows }) {
      const kinds = follows.includes('restatements') ? (['restatements'] as const) : (['hours', 'closes'] as const);
      const keys = kinds.filter((kind) => follows.includes(kind)).flatMap((kind) => [...found[kind].keys()]);
      return [...new Set(keys)].sort().map(partitionOf);
    },
    isEmpty: ({ follows }) =>
      (follows.includes('outcomes') && !outcomes.hasEnded) ||
      (follows.includes('corrections') && found.closes.size === 0),
    basisOf(table, partition) {
      const parts = table.follows.map((kind) => {
        if (kind === 'outcomes') return outcomes.basis;
        if (kind === 'corrections') return corrections;
        if (partition === undefined) throw new Error(`the table ${table.name} has no partitions to follow ${kind}`);
        return found[kind].get(kind === 'accounts' ? partition.account : keyOf(partition));
      });
      return sha256OfText(JSON.stringify([table.version, sha256OfText(table.file.text), views, ...parts.map(orNone)]));
    },
  };
}

function sorted(map: ReadonlyMap<string, string>): [string, string][] {
  return [...map].sort();
}

function orNone(text: string | undefined): string | null {
  return text ?? null;
}

export function keyOf({ account, month }: Partition): string {
  return JSON.stringify([account, month]);
}

function partitionOf(key: string): Partition {
  const [account = '', month = ''] = JSON.parse(key) as string[];
  return { account, month };
}

function toMap(rows: readonly SqlRow[]): ReadonlyMap<string, string> {
  return new Map(
    rows.map((row) => [keyOf({ account: String(row['account']), month: String(row['month']) }), String(row['basis'])]),
  );
}

/** A text that changes when a forecast's period ended, or the costs of such a period may have changed. */
async function outcomesBasis(
  connection: Connection,
  maps: readonly ReadonlyMap<string, string>[],
): Promise<{ readonly basis: string; readonly hasEnded: boolean }> {
  const [row = {}] = await connection.rows(await readSql('partitions', 'basis_of_outcomes'));
  const { first_month: first, last_month: last } = row;
  const within = maps.map((map) =>
    sorted(map).filter(([key]) => {
      const { month } = partitionOf(key);
      return typeof first === 'string' && typeof last === 'string' && month >= first && month <= last;
    }),
  );
  return { basis: sha256OfText(JSON.stringify([row, within])), hasEnded: typeof first === 'string' };
}

/** A text that changes when a correction, its owner or its share may have changed. */
async function correctionsBasis(
  connection: Connection,
  { closes, owners, hours }: Readonly<Record<'closes' | 'owners' | 'hours', ReadonlyMap<string, string>>>,
): Promise<string> {
  // Without a month whose bill differs from its hours, nothing else matters.
  if (closes.size === 0) return 'none';
  // The rules at a close belong to the instant of the close.
  const months = (await closedMonths(connection)).map(({ month, closedAt }) => [month, closedAt]);
  return sha256OfText(JSON.stringify([months, ...[closes, owners, hours].map(sorted)]));
}

/** The load since which the hours of each account and month are as they are. */
async function hoursBasis(connection: Connection, before: PartitionBasis | undefined): Promise<PartitionBasis> {
  const lastLoad = await lastLoadOf(connection);
  const changed: CostPartition[] =
    before === undefined ? await costPartitions(connection) : await partitionsChangedSince(connection, before.lastLoad);
  const hours: Record<string, Record<string, number>> = {};
  for (const [account, months] of Object.entries(before?.hours ?? {})) hours[account] = { ...months };
  for (const { account, month } of changed) {
    hours[account] = { ...hours[account], [formatMonth(month)]: lastLoad };
  }
  return { lastLoad, hours: inOrder(hours, (months) => inOrder(months, (load) => load)) };
}

/** A record with its keys in order, so that the same books give the same manifest. */
function inOrder<Value, Ordered>(record: Readonly<Record<string, Value>>, each: (value: Value) => Ordered) {
  const sorted = Object.entries(record).sort(([one], [other]) => (one < other ? -1 : 1));
  return Object.fromEntries(sorted.map(([name, value]) => [name, each(value)]));
}

/** Whether the current manifest is of these books: then months without new loads are as they were. */
export async function isContinued(connection: Connection, current: Manifest | undefined): Promise<boolean> {
  const before = current?.basis;
  if (current === undefined || before?.hours === undefined) return false;
  return (
    before.lastLoad <= (await lastLoadOf(connection)) &&
    (await lastLoadOf(connection, Date.parse(current.asOf))) === before.lastLoad
  );
}

/** The first day of a month, and of the month after it. */
export function boundsOf(month: string): { readonly start: string; readonly end: string } {
  const start = Date.parse(`${month}-01T00:00:00Z`);
  return { start: dayOf(start), end: dayOf(addCalendarMonths(start, 1)) };
}

/** The bounds of several months together, as parameters of a query. */
export function spanOf(months: readonly string[]): { readonly from: string; readonly to: string } {
  const sorted = [...months].sort();
  const [first = '1970-01'] = sorted;
  return { from: boundsOf(first).start, to: boundsOf(sorted.at(-1) ?? first).end };
}

function dayOf(instant: Instant): string {
  return formatInstant(instant).slice(0, 10);
}
