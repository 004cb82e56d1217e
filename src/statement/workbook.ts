import { rateWords } from '../currency/index.ts';
import { currencyDecimals, difference } from '../money/money.ts';
import { aboutSheet } from '../reports/formats/index.ts';
import { builtInReport, invoiceLines } from '../reports/questions/index.ts';
import { formatMonth } from '../time/time.ts';
import { readSql } from '../warehouse/sql/index.ts';
import type { Connection, SqlParameters } from '../warehouse/store/index.ts';
import {
  answerName,
  type Cell,
  costName,
  differenceFormula,
  type Look,
  moneyLook,
  type Sheet,
  sumFormula,
  sumIfFormula,
} from '../workbook/index.ts';
import { dayOf, inOther, type StatementData, sumOf, sumOfClass } from './data.ts';
import { tableSheet } from './tables.ts';
import { stateOf, titleOf } from './words.ts';

/** Where the sheets get rows that are not held: the statement's own query, sorted, and its parameters. */
export interface ResourceRows {
  readonly connection: Connection;
  readonly query: string;
  readonly parameters: SqlParameters;
  readonly sqlSha256: string;
}

/** The sheets of a statement, each made when it is written. */
export async function* statementSheets(data: StatementData, resources: ResourceRows): AsyncGenerator<Sheet> {
  const digests: [string, string][] = [];
  let count = 0;
  function hashed(sheet: Sheet): Sheet {
    count += 1;
    const path = `xl/worksheets/sheet${count}.xml`;
    return { ...sheet, written: (sha256) => digests.push([`SHA-256 of the sheet ${sheet.name} (${path})`, sha256]) };
  }
  yield hashed(summarySheet(data));
  yield hashed(await workspaceSheet(data, resources.connection));
  yield hashed(await resourceSheet(resources, data));
  yield hashed(await ownerSheet(data, resources.connection));
  yield hashed(await lineSheet(data, resources.connection));
  yield hashed(await reconciliationSheet(data, resources.connection));
  yield hashed(await comparisonSheet(data, resources.connection));
  yield hashed(await changeSheet(data, resources.connection));
  yield aboutSheet([...factsOf(data, resources.sqlSha256), ...digests]);
}

function factsOf(data: StatementData, sqlSha256: string): [string, string][] {
  const { month, owner, dimension, state, billed } = data;
  const { asOf, closedAt, completeThrough, settledThrough } = state;
  return [
    ['Statement', titleOf(data)],
    ['Month', formatMonth(month)],
    ...(owner === undefined ? [] : [['Owner', `${dimension}: ${owner}`] as [string, string]]),
    ['State', stateOf(data)],
    ['Complete through (UTC)', completeThrough ?? 'no complete hour yet'],
    ['Settled through (UTC)', settledThrough ?? 'no settled hour yet'],
    ...(closedAt === null ? [] : [['Closed at (UTC)', closedAt] as [string, string]]),
    ...(asOf === null ? [] : [['As of (UTC)', asOf] as [string, string]]),
    ...billed.map(({ account, sha256, isAsClosed }): [string, string] => [
      `SHA-256 of everything that ${account} is billed`,
      `${sha256}${isAsClosed === null ? '' : isAsClosed ? ', as at its close' : ', NOT as at its close'}`,
    ]),
    ['SHA-256 of the SQL', sqlSha256],
    ...rateFact(data),
    ['Amounts', 'USD with all decimals, shown to the cent. Times are UTC.'],
  ];
}

function rateFact({ currency }: StatementData): [string, string][] {
  const words = currency && rateWords(currency.code, [currency.rate]);
  return currency === undefined || words === undefined ? [] : [[`Rate of ${currency.code}`, words]];
}

async function streamed(connection: Connection, name: string, parameters: SqlParameters) {
  return connection.stream(await readSql('statement', name), parameters);
}

async function workspaceSheet(
  { parameters, costBefore, currency }: StatementData,
  connection: Connection,
): Promise<Sheet> {
  return tableSheet({
    name: 'By workspace',
    result: await streamed(connection, 'workspaces', parameters),
    totals: compared(costBefore),
    currency,
    named: { workspace_cost: 'cost' },
  });
}

