import { join } from 'node:path';
import { firstLineOf, MachineError, NoBooksError, UsageError } from '../../base/errors.ts';
import { isAsClosed, readClosedMonth } from '../../closing/billed/index.ts';
import { formatInstant, formatMonth } from '../../time/time.ts';
import { type Books, openBooks } from '../../warehouse/integrity/index.ts';
import { type ClosedMonth, closedMonths } from '../../warehouse/ledger/index.ts';
import { isBuiltIn } from '../../warehouse/sql/index.ts';
import { type Connection, lastSeen, type SqlParameters } from '../../warehouse/store/index.ts';
import { isMetadataName } from '../exports/export-names.ts';
import { type ExportsJournal, readExportsJournal } from '../exports/exports-journal.ts';
import { type Manifest, type ManifestFile, type StoredManifest, sha256OfText } from '../exports/manifest.ts';
import { type RevokedClose, revokedCloses } from '../exports/revoked-closes.ts';
import { type ShownCloses, shownAmong } from '../exports/revoked-exports.ts';
import { hasComparableRows, readsAlike, rowSumOfFile, rowSumOfQuery, rowsOf } from '../exports/row-sums.ts';
import type { BooksAnswer, KnownExports } from '../exports/verify-exports.ts';
import { columnsOf } from '../formats/columns.ts';
import { completenessOf } from '../formats/completeness.ts';
import { costColumnOf, figuresOfQuery } from '../formats/figures.ts';
import { keepRows } from '../formats/format.ts';
import { lakeSha256 } from '../lake/publish.ts';
import { lakeFacts } from '../lake/requery.ts';
import { orderedQuery, type Report, selectOf } from '../questions/catalogue.ts';
import { type GivenParameter, readParameters, settleParameters, sqlParameters } from '../questions/parameters.ts';
import { shape } from '../questions/shape.ts';
import { inputsOf } from './publish-report.ts';

/** Queries the books again for exports, each as of its own instant. */
export interface ExportVerifier extends KnownExports {
  /** The revoked closes that an export shows. */
  readonly shown: ShownCloses;
  close(): void;
}

/**
 * Opens the snapshot of the project to query exports again. Without a published snapshot, every export is "not compared".
 * The signal ends running queries.
 */
