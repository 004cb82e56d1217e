import type { DuckDBConnection, DuckDBExtractedStatements, DuckDBPreparedStatement } from '@duckdb/node-api';
import { CostbookError, UsageError } from '../../base/errors.ts';
import { fromBracketed, fromSource, makePivoted, pivotedTable, queryFunction } from '../sql/statements.ts';
import { expectAnswering, expectAnsweringWords } from './answering-functions.ts';
import type { AdmitOptions, AdmittedQuery } from './connection.ts';
import { StatementType } from './duckdb.ts';
import { asParserError, type Fail, withoutLine } from './duckdb-errors.ts';

/** What admitting a typed query needs from its connection. */
export interface Admitting {
  readonly connection: DuckDBConnection;
  readonly fail: Fail;
  /** Runs work that creates temporary objects, on a connection that is otherwise read-only. */
  unsealed(work: () => Promise<void>): Promise<void>;
}

/** One SELECT in a typed text: the text without its surroundings, and its parsed statements. */
interface Select {
  readonly text: string;
  readonly statements: DuckDBExtractedStatements;
}

/** Admits a typed text; see `Connection.admit`. */
export async function admitTyped(
  admitting: Admitting,
  typed: string,
  { withParameters = false, hidesPlaces = false }: AdmitOptions,
): Promise<AdmittedQuery> {
  const [, explain, explained] =
    explaining.exec(typed.slice(typed.length - withoutLeadingComments(typed).length)) ?? [];
  const { text, statements } = await selectIn(admitting, explained ?? typed);
  if (statements.count > 1) {
    if (withParameters) throw new UsageError('PIVOT needs a list of values here: … on name in (…)');
    if (explain !== undefined)
      throw new UsageError('EXPLAIN does not support PIVOT without a list of values; add IN (…)');
    await expectAnsweringWords(admitting.connection, admitting.fail, text, hidesPlaces);
    return pivoted(admitting, text, statements);
  }
  await expectSelect(admitting, { text, statements }, { withParameters, hidesPlaces });
  // As a text literal: DuckDB reads it as one SELECT with any brackets and comments in it.
  const source = queryFunction(text);
  return explain === undefined
    ? { sql: text, source }
    : { sql: fromSource(source, { prefix: explain }), source: undefined };
}

/**
 * Finds the one SELECT in a typed text. The parser accepts `from (text)` only if the text is one SELECT: the text alone
 * must parse too, so its brackets are balanced, and no statement can end inside the added ones.
 */
async function selectIn({ connection, fail }: Admitting, typed: string): Promise<Select> {
  if (withoutLeadingComments(typed) === '') {
    throw new UsageError('the query has no statement; expected one SELECT');
  }
  const all = await connection.extractStatements(typed).catch((error: unknown) => fail(asParserError(error)));
  for (const text of withoutEnds(typed)) {
    const wrapped = await parsed(connection, fromBracketed(text));
    const statements = wrapped && (await parsed(connection, text));
    if (statements !== undefined && statements.count === wrapped?.count) return { text, statements };
  }
  throw all.count === 1 ? refused(firstWord(typed)) : tooMany(all.count);
}

/** The statements of a text; undefined if DuckDB's parser refuses it. Nothing is bound or run. */
async function parsed(connection: DuckDBConnection, sql: string): Promise<DuckDBExtractedStatements | undefined> {
  return connection.extractStatements(sql).catch(() => undefined);
}

/** Throws UsageError unless the one statement of a text is a SELECT, without parameters unless the caller gives some. */
async function expectSelect(
  { connection, fail }: Admitting,
  { text, statements }: Select,
  { withParameters, hidesPlaces }: Required<AdmitOptions>,
): Promise<void> {
  // Preparing binds, and binding runs what is computed in the place of a text.
  await expectAnswering(connection, fail, text, { another: () => refused(firstWord(text)), hidesPlaces });
  const statement = await statements.prepare(0).catch(fail);
  try {
    if (statement.statementType !== StatementType.SELECT) throw refused(firstWord(text));
    if (statement.parameterCount > 0 && !withParameters) {
      throw new UsageError('the query has parameters; write the values into it');
    }
  } finally {
    statement.destroySync();
  }
}

/**
 * Answers a PIVOT into a temporary table. DuckDB splits it: it first creates an enumeration of the values that become
 * columns, then it selects.
 */
async function pivoted(
  { connection, fail, unsealed }: Admitting,
  text: string,
  statements: DuckDBExtractedStatements,
): Promise<AdmittedQuery> {
  await unsealed(async () => {
    for (let index = 0; index < statements.count; index += 1) {
      await runStatement(fail, statements, index);
    }
    await connection.run(makePivoted(text)).catch(fail);
  });
  return { sql: fromSource(pivotedTable), source: pivotedTable };
}

/** Runs one part of a PIVOT; the last part, its SELECT, is only checked. */
async function runStatement(fail: Fail, statements: DuckDBExtractedStatements, index: number): Promise<void> {
  const isLast = index === statements.count - 1;
  let chunk: DuckDBPreparedStatement | undefined;
  try {
    chunk = await statements.prepare(index);
    if (chunk.statementType !== (isLast ? StatementType.SELECT : StatementType.CREATE)) throw refused('PIVOT');
    if (chunk.parameterCount > 0) throw new UsageError('the query has parameters; write the values into it');
    if (!isLast) await chunk.run();
  } catch (error) {
    // The line that DuckDB shows is its own, not the user's.
    fail(isLast || error instanceof CostbookError ? error : new Error(withoutLine(error)));
  } finally {
    chunk?.destroySync();
  }
}

/**
 * EXPLAIN and its options; the rest must be a SELECT, which then runs inside our own text. Each option can be read in one
 * way only, and there are few: otherwise a short text would take minutes.
 */
const explaining =
  /^(explain(?:\s+analyze)?(?:\s*\((?:[\s,]|\b(?:analyze|format\s+\w+)\b){1,100}\))?)(?=[\s(])([\s\S]*)$/i;

function withoutLeadingComments(sql: string): string {
  return sql.replace(/^(?:[\s;]|--.*(?:\n|$)|\/\*[\s\S]*?\*\/)+/, '');
}

/** A text without its trailing semicolon and comments, in all variants; the caller finds out which one parses. */
function withoutEnds(sql: string): string[] {
  const lines = sql.split('\n');
  while (lines.length > 0 && /^\s*(--|$)/.test(lines.at(-1) ?? '')) lines.pop();
  const last = lines.at(-1) ?? '';
  const comment = last.indexOf('--');
  const withoutComment = comment < 0 ? last : last.slice(0, comment);
  return [sql, ...[sql.split('\n'), lines, [...lines.slice(0, -1), withoutComment]].map(withoutSemicolon)];
}

function withoutSemicolon(lines: readonly string[]): string {
  let text = lines.join('\n').trimEnd();
  while (text.endsWith(';')) text = text.slice(0, -1).trimEnd();
  return text;
}

/** The first word of a text, for messages. */
function firstWord(sql: string): string {
  return /^\w*/.exec(withoutLeadingComments(sql))?.[0].toUpperCase() ?? '';
}

function refused(verb: string): UsageError {
  const what = verb === 'WITH' || verb === '' ? 'a query that changes something' : verb;
  return new UsageError(
    `${what} is refused: the books are read-only. Expected one SELECT, DESCRIBE, SHOW, SUMMARIZE, PIVOT or EXPLAIN of a ` +
      'SELECT; to write the rows to a file, use --out',
  );
}

function tooMany(count: number): UsageError {
  return new UsageError(`the query has ${count} statements; expected one SELECT`);
}