/** The columns with totals of a table that compares with the month before. */
function compared(costBefore: string | null, ...more: readonly string[]): string[] {
  return [...more, 'cost', ...(costBefore === null ? [] : ['cost_month_before', 'change'])];
}

async function resourceSheet(
  { connection, query, parameters }: ResourceRows,
  { currency }: StatementData,
): Promise<Sheet> {
  return tableSheet({
    name: 'By resource',
    result: await connection.stream(query, parameters),
    totals: ['cost', 'cost_month_before', 'change'],
    currency,
    named: { [costName]: 'cost', resource_cost_before: 'cost_month_before' },
    whole: answerName,
  });
}

async function ownerSheet({ parameters, costBefore, currency }: StatementData, connection: Connection): Promise<Sheet> {
  return tableSheet({
    name: 'By owner',
    result: await streamed(connection, 'owners', parameters),
    totals: compared(costBefore, 'direct_cost', 'shared_cost', 'correction_cost', 'invoice_difference', 'billed_cost'),
    currency,
    named: {
      ...{ owner_cost: 'cost', owner_direct_cost: 'direct_cost', owner_shared_cost: 'shared_cost' },
      owner_billed_cost: 'billed_cost',
    },
  });
}

async function lineSheet(
  { owner, parameters, month, currency }: StatementData,
  connection: Connection,
): Promise<Sheet> {
  if (owner !== undefined) {
    return tableSheet({
      name: 'Lines',
      result: await streamed(connection, 'owner_lines', { ...parameters, month: dayOf(month) }),
      totals: ['direct_cost', 'shared_cost', 'cost'],
      currency,
      named: { line_cost: 'cost', line_class: 'charge_class' },
    });
  }
  return tableSheet({
    name: 'Invoice lines',
    result: await connection.stream(await invoiceLines(), { month: dayOf(month) }),
    totals: ['cost', 'platform_cost', 'difference'],
    currency,
    named: { line_cost: 'cost', line_class: 'charge_class', line_platform_cost: 'platform_cost' },
  });
}

/** An owner's statement says that the accounts are proven, and has none of their amounts. */
async function reconciliationSheet({ month, owner }: StatementData, connection: Connection): Promise<Sheet> {
  const amounts = 'cost platform_cost difference correction_cost invoiced invoice_difference billed_cost'.split(' ');
  return tableSheet({
    name: 'Reconciliation',
    result: await connection.stream(await builtInReport('reconciliation_summary'), { month: dayOf(month) }),
    without: ['month', ...(owner === undefined ? [] : [...amounts, 'tolerance'])],
    totals: owner === undefined ? amounts : [],
  });
}

async function comparisonSheet({ month, owner }: StatementData, connection: Connection): Promise<Sheet> {
  return tableSheet({
    name: 'Comparisons',
    result: await streamed(connection, 'comparisons', { month: dayOf(month) }),
    without: owner === undefined ? [] : ['largest_difference'],
    totals: [],
  });
}

async function changeSheet({ parameters }: StatementData, connection: Connection): Promise<Sheet> {
  return tableSheet({
    name: 'Changes since last month',
    result: await streamed(connection, 'changes', { ...parameters, count: null }),
    totals: ['cost', 'cost_month_before', 'change'],
  });
}