export async function openExportVerifier(
  dir: string,
  reports: readonly Report[],
  { files, reader, signal }: { readonly files: Connection; readonly reader: string; readonly signal: AbortSignal },
): Promise<ExportVerifier> {
  let journal = await readExportsJournal(dir);
  let present = await readPresent(dir, { reader, signal });
  const { booksOf, closeBooks } = booksAgain(dir, { reader, signal });

  // Months whose SHA-256 was compared, by the instant of their close: several exports show the same close.
  const closesSeen = new Map<string, ExportDifferences>();
  async function closeFactsOf(connection: Connection, closedAt: string): Promise<ExportDifferences> {
    const seen = closesSeen.get(closedAt) ?? (await changedClose(connection, closedAt));
    closesSeen.set(closedAt, seen);
    return seen;
  }

  async function queryLake(manifest: Manifest): Promise<BooksAnswer> {
    const connection = await booksOf(manifest, []);
    const compared = await lakeFacts(connection, manifest);
    const facts = compared.flatMap(({ what, found, expected }) => differing(what, found, expected));
    if (facts.length > 0 && manifest.sqlSha256 !== (await lakeSha256())) {
      return notCompared('the SQL of the lake has changed since, and answers other rows now');
    }
    return { notCompared: undefined, facts: [...(await completenessFacts(connection, manifest)), ...facts] };
  }

  /** Exports go on while others are verified: one that is later than all that was read before is compared with what is there now. */
  async function catchUp({ manifest, sha256 }: StoredManifest, folder: string): Promise<ExportsJournal> {
    if (!(await journal.has(folder, sha256))) journal = await readExportsJournal(dir);
    const { end, reason } = present;
    if (reason === undefined && (end === undefined || end < Date.parse(manifest.asOf))) {
      present = await readPresent(dir, { reader, signal });
    }
    return journal;
  }

  async function query(asked: Omit<Exported, 'values'>, isKnown: boolean): Promise<BooksAnswer> {
    const { manifest } = asked;
    const { end, reason } = present;
    if (reason !== undefined) return notCompared(reason);
    if (end === undefined || end < Date.parse(manifest.asOf)) {
      const found = end === undefined ? 'no data' : formatInstant(end);
      return { notCompared: undefined, facts: [{ what: 'end of the books', found, expected: manifest.asOf }] };
    }
    if (manifest.tables !== undefined) return queryLake(manifest);
    const named = reports.filter(({ name }) => name === manifest.report);
    const report = named.find(({ file }) => sha256OfText(file.text) === manifest.sqlSha256) ?? named[0];
    if (report === undefined) return notCompared(`the report ${manifest.report} no longer exists`);
    if (report.problem !== undefined) return notCompared(report.problem);
    const values = await bindAgain(report, manifest, dir, isKnown);
    if (typeof values === 'string') return notCompared(values);
    const connection = await booksOf(manifest, filesOfParameters(report, values));
    const ofBooks = [
      ...(await completenessFacts(connection, manifest)),
      ...(manifest.closedAt == null ? [] : await closeFactsOf(connection, manifest.closedAt)),
    ];
    const answered = await answerFacts(connection, report, { ...asked, values }, files).catch((error: unknown) => {
      signal.throwIfAborted();
      if (isBuiltIn(report.file) || error instanceof MachineError) throw error;
      // SQL of the project: it is the fault of this export alone.
      return [{ what: 'answer', found: `no answer: ${firstLineOf(error)}`, expected: `the rows of ${report.name}` }];
    });
    if (!isBuiltIn(report.file)) closeBooks(); // what it did to its database is not there for the next export
    if (answered.length > 0 && sha256OfText(report.file.text) !== manifest.sqlSha256) {
      return {
        ...notCompared(`the SQL of ${manifest.report} has changed since, and answers other rows now`),
        facts: ofBooks,
      };
    }
    return { notCompared: undefined, facts: [...ofBooks, ...answered] };
  }

  const shown = await shownAmong(present.revoked, reports);
  return {
    shown,
    async requery(stored, folder, intact, next) {
      const { manifest, sha256 } = stored;
      await catchUp(stored, folder);
      const isKnown = (await journal.has(folder, sha256)) === true;
      const compared = await query({ manifest, folder, intact: isKnown ? intact : intact.filter(readsAlike) }, isKnown);
      const forged = await judgedBy(journal, stored, folder, next);
      const answered = isKnown ? compared : withUnreadRows(compared, manifest, intact);
      const closed = closedSince(present.closed, manifest, folder);
      return {
        ...answered,
        // What a manifest says of its time is no excuse: anybody may have written it.
        isExcused: present.isNone || journal.isEmpty,
        facts: [...forged, ...closeFacts(shown(manifest, folder)), ...answered.facts],
        notes: journal.isEmpty && answered.notCompared !== undefined ? [unrecordedNote, ...closed] : closed,
      };
    },
    isRecorded: async (stored, folder) => (await (await catchUp(stored, folder)).has(folder, stored.sha256)) === true,
    isLast: async (stored, folder) => (await catchUp(stored, folder)).isLast(folder, stored.sha256),
    isBelow: (report, name) => hasFolderBelow(reports, report, name),
    isReport: (name) => reports.some((report) => report.name === name) || journal.isReport(name),
    close: closeBooks,
  };
}

/** A parameter without a default has folders below that of its report. */
function hasFolderBelow(reports: readonly Report[], report: string, name: string): boolean {
  const parameter = reports.find((one) => one.name === report)?.parameters.find((one) => one.name === name);
  return parameter === undefined || parameter.default === undefined;
}

/** A manifest that nobody recorded proves nothing about rows that are not compared. */
function withUnreadRows(answer: BooksAnswer, manifest: Manifest, intact: readonly ManifestFile[]): BooksAnswer {
  const { currency, billedBesides } = manifest;
  const unread = intact.find((file) => file.table !== undefined || !readsAlike(file));
  const content = unread && (isMetadataName(unread.name) ? unread.name : `rows of ${unread.name}`);
  const unknown =
    content ?? (currency && `amounts in ${currency.code}`) ?? (billedBesides && 'other costs of the month');
  if (unknown === undefined || answer.notCompared !== undefined) return answer;
  return { ...answer, notCompared: `the ${unknown} ${onlyByManifest}` };
}

const onlyByManifest = 'can only be known by its manifest, and the journal of this project does not have that';

const unrecordedNote = 'this project has no record of its exports: nobody can say whether it was changed';

/** What shows that a manifest is not the one that the project wrote in a folder. */
async function judgedBy(
  journal: ExportsJournal,
  { sha256 }: StoredManifest,
  folder: string,
  next: string,
): Promise<ExportDifferences> {
  if (await journal.isCopy(folder, sha256)) {
    return [{ what: 'folder', found: 'a copy of another export', expected: 'an export that this project wrote there' }];
  }
  const last = await journal.lastIn(folder);
  const isKnown = await journal.has(folder, sha256);
  // A run that was killed in between leaves the export before, with the next manifest beside it.
  if (last === undefined || last === sha256 || (isKnown && last === next)) return [];
  const found = isKnown ? `${sha256}, an earlier export` : sha256;
  return [{ what: 'manifest', found, expected: `${last}, by the journal` }];
}

