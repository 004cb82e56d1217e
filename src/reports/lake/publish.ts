import { noRowsOf, readSql } from '../../warehouse/sql/index.ts';
import { type Connection, holdFolder, type SqlParameters } from '../../warehouse/store/index.ts';
import { type ExportPlace, makePlace, segment } from '../exports/export-names.ts';
import { readExportsJournal, recordManifest } from '../exports/exports-journal.ts';
import { type ExportFolder, folderPlace, recover, swap } from '../exports/folder-place.ts';
import {
  type Manifest,
  type ManifestFile,
  type ManifestTable,
  manifestText,
  type StoredManifest,
  sha256OfText,
} from '../exports/manifest.ts';
import { type ExportFacts, type Published, patienceMs } from '../exports/publish.ts';
import { type Bases, boundsOf, isContinued, keyOf, type Partition, readBases, spanOf } from './basis.ts';
import { type BooksFigures, costsAddedUp, readFigures } from './figures.ts';
import { formOf, type LakeForm, type LakeTable, readLakeTables } from './tables.ts';
import { type Staged, stage } from './write.ts';

/** Change it when the same rows are written differently, so that all partitions are written again. */
const lakeForm = 'place, then time; row groups of 122,880';

/** What the lake says of the platform and its accounts, as in the report focus. */
export interface LakeNames {
  readonly provider: string;
  /** The name of the account; null for those in the books. */
  readonly accountName: string | null;
}

interface LakeOptions {
  readonly connection: Connection;
  readonly names: LakeNames;
  /** Whether it is of the current books: as of an instant, everything is written. */
  readonly isOfNow: boolean;
  readonly signal: AbortSignal;
  readonly onProgress: ((words: string) => void) | undefined;
}

/** The facts of a lake that the caller knows. */
export type LakeFacts = Omit<ExportFacts, 'rows' | 'cost' | 'costColumn' | 'tables' | 'basis' | 'sqlSha256'>;

/**
 * Writes the books as tables of Parquet that any engine reads, with Hive names for the folders of accounts and months.
 * Writes only partitions whose rows may have changed since the last run, and replaces only files that did change. The name
 * of a file never changes and the file is replaced by rename, so a reader that lists the folder and opens the files always
 * finds each row once. If this process dies between two renames, the next run completes them; until then the new manifest
 * is next to the old one. Throws as `publishFiles` does.
 */
export async function publishLake(place: ExportPlace, facts: LakeFacts, options: LakeOptions): Promise<Published> {
  const { folder } = place;
  await makePlace(place);
  const lock = await holdFolder(place.reportFolder, { patienceMs, signal: options.signal });
  const lake = folderPlace(folder);
  const staged: Staged[] = [];
  const tables = await readLakeTables();
  try {
    const journal = place.project === undefined ? undefined : await readExportsJournal(place.project);
    const { current, isTrusted } = await recover(
      lake,
      tables.map(({ name }) => name),
      // What somebody else wrote there says nothing about partitions: they are written again.
      async (sha256) => (await journal?.has(folder, sha256)) !== false,
    );
    const plan = await planOf(lake, tables, { current: current?.manifest, isTrusted }, options);
    const unchanged = await writeAll(lake, plan, staged, options);
    return await commit(lake, place, await manifestOf(facts, plan, unchanged, options), staged, current);
  } finally {
    // Once the next manifest exists, the next run can continue from these files.
    if ((await lake.readNext().catch(() => undefined)) === undefined) {
      for (const { draft } of staged) await lake.dropDraft(draft);
      await lake.sweep(tables.map(({ name }) => name));
    }
    lock.release();
  }
}

/** SHA-256 of the SQL of all tables. */
export async function lakeSha256(): Promise<string> {
  const texts = (await readLakeTables()).map(({ name, file }) => [name, file.text]);
  return sha256OfText(JSON.stringify([lakeForm, texts]));
}

/** A file to write. Without a partition, it is a whole table. */
interface Task {
  readonly table: LakeTable;
  readonly name: string;
  readonly partition?: Partition;
  readonly basis?: string;
}

interface Plan {
  readonly tables: readonly LakeTable[];
  readonly forms: ReadonlyMap<LakeTable, LakeForm>;
  readonly bases: Bases;
  /** Files that stay as they are. */
  readonly unchanged: readonly ManifestFile[];
  readonly tasks: readonly Task[];
}

function nameOf({ name }: LakeTable, partition?: Partition): string {
  if (partition === undefined) return `${name}/${name}.parquet`;
  return [name, segment('account', partition.account), segment('month', partition.month), `${name}.parquet`].join('/');
}

/** Decides which files to write. */
async function planOf(
  lake: ExportFolder,
  tables: readonly LakeTable[],
  { current, isTrusted }: { current: Manifest | undefined; isTrusted: boolean },
  { connection, names, isOfNow }: LakeOptions,
): Promise<Plan> {
  const isSame = isTrusted && isOfNow && (await isContinued(connection, current));
  const bases = await readBases(connection, current, { isContinued: isSame, names: JSON.stringify([lakeForm, names]) });
  const known = new Map((current?.files ?? []).map((file) => [file.name, file]));
  const unchanged: ManifestFile[] = [];
  const tasks: Task[] = [];
  for (const table of tables) {
    for (const partition of partitionsOf(table, bases, current)) {
      const name = nameOf(table, partition);
      // A small table without a basis is always written: its hash says whether it changed.
      const basis = table.follows.length === 0 ? undefined : bases.basisOf(table, partition);
      const file = basis === undefined ? undefined : known.get(name);
      const isFresh = isSame && file !== undefined && file.basis === basis;
      if (isFresh && (await lake.has(file, { isExact: false }))) unchanged.push(file);
      else tasks.push({ table, name, ...(partition && { partition }), ...(basis && { basis }) });
    }
  }
  await prepareTables(connection, tasks);
  const forms = new Map<LakeTable, LakeForm>();
  for (const table of tables) {
    const form = await formOf(connection, table, parametersOf(names));
    forms.set(table, bases.isEmpty(table) ? { ...form, query: noRowsOf(form.query) } : form);
  }
  return { tables, forms, bases, unchanged, tasks };
}