function summarySheet(data: StatementData): Sheet {
  const { cost, costBefore } = data;
  const shown: Cell[][] = [];
  function line(text: string, formula: string, number: string, how: { look?: Look; note?: string } = {}) {
    const isTotal = how.look === 'totalMoney';
    shown.push([
      { text, look: isTotal ? 'total' : 'text' },
      { formula, number, look: how.look ?? 'money' },
      ...(how.note === undefined ? [] : [{ text: how.note, look: isTotal ? ('total' as const) : ('note' as const) }]),
    ]);
    return firstLine + shown.length - 1;
  }
  const own = line('Cost of the month', sumFormula(costName), cost, { note: 'sheet By resource' });
  if (data.owner === undefined) billedLines(data, line, own);
  else chargedLines(data, line, own);
  if (costBefore !== null) {
    const before = line('Cost of the month before', sumFormula('resource_cost_before'), costBefore, {
      note: 'sheet By resource',
    });
    line('Change', `B${own}-B${before}`, difference(cost, costBefore), {
      look: 'signed',
      note: 'sheet Changes since last month',
    });
  }
  const lines = data.owner === undefined ? 'Invoice lines' : 'Lines';
  const checks: Cell[][] = [
    ['By workspace minus By resource', 'workspace_cost', costName],
    ['By owner minus By resource', 'owner_cost', costName],
    [`Billed by owner minus ${lines}`, 'owner_billed_cost', 'line_cost'],
  ].map(([text = '', area = '', other = '']) => [
    { text },
    { formula: differenceFormula(area, other), number: '0', look: 'money' },
    { text: 'must be 0.00', look: 'note' },
  ]);
  async function* rows(): AsyncGenerator<readonly (readonly Cell[])[]> {
    yield [
      [{ text: titleOf(data), look: 'title' }],
      [{ text: stateOf(data), look: 'note' }],
      [],
      [
        { text: 'What', look: 'head' },
        { text: 'USD', look: 'headRight' },
        { text: 'Where', look: 'head' },
      ],
      ...shown,
      [],
      [
        { text: 'The sheets add up', look: 'head' },
        { text: 'USD', look: 'headRight' },
        { text: '', look: 'head' },
      ],
      ...checks,
      [],
      [{ text: 'Approved by', look: 'heading' }],
      [{ text: 'Name, date, signature:' }],
    ];
  }
  return { name: 'Summary', widths: [44, 18, 44], frozenRows: 4, rows: rows() };
}

/** The row of the first line of the summary. */
const firstLine = 5;

type Line = (text: string, formula: string, number: string, how?: { look?: Look; note?: string }) => number;

/** What an owner is charged besides its part of the month's own cost, and what that comes to. */
function chargedLines(data: StatementData, line: Line, own: number): void {
  const { owners, lines } = data;
  const from = { note: 'sheet By owner' };
  line('of that: direct', sumFormula('owner_direct_cost'), sumOf(owners, 'direct_cost'), from);
  line('of that: share of shared cost', sumFormula('owner_shared_cost'), sumOf(owners, 'shared_cost'), from);
  const last = line(
    'Corrections of earlier months',
    sumIfFormula('line_class', 'Correction', 'line_cost'),
    sumOfClass(lines, 'Correction'),
    { note: 'sheet Lines', look: 'signed' },
  );
  const charged = sumOf(lines, 'cost');
  const row = line('Charged for the month', `B${own}+B${last}`, charged, { look: 'totalMoney', note: '' });
  otherLine(data, line, ['Charged for the month', row, charged]);
}

/** The total in the second currency, if there is one. */
function otherLine(data: StatementData, line: Line, [text, row, usd]: readonly [string, number, string]): void {
  const { currency } = data;
  if (currency === undefined) return;
  const { code, rate } = currency;
  for (const number of inOther(data, usd)) {
    line(`${text} in ${code}`, `B${row}*${rate.rate}`, number, {
      note: `at ${rate.rate}, ${rate.rateDate}, ${rate.source}`,
      look: moneyLook(currencyDecimals(code)),
    });
  }
}

/** What the platform bills besides the month's own cost, and what that comes to. */
function billedLines(data: StatementData, line: Line, own: number): void {
  const { lines, reconciled } = data;
  const [corrections, differences] = [sumOfClass(lines, 'Correction'), sumOfClass(lines, 'Invoice difference')];
  const from = { note: 'sheet Invoice lines' };
  line('Corrections of earlier months', sumIfFormula('line_class', 'Correction', 'line_cost'), corrections, {
    ...from,
    look: 'signed',
  });
  const last = line('Invoice differences', sumIfFormula('line_class', 'Invoice difference', 'line_cost'), differences, {
    ...from,
    look: 'signed',
  });
  const billed = sumOf(lines, 'cost');
  const row = line('Billed for the month', sumFormula(`B${own}:B${last}`), billed, { look: 'totalMoney', note: '' });
  otherLine(data, line, ['Billed for the month', row, billed]);
  line('All invoice lines', sumFormula('line_cost'), billed, from);
  if (reconciled.some((row) => row['platform_cost'] !== null)) {
    const platform = sumOf(lines, 'platform_cost');
    const there = line("The platform's own total", sumFormula('line_platform_cost'), platform, from);
    line('Cost of the month minus that', `B${own}-B${there}`, difference(sumOfClass(lines, null), platform), {
      look: 'signed',
    });
  }
}