/** What the published books say now: their end and their closes; the reason if there are none, or none of this version. */
async function readPresent(dir: string, asked: { readonly reader: string; readonly signal: AbortSignal }) {
  const nothing = { end: undefined, revoked: [], closed: [], reason: undefined, isNone: false };
  try {
    const present = await openBooks(dir, { lockedDown: true, ...asked });
    try {
      const { connection } = present;
      const [end, revoked] = [await lastSeen(connection), await revokedCloses(connection)];
      return { ...nothing, end, revoked, closed: await closedMonths(connection) };
    } finally {
      present.close();
    }
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    return { ...nothing, reason: error.message, isNone: error instanceof NoBooksError };
  }
}

/** The books as of the instants of exports, one after the other: most exports of a night share one instant. */
function booksAgain(dir: string, asked: { readonly reader: string; readonly signal: AbortSignal }) {
  let open: { readonly key: string; readonly books: Books; readonly files: readonly string[] } | undefined;
  function closeBooks(): void {
    open?.books.close();
    open = undefined;
  }
  async function booksOf({ asOf, closedAt }: Manifest, files: readonly string[]): Promise<Connection> {
    const isClose = closedAt != null;
    const key = `${asOf} ${isClose}`;
    if (open?.key !== key || files.some((file) => !open?.files.includes(file))) {
      closeBooks();
      const books = await openBooks(dir, { lockedDown: false, asOf: Date.parse(asOf), isClose, ...asked });
      open = { key, books, files };
      // Reports may be the user's SQL.
      await books.lockDown({ files });
    }
    return open.books.connection;
  }
  return { booksOf, closeBooks };
}

/** The files that the SQL reads. */
function filesOfParameters(report: Report, values: SqlParameters): string[] {
  const names = report.parameters.filter(({ type }) => type === 'file').map(({ name }) => name);
  return names.flatMap((name) => (typeof values[name] === 'string' ? [String(values[name])] : []));
}

function notCompared(reason: string): BooksAnswer {
  return { notCompared: reason, facts: [] };
}

type ExportDifferences = BooksAnswer['facts'];

function differing(what: string, found: string | number | null, expected: string | number | null): ExportDifferences {
  if (found === expected) return [];
  return [{ what, found: String(found ?? 'none'), expected: `${expected ?? 'none'}, by the books` }];
}

/** An export that shows a close differs from the books once that close is revoked. */
function closeFacts(closes: readonly RevokedClose[]): ExportDifferences {
  const [last] = closes.map(({ closedAt }) => closedAt).toSorted((a, b) => b - a);
  if (last === undefined) return [];
  return [{ what: 'close', found: formatInstant(last), expected: 'a close that was not revoked, by the books' }];
}

/** A close that no longer has its SHA-256, which covers the invoice too: something other than Costbook changed the books. */
async function changedClose(connection: Connection, closedAt: string): Promise<ExportDifferences> {
  const close = (await closedMonths(connection)).find((candidate) => formatInstant(candidate.closedAt) === closedAt);
  if (close === undefined) return [{ what: 'close', found: closedAt, expected: 'a close in the books' }];
  const billed = await readClosedMonth(connection, close);
  return billed.flatMap((now, index) => {
    const then = close.accounts[index];
    if (then === undefined || isAsClosed(now, then)) return [];
    const what = `SHA-256 of the close of ${formatMonth(close.month)}, account ${now.account}`;
    return [{ what, found: now.sha256, expected: `${then.sha256}, by its close` }];
  });
}

async function completenessFacts(connection: Connection, manifest: Manifest): Promise<ExportDifferences> {
  const state = await completenessOf(connection);
  return [
    ...differing('complete through', manifest.completeThrough, state.completeThrough),
    ...differing('settled through', manifest.settledThrough, state.settledThrough),
  ];
}

/** An export to compare: its manifest, its files that are as the manifest says, and its parameters. */
interface Exported {
  readonly manifest: Manifest;
  readonly folder: string;
  readonly intact: readonly ManifestFile[];
  readonly values: SqlParameters;
}

