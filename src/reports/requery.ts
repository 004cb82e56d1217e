import { isAsClosed, readClosedMonth } from '../closing/index.ts';
import { UsageError } from '../errors.ts';
import { formatInstant, formatMonth, type Instant } from '../time.ts';
import {
  type Books,
  type Connection,
  closedMonths,
  lastSeen,
  openBooks,
  type SqlParameters,
} from '../warehouse/index.ts';
import { blamingReport, orderedQuery, type Report } from './catalogue.ts';
import { completenessOf } from './completeness.ts';
import { figuresOfQuery } from './figures.ts';
import { lakeSha256 } from './lake/publish.ts';
import { lakeFacts } from './lake/requery.ts';
import { type Manifest, sha256OfText } from './manifest.ts';
import { type GivenParameter, readParameters, settleParameters, sqlParameters } from './parameters.ts';
import { inputsOf } from './publish-report.ts';
import { type RevokedClose, revokedCloses, type ShownCloses, shownAmong } from './revoked-exports.ts';
import { shape } from './shape.ts';
import { type BooksAnswer, columnOf } from './verify-exports.ts';

/** Queries the books again for exports, each as of its own instant. */
export interface ExportVerifier {
  /** The revoked closes that an export shows. */
  readonly shown: ShownCloses;
  /** Queries the books again for the export in a folder. */
  requery(manifest: Manifest, folder: string): Promise<BooksAnswer>;
  close(): void;
}

/**
 * Opens the snapshot of the project to query exports again. Without a published snapshot, every export is "not compared".
 * The signal ends running queries.
 */
export async function openExportVerifier(
  dir: string,
  reports: readonly Report[],
  { reader, signal }: { reader: string; signal: AbortSignal },
): Promise<ExportVerifier> {
  let end: Instant | undefined;
  let revoked: readonly RevokedClose[] = [];
  let reason: string | undefined;
  try {
    const present = await openBooks(dir, { lockedDown: true, reader, signal });
    try {
      end = await lastSeen(present.connection);
      revoked = await revokedCloses(present.connection);
    } finally {
      present.close();
    }
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    reason = error.message;
  }
  // Most exports of a night share one instant.
  let open: { readonly key: string; readonly books: Books; readonly files: readonly string[] } | undefined;
  async function booksOf({ asOf, closedAt }: Manifest, files: readonly string[]): Promise<Connection> {
    const isClose = closedAt != null;
    const key = `${asOf} ${isClose}`;
    if (open?.key !== key || files.some((file) => !open?.files.includes(file))) {
      open?.books.close();
      open = undefined;
      const books = await openBooks(dir, { lockedDown: false, asOf: Date.parse(asOf), isClose, reader, signal });
      open = { key, books, files };
      // Reports may be the user's SQL.
      await books.lockDown({ files });
    }
    return open.books.connection;
  }

  // Months whose SHA-256 was compared, by the instant of their close: several exports show the same close.
  const closesSeen = new Map<string, ExportDifferences>();
  async function closeFactsOf(connection: Connection, closedAt: string): Promise<ExportDifferences> {
    const seen = closesSeen.get(closedAt) ?? (await changedClose(connection, closedAt));
    closesSeen.set(closedAt, seen);
    return seen;
  }

  async function queryLake(manifest: Manifest): Promise<BooksAnswer> {
    if (manifest.sqlSha256 !== (await lakeSha256())) return notCompared('the SQL of the lake has changed since');
    const connection = await booksOf(manifest, []);
    const compared = await lakeFacts(connection, manifest);
    const facts = compared.flatMap(({ what, found, expected }) => differing(what, found, expected));
    return { notCompared: undefined, facts: [...(await completenessFacts(connection, manifest)), ...facts] };
  }

  async function query(manifest: Manifest): Promise<BooksAnswer> {
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
    if (sha256OfText(report.file.text) !== manifest.sqlSha256) {
      return notCompared(`the SQL of ${manifest.report} has changed since`);
    }
    const values = await bindAgain(report, manifest, dir);
    if (typeof values === 'string') return notCompared(values);
    const connection = await booksOf(manifest, filesOfParameters(report, values));
    return {
      notCompared: undefined,
      facts: [
        ...(await completenessFacts(connection, manifest)),
        ...(manifest.closedAt == null ? [] : await closeFactsOf(connection, manifest.closedAt)),
        ...(await blamingReport(report, () => answerFacts(connection, report, manifest, values))),
      ],
    };
  }

  const shown = await shownAmong(revoked, reports);
  return {
    shown,
    async requery(manifest, folder) {
      const { notCompared, facts } = await query(manifest);
      return { notCompared, facts: [...closeFacts(shown(manifest, folder)), ...facts] };
    },
    close: () => open?.books.close(),
  };
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
  if (close === undefined) return [];
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

async function answerFacts(
  connection: Connection,
  report: Report,
  manifest: Manifest,
  values: SqlParameters,
): Promise<ExportDifferences> {
  const { report: shaped, parameters } = await shape(connection, report, values);
  const { rows, cost } = await figuresOfQuery(connection, orderedQuery(shaped), parameters, columnOf(manifest));
  return [...differing('rows', manifest.rows, rows), ...differing('cost', manifest.cost, cost)];
}

/**
 * The parameter values of an export, read from its manifest. Returns a sentence instead if they cannot be read, or if a file
 * that the SQL reads has changed.
 */
async function bindAgain(report: Report, manifest: Manifest, dir: string): Promise<SqlParameters | string> {
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