/** The partitions of a table, or the whole table. */
function partitionsOf(
  table: LakeTable,
  bases: Bases,
  current: Manifest | undefined,
): readonly (Partition | undefined)[] {
  if (table.partition.length === 0) return [undefined];
  const partitions = new Map(bases.partitionsOf(table).map((partition) => [keyOf(partition), partition]));
  // Partitions without rows become empty instead of disappearing while a reader has them open.
  for (const file of current?.files ?? []) {
    if (file.table === table.name && file.partition) partitions.set(keyOf(file.partition), file.partition);
  }
  return [...partitions.values()];
}

/** Makes the temporary tables that only partitions to write need. */
async function prepareTables(connection: Connection, tasks: readonly Task[]): Promise<void> {
  const months = tasks.flatMap(({ table, partition }) => {
    return partition !== undefined && table.follows.includes('owners') ? [partition.month] : [];
  });
  await connection.run(await readSql('partitions', 'shares'), spanOf(months));
}

/** The parameters of a table's query. */
function parametersOf(
  { provider, accountName }: LakeNames,
  { account, month }: Partition = { account: '', month: '1970-01' },
): SqlParameters {
  const { start, end } = boundsOf(month);
  return {
    account,
    start,
    end,
    month: start,
    provider,
    account_name: accountName,
    focus_version: '1.4',
    deprecated_columns: false,
    grain: 'daily',
  };
}

/** Writes the drafts of all tasks. Returns all files of the lake. */
async function writeAll(
  lake: ExportFolder,
  { forms, unchanged, tasks }: Plan,
  staged: Staged[],
  { connection, names, signal, onProgress }: LakeOptions,
): Promise<readonly ManifestFile[]> {
  const files = [...unchanged];
  const figures = await figuresFor(connection, tasks);
  for (const [index, { table, name, partition, basis }] of tasks.entries()) {
    signal.throwIfAborted();
    onProgress?.(`file ${index + 1} of ${tasks.length}, ${table.name}`);
    const form = forms.get(table);
    if (form === undefined) throw new Error(`the table ${table.name} has no form`);
    const draft = await stage(lake, connection, {
      table,
      form,
      name,
      parameters: parametersOf(names, partition),
      expected: partition && table.figures !== 'own' ? figures.of(table, partition) : undefined,
      what: partition === undefined ? table.name : `${table.name}: account ${partition.account}, ${partition.month}`,
    });
    const entry: ManifestFile = {
      ...draft.entry,
      table: table.name,
      ...(partition === undefined ? {} : { partition }),
      ...(basis === undefined ? {} : { basis }),
    };
    files.push(entry);
    // The rows may be as before after all, such as when they were restated back to the old values.
    if (await lake.has(entry, { isExact: true })) await lake.dropDraft(draft.draft);
    else staged.push({ ...draft, entry });
  }
  return files.sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** What the books say of the partitions to write. */
async function figuresFor(connection: Connection, tasks: readonly Task[]): Promise<BooksFigures> {
  const months = tasks.flatMap(({ partition }) => (partition === undefined ? [] : [partition.month]));
  return readFigures(connection, months.length === 0 ? undefined : spanOf(months));
}

async function manifestOf(
  facts: LakeFacts,
  { tables, forms, bases }: Plan,
  files: readonly ManifestFile[],
  { connection }: LakeOptions,
): Promise<Omit<Manifest, 'previous'>> {
  const entries: Record<string, ManifestTable> = {};
  for (const table of tables) {
    const own = files.filter((file) => file.table === table.name);
    const { columns = [], cost } = forms.get(table) ?? {};
    entries[table.name] = {
      version: table.version,
      partition: table.partition,
      columns,
      costColumn: cost?.name ?? null,
      rows: own.reduce((sum, file) => sum + (file.rows ?? 0), 0),
      cost: cost === undefined ? null : await costsAddedUp(connection, own, cost),
    };
  }
  const { rows = 0, cost = null, costColumn = null } = entries['costs'] ?? {};
  const sqlSha256 = await lakeSha256();
  return { manifest: 1, ...facts, sqlSha256, costColumn, rows, cost, basis: bases.stored, tables: entries, files };
}

async function commit(
  lake: ExportFolder,
  { folder, project }: ExportPlace,
  facts: Omit<Manifest, 'previous'>,
  staged: readonly Staged[],
  current: StoredManifest | undefined,
): Promise<Published> {
  const record = async (sha256: string) => {
    if (project !== undefined) await recordManifest(project, { folder, sha256, asOf: facts.asOf });
  };
  const same: Manifest = { ...facts, previous: current?.manifest.previous ?? null };
  if (current !== undefined && sha256OfText(manifestText(same)) === current.sha256) {
    await record(current.sha256);
    for (const { draft, entry } of staged) await lake.put(entry.name, draft); // it was damaged
    return { folder, manifest: same, isUnchanged: true };
  }
  const manifest: Manifest = {
    ...same,
    previous: current === undefined ? null : { sha256: current.sha256, files: {} },
  };
  // In this order: whatever is recorded is here, as the present manifest or as the next one.
  await lake.announce(manifestText(manifest));
  await record(sha256OfText(manifestText(manifest)));
  await swap(lake, staged);
  return { folder, manifest, isUnchanged: false };
}