async function answerFacts(
  connection: Connection,
  report: Report,
  { manifest, folder, intact, values }: Exported,
  files: Connection,
): Promise<ExportDifferences> {
  const { report: shaped, parameters: given } = await shape(connection, report, values);
  const columnsNow = await columnsOf(connection, selectOf(shaped), given);
  const { query, parameters } = await keepRows({ connection, query: orderedQuery(shaped), parameters: given });
  // The report's own column: a manifest may come from anybody, and name whatever it likes.
  const column = costColumnOf(columnsNow, report.file.header['cost']);
  const { rows, cost } = await figuresOfQuery(connection, query, parameters, column);
  const figures = [
    ...differing('rows', manifest.rows, rows),
    ...differing('cost', manifest.cost, cost),
    ...differing('cost column', manifest.costColumn, column?.name ?? null),
  ];
  if (figures.length > 0) return figures;
  const known = new Set(columnsNow.map(({ name }) => name));
  // SQL that has changed since may have more columns, and each version of FOCUS has columns of its own.
  const isSameSql = manifest.sqlSha256 === sha256OfText(report.file.text);
  const needed = isSameSql && report.name !== 'focus' ? known : [];
  for (const file of intact.filter(hasComparableRows)) {
    const path = join(folder, ...file.name.split('/'));
    const found = await rowsOf(file).columns(files, path);
    if (found === undefined) continue; // no row, so no cells
    const own = found.map((name) => (known.has(name) ? name : name.replace(/^'/, '')));
    const converted = convertedColumns(manifest);
    const columns = own.filter((name) => known.has(name) || !converted.has(name));
    const strange = columns.find((name, index) => !known.has(name) || columns.indexOf(name) !== index);
    if (strange !== undefined) return [{ what: 'column', found: strange, expected: 'each column of the report, once' }];
    const missing = [...needed].find((name) => !columns.includes(name));
    if (missing !== undefined) return [{ what: 'column', found: 'nothing', expected: `${missing} in ${file.name}` }];
    const [ours, theirs] = [
      await rowSumOfFile(files, path, file.format, columns),
      await rowSumOfQuery(connection, query, parameters, { format: file.format, raw: file.raw === true, columns }),
    ];
    if (ours.sum === theirs.sum && ours.rows === theirs.rows) continue;
    const what = `rows of ${file.name}`;
    return [{ what, found: `rows with the hash ${ours.sum}`, expected: `${theirs.sum}, by the books` }];
  }
  return [];
}

/** The columns in a second currency: their rates are in the manifest, and may have other sources now. */
function convertedColumns({ currency }: Manifest): ReadonlySet<string> {
  if (currency === undefined) return new Set();
  const code = currency.code.toLowerCase();
  return new Set([...Object.values(currency.columns), `${code}_rate`, `${code}_rate_date`]);
}

/** A note if the month of an export was closed after it was written, or before and it shows the present: the close may bill more. */
function closedSince(closed: readonly ClosedMonth[], manifest: Manifest, folder: string): string[] {
  const { month } = manifest.parameters;
  if (manifest.closedAt !== null || typeof month !== 'string' || folder.includes('as-of=')) return [];
  const close = closed.find((one) => formatMonth(one.month) === month);
  if (close === undefined) return [];
  const [order, shows] =
    close.closedAt > Date.parse(manifest.asOf)
      ? ['after this export', 'it shows the month before its close']
      : ['before this export', 'it shows the month as of later, and not as it was closed'];
  return [`${month} was closed at ${formatInstant(close.closedAt)}, ${order}: ${shows}. Run the report again`];
}

/**
 * The parameter values of an export, read from its manifest. Returns a sentence instead if they cannot be read, or if a file
 * that the SQL reads has changed.
 */
async function bindAgain(
  report: Report,
  manifest: Manifest,
  dir: string,
  isKnown: boolean,
): Promise<SqlParameters | string> {
  // It may name any file of this machine, as large as it likes.
  const file = report.parameters.find(
    ({ name, type }) => type === 'file' && (manifest.parameters[name] ?? null) !== null,
  );
  if (file !== undefined && !isKnown) return `the file of the parameter ${file.name} ${onlyByManifest}`;
  const given = Object.entries(manifest.parameters).map(([name, said]): GivenParameter => {
    const isText = report.parameters.some((parameter) => parameter.name === name && parameter.type === 'text');
    return { name, text: said === null ? (isText ? '*' : 'none') : String(said), what: `the parameter ${name}` };
  });
  const problems: string[] = [];
  const problem = (text: string): number => problems.push(text);
  const read = await readParameters(report, given, { now: Date.parse(manifest.asOf), dir, folders: ['/'], problem });
  if (problems.length > 0) return problems.join('; ');
  // The manifest has every value, so none is looked up in the books.
  const values = settleParameters(read, nothingKnown);
  const { inputs = {} } = await inputsOf(values);
  const changed = Object.keys(inputs).filter((name) => inputs[name] !== manifest.inputs?.[name]);
  if (changed.length > 0) return `the file of the parameter ${changed.join(', ')} has changed since`;
  return sqlParameters(values);
}

const nothingKnown = { asOf: null, completeFrom: null, completeThrough: null, settledThrough: null, closedAt: null };
