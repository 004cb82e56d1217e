import { writeFile } from 'node:fs/promises';
import { UnprovenError } from '../base/errors.ts';
import type { CurrencyOfMonth } from '../currency/index.ts';
import { type FileToWrite, type Published, publishFiles, sha256OfText } from '../reports/exports/index.ts';
import {
  type CompletenessState,
  type CurrencyOfAnswer,
  costColumnOf,
  figuresOfQuery,
  writeWorkbook,
} from '../reports/formats/index.ts';
import { placeOf } from '../reports/publishing/index.ts';
import {
  checkReport,
  displayParameters,
  orderedQuery,
  type ParameterValue,
  type Report,
  sqlParameters,
} from '../reports/questions/index.ts';
import { formatInstant, formatMonth, type Instant } from '../time/time.ts';
import { firstOf, readSql } from '../warehouse/sql/index.ts';
import { type Connection, lastSeen } from '../warehouse/store/index.ts';
import { billedOf, readStatement, type StatementMonth } from './data.ts';
import type { StatementScope } from './scope.ts';
import { statementSheets } from './workbook.ts';

/** One statement that is to be written. */
export interface StatementToPublish {
  readonly report: Report;
  readonly values: readonly ParameterValue[];
  readonly scope: StatementScope;
  readonly month: StatementMonth;
  readonly state: CompletenessState;
  /** The close of the month; undefined while it is open. */
  readonly asOf: Instant | undefined;
  readonly formats: readonly string[];
  /** The folder below which all exports are. */
  readonly root: string;
  /** The project, whose journal records the manifest. */
  readonly dir: string;
  readonly signal: AbortSignal;
  readonly onProgress: (words: string) => void;
}

/** A statement in files. Costs are USD, decimal text. */
export interface PublishedStatement extends Published {
  /** The month's own cost; of an owner, its part of that. */
  readonly cost: string;
  /** What the month bills: own cost, corrections and invoice difference; of an owner, own cost and corrections. */
  readonly billedCost: string;
  /** The folder of the report, with all its periods. */
  readonly reportFolder: string;
}

/**
 * Writes a statement as files with their manifest, as `publishFiles` does. Throws UnprovenError if its parts do not add up
 * to what the books answer.
 */
export async function publishStatement(connection: Connection, asked: StatementToPublish): Promise<PublishedStatement> {
  const { report, values, scope, month, state, asOf, formats, root, dir, signal, onProgress } = asked;
  const bound = sqlParameters(values);
  const column = costColumnOf(await checkReport(connection, report, bound), 'cost');
  const data = await readStatement(connection, month, scope);
  // The collected costs give the same answer as the report, which `verify` asks, without reading the books again.
  const { parameters } = data;
  const query = (await readSql('statement', 'resources')).trimEnd();
  const figures = await figuresOfQuery(connection, query, parameters, column);
  if (scope.owner === undefined) {
    const ofBooks = await figuresOfQuery(connection, orderedQuery(report), bound, column);
    if (ofBooks.cost !== figures.cost || ofBooks.rows !== figures.rows) {
      throw new UnprovenError(
        `the statement of ${formatMonth(month.month)} was not written: its resources add up to ${figures.cost} USD in ${figures.rows} rows, ` +
          `expected ${ofBooks.cost} USD in ${ofBooks.rows} rows`,
      );
    }
  }
  const sqlSha256 = sha256OfText(report.file.text);
  async function writePage(path: string): Promise<void> {
    // Loaded only here: the library of charts takes longer to load than many commands that import this file.
    const { shownChanges, shownResources, statementPage } = await import('./page.ts');
    const resources = await connection.rows(firstOf(query, shownResources), parameters);
    const changes = await connection.rows(await readSql('statement', 'changes'), {
      ...parameters,
      count: shownChanges,
    });
    await writeFile(path, await statementPage(data, { resources, resourceCount: figures.rows, changes, sqlSha256 }));
  }
  const rows = { connection, query, parameters, sqlSha256 };
  const common = { stem: report.name };
  const files: FileToWrite[] = [
    {
      ...common,
      format: 'html',
      extension: 'html',
      isAsked: formats.includes('html'),
      holdsRows: false,
      write: writePage,
    },
    {
      ...common,
      ...{ format: 'xlsx', extension: 'xlsx', isAsked: formats.includes('xlsx'), holdsRows: true },
      write: (path) => writeWorkbook(path, statementSheets(data, rows)),
    },
  ];
  const facts = {
    report: report.name,
    parameters: displayParameters(values),
    asOf: formatInstant(asOf ?? (await lastSeen(connection)) ?? 0),
    closedAt: state.closedAt,
    completeFrom: state.completeFrom,
    completeThrough: state.completeThrough,
    settledThrough: state.settledThrough,
    ...(data.currency === undefined ? {} : { currency: currencyIn(data.currency) }),
    sqlSha256,
    focusVersion: null,
    costColumn: column?.name ?? null,
    ...figures,
  };
  const place = placeOf({ report, values, asOf, isUsual: true, root, dir });
  const published = await publishFiles(place, facts, files, {
    ...{ reading: async () => connection, column, signal, onProgress },
  });
  return { ...published, reportFolder: place.reportFolder, cost: data.cost, billedCost: billedOf(data) };
}

/** The second currency as a manifest has it. */
function currencyIn({ code, rate }: CurrencyOfMonth): CurrencyOfAnswer {
  return { code, columns: { cost: `cost_${code.toLowerCase()}` }, months: [rate] };
}
