import { type Chart, chartToSvg } from '../charts/index.ts';
import { convertedAmount } from '../currency/index.ts';
import { amount, difference, relative, signed } from '../money/money.ts';
import { html, Markup } from '../text/markup.ts';
import { addCalendarMonths, formatMonth, monthName, shownInstant } from '../time/time.ts';
import type { SqlRow } from '../warehouse/store/index.ts';
import { statementCharts } from './charts.ts';
import { billedOf, type StatementData, sumOf, sumOfClass } from './data.ts';
import { style } from './style.ts';
import { shownName, shownOwner, stateOf, titleOf } from './words.ts';

/** The rows that a statement shows of the largest; the workbook has all. */
export interface LargestRows {
  readonly resources: readonly SqlRow[];
  readonly resourceCount: number;
  readonly changes: readonly SqlRow[];
  readonly sqlSha256: string;
}

/** How many resources, and how many changes, are on paper. */
export const shownResources = 30;
export const shownChanges = 15;

/** A statement as one HTML file: no script, nothing from elsewhere, and pages of A4 when it is printed. Equal data give equal text. */
export async function statementPage(data: StatementData, largest: LargestRows): Promise<string> {
  const charts = await statementCharts(data);
  const title = titleOf(data);
  const isDraft = data.missing.length > 0 && data.state.closedAt === null;
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="color-scheme" content="light">
<title>${title}</title>
<style>${new Markup(style)}</style>
</head>
<body>
<h1>${title}</h1>
<p>${accountsOf(data).map(shownName).join(', ')}</p>
<p class="${isDraft ? 'draft' : 'state'}">${stateOf(data)}</p>
${tiles(data)}
<div class="charts">${charts.map(figure)}</div>
${workspaceTable(data)}
${ownerTable(data)}
${resourceTable(data, largest)}
${data.owner === undefined ? invoiceTable(data) : ownerLineTable(data)}
${changeTable(data, largest)}
${reconciliationTable(data)}
<div class="sign"><div>Prepared by, date</div><div>Approved by, date</div></div>
${foot(data, largest)}
</body>
</html>
`.text;
}

/** The accounts of a statement: of an owner, those with a charge. */
function accountsOf({ owner, billed, lines }: StatementData): readonly string[] {
  const accounts = billed.map(({ account }) => account);
  return owner === undefined
    ? accounts
    : accounts.filter((account) => lines.some((line) => line['account'] === account));
}

function tiles(data: StatementData): Markup {
  const { cost, costBefore, month, owner, lines, reconciled } = data;
  const change = costBefore === null ? undefined : relative(cost, costBefore);
  const billed = billedOf(data);
  const besides = othersOfLines(lines);
  const note =
    owner === undefined
      ? besides.length === 0
        ? 'no corrections of earlier months'
        : `of that ${besides.join(', ')}`
      : [
          `${amount(sumOf(data.owners, 'direct_cost'))} direct`,
          `${amount(sumOf(data.owners, 'shared_cost'))} share of shared cost`,
          ...besides,
        ].join(', ');
  const proven = reconciled.filter((row) => row['proven'] === true).length;
  const isProven = proven === reconciled.length && proven > 0;
  return html`<dl class="tiles">
<div class="tile"><dt>${owner === undefined ? 'Billed' : 'Charged'} for ${monthName(month)}</dt><dd><span class="big">${owner === undefined ? html`<data value="${billed}" data-figure="month_billed" data-of="${formatMonth(month)}">${amount(billed)}</data>` : amount(billed)}</span> USD${otherNote(data, billed)}<div class="note">${note}</div></dd></div>
<div class="tile"><dt>Cost against the month before</dt><dd><span class="big">${costBefore === null ? 'unknown' : signed(difference(cost, costBefore))}</span>${costBefore === null ? '' : ' USD'}<div class="note">${
    costBefore === null
      ? 'the books do not have both months completely'
      : `${change === undefined ? '' : `${change}: `}${monthName(month)} cost ${amount(cost)} USD, ${monthName(addCalendarMonths(month, -1))} ${amount(costBefore)} USD`
  }</div></dd></div>
<div class="tile"><dt>Platform's own total</dt><dd><span class="big${isProven ? '' : ' bad'}">${isProven ? 'matches' : 'unproven'}</span><div class="note">${proven} of ${reconciled.length} account${reconciled.length === 1 ? '' : 's'} proven; see Reconciliation</div></dd></div>
</dl>`;
}

/** The amount in the second currency, with the rate, its day and its source. */
function otherNote({ currency }: StatementData, usd: string): Markup | string {
  if (currency === undefined) return '';
  const { code, rate } = currency;
  return html`<div>${convertedAmount(usd, currency)} ${code}</div><div class="note">at ${rate.rate} of ${rate.rateDate}, ${rate.source}</div>`;
}

/** What a month bills beyond its own cost, to the cent: `+85.53 corrections of earlier months`. */
function othersOfLines(lines: readonly SqlRow[]): string[] {
  return [
    ['Correction', 'corrections of earlier months'],
    ['Invoice difference', 'difference to the invoice'],
  ].flatMap(([charge = '', words]) => {
    const shown = signed(sumOfClass(lines, charge));
    return /[1-9]/.test(shown) ? [`${shown} ${words}`] : [];
  });
}

function figure(chart: Chart): Markup {
  const { id, title, keys } = chart;
  return html`<figure aria-labelledby="${id}-finding"><figcaption id="${id}-finding">${title}</figcaption>
${new Markup(chartToSvg(chart, { width: 460, height: 240 }))}
${keys.length < 2 ? '' : html`<ul class="keys">${keys.map(({ name, look }) => html`<li class="key-${look}">${name}</li>`)}</ul>`}</figure>`;
}

type SqlField = SqlRow[string];

interface Column {
  readonly head: string;
  readonly isNumber?: boolean;
  cell(row: SqlRow): Markup | string;
}

function table(
  title: string,
  columns: readonly Column[],
  rows: readonly SqlRow[],
  { empty, foot, note }: { empty: string; foot?: readonly (Markup | string)[]; note?: string },
): Markup {
  if (rows.length === 0) return html`<section><h2>${title}</h2><p class="note">${empty}</p></section>`;
  function cells(tag: 'th' | 'td', texts: readonly (Markup | string)[]): Markup[] {
    return texts.map((text, index) => {
      const attributes = new Markup(
        `${tag === 'th' ? ' scope="col"' : ''}${columns[index]?.isNumber ? ' class="number"' : ''}`,
      );
      const name = new Markup(tag);
      return html`<${name}${attributes}>${text}</${name}>`;
    });
  }
  return html`<section role="region" aria-label="${title}" tabindex="0"><h2>${title}</h2>${note === undefined ? '' : html`<p class="note">${note}</p>`}<table>
<thead><tr>${cells(
    'th',
    columns.map(({ head }) => head),
  )}</tr></thead>
<tbody>${rows.map(
    (row) => html`<tr>${cells(
      'td',
      columns.map((column) => column.cell(row)),
    )}</tr>
`,
  )}</tbody>
${foot === undefined ? '' : html`<tfoot><tr>${cells('td', foot)}</tr></tfoot>`}
</table></section>`;
}

function money(field: SqlField | undefined, isSigned = false): string {
  if (typeof field !== 'string') return '';
  return isSigned ? signed(field) : amount(field);
}

function name(field: SqlField | undefined, missing: string): string {
  return field === null || field === undefined || field === '' ? missing : shownName(String(field));
}

function moneyColumn(head: string, key: string, isSigned = false): Column {
  return { head, isNumber: true, cell: (row) => money(row[key], isSigned) };
}

function accountColumn({ billed }: StatementData): Column[] {
  return billed.length < 2 ? [] : [{ head: 'Account', cell: (row) => name(row['account'], '') }];
}

function comparison(data: StatementData): Column[] {
  const { costBefore } = data;
  return [
    moneyColumn('USD', 'cost'),
    ...otherColumn(data),
    ...(costBefore === null
      ? []
      : [moneyColumn('Month before', 'cost_month_before'), moneyColumn('Change', 'change', true)]),
  ];
}

/** The cost in the second currency. */
function otherColumn(data: StatementData): Column[] {
  const { currency } = data;
  if (currency === undefined) return [];
  return [{ head: currency.code, isNumber: true, cell: ({ cost }) => others(data, cost).join('') }];
}

function others({ currency }: StatementData, usd: SqlField | undefined): string[] {
  return typeof usd === 'string' && currency !== undefined ? [convertedAmount(usd, currency)] : [];
}

function comparisonFoot(data: StatementData): string[] {
  const { cost, costBefore } = data;
  return [
    amount(cost),
    ...others(data, cost),
    ...(costBefore === null ? [] : [amount(costBefore), signed(difference(cost, costBefore))]),
  ];
}

function workspaceTable(data: StatementData): Markup {
  const accounts = accountColumn(data);
  return table(
    'By workspace',
    [...accounts, { head: 'Workspace', cell: (row) => name(row['workspace'], 'no workspace') }, ...comparison(data)],
    data.workspaces,
    { empty: 'Nothing was spent.', foot: ['Total', ...accounts.map(() => ''), ...comparisonFoot(data)] },
  );
}

function ownerTable(data: StatementData): Markup {
  const [direct, shared] = ['direct_cost', 'shared_cost'].map((key) => amount(sumOf(data.owners, key)));
  const more = billedColumns(data);
  return table(
    'By owner',
    [
      {
        head: data.owner === undefined ? `Owner (${data.dimension})` : 'Owner',
        cell: (row) => shownOwner(row['owner']),
      },
      moneyColumn('Direct', 'direct_cost'),
      moneyColumn('Shared', 'shared_cost'),
      ...comparison(data),
      ...more.map(({ column }) => column),
    ],
    data.owners,
    {
      empty: 'Nothing was spent.',
      foot: ['Total', direct ?? '', shared ?? '', ...comparisonFoot(data), ...more.map(({ foot }) => foot)],
      ...(more.length === 0 ? {} : { note: billedNote }),
    },
  );
}

const billedNote =
  'USD, the month before and the change are of the cost of the month. Billed is that with the corrections of earlier months, which go to the owners of the corrected hours.';

/** What the month bills to each owner beyond its cost, if it bills anything beyond. */
function billedColumns({ owners, lines }: StatementData): { column: Column; foot: string }[] {
  const wanted = [
    ['Corrections', 'correction_cost', true, lines.some((line) => line['charge_class'] === 'Correction')],
    [
      'Invoice difference',
      'invoice_difference',
      true,
      owners.some((row) => typeof row['invoice_difference'] === 'string'),
    ],
  ] as const;
  if (!wanted.some(([, , , isShown]) => isShown)) return [];
  return [...wanted, ['Billed', 'billed_cost', false, true] as const].flatMap(([head, key, isSigned, isShown]) =>
    isShown ? [{ column: moneyColumn(head, key, isSigned), foot: money(sumOf(owners, key), isSigned) }] : [],
  );
}

function resourceTable(data: StatementData, { resources, resourceCount }: LargestRows): Markup {
  const rest = resourceCount - resources.length;
  const accounts = accountColumn(data);
  const labels = ['Total', ...accounts.map(() => ''), '', ''];
  const [first] = resources;
  const remaining: SqlRow[] =
    rest === 0 || first === undefined
      ? []
      : [
          {
            ...first,
            ...othersOf(data, resources),
            account: '',
            workspace: '',
            resource_type: '',
            resource_name: `${rest} others`,
          },
        ];
  return table(
    'By resource',
    [
      ...accounts,
      { head: 'Resource', cell: (row) => name(row['resource_name'], 'no name') },
      { head: 'Type', cell: (row) => name(row['resource_type'], '') },
      { head: 'Workspace', cell: (row) => (row['workspace'] === '' ? '' : name(row['workspace'], 'no workspace')) },
      ...comparison(data),
    ],
    [...resources, ...remaining],
    {
      empty: 'Nothing was spent.',
      foot: [...labels, ...comparisonFoot(data)],
      ...(rest > 0 ? { note: `The ${resources.length} most expensive; the workbook has all.` } : {}),
    },
  );
}

/** What the resources that are not shown cost together. */
function othersOf({ cost, costBefore }: StatementData, shown: readonly SqlRow[]): SqlRow {
  const others = difference(cost, sumOf(shown, 'cost'));
  if (costBefore === null) return { cost: others };
  const before = difference(costBefore, sumOf(shown, 'cost_month_before'));
  return { cost: others, cost_month_before: before, change: difference(others, before) };
}

function invoiceTable(data: StatementData): Markup {
  const accounts = accountColumn(data);
  const { lines } = data;
  const own = lines.filter((line) => line['charge_class'] === null);
  const [platform, difference] = ['platform_cost', 'difference'].map((key) =>
    own.some((line) => typeof line[key] === 'string') ? sumOf(own, key) : null,
  );
  // The platform's own total is compared with the lines above it, not with what else is billed.
  const subtotal: SqlRow[] =
    own.length === lines.length
      ? []
      : [{ line: 'Cost of the month', cost: data.cost, platform_cost: platform, difference, account: '' }];
  const besides = lines.filter((line) => line['charge_class'] !== null);
  return table(
    'Invoice lines',
    [
      ...accounts,
      { head: 'Line', cell: (row) => lineName(row) },
      { head: 'Usage', isNumber: true, cell: (row) => usage(row) },
      moneyColumn('USD', 'cost'),
      ...otherColumn(data),
      moneyColumn('Platform', 'platform_cost'),
      moneyColumn('Difference', 'difference', true),
      {
        head: 'Proven',
        cell: ({ proven }) => (proven === true ? 'yes' : proven === false ? html`<span class="bad">NO</span>` : ''),
      },
    ],
    [...own, ...subtotal, ...besides],
    {
      empty: 'Nothing was billed.',
      foot: [
        ...['Total billed', ...accounts.map(() => ''), ''],
        ...[
          amount(sumOf(lines, 'cost')),
          ...others(data, sumOf(lines, 'cost')),
          ...(subtotal.length > 0 ? ['', ''] : [money(platform), money(difference, true)]),
        ],
        '',
      ],
    },
  );
}

function lineName(row: SqlRow): Markup | string {
  if (typeof row['line'] === 'string') return html`<b>${row['line']}</b>`;
  const dimension = name(row['billing_dimension'], '');
  if (row['charge_class'] === null) return dimension;
  return `${String(row['charge_class'])} ${String(row['incurred_month'] ?? '').slice(0, 7)} ${dimension}`.trim();
}

function usage(row: SqlRow): string {
  const used = row['usage'];
  if (typeof used !== 'string') return '';
  return `${amount(used).replace(/\.00$/, '')} ${name(row['unit'], '')}`.trim();
}

function ownerLineTable(data: StatementData): Markup {
  const accounts = accountColumn(data);
  const { lines } = data;
  return table(
    'Lines',
    [
      ...accounts,
      { head: 'Line', cell: (row) => lineName(row) },
      { head: 'Usage', isNumber: true, cell: (row) => usage(row) },
      moneyColumn('Direct', 'direct_cost'),
      moneyColumn('Shared', 'shared_cost'),
      moneyColumn('USD', 'cost'),
      ...otherColumn(data),
    ],
    lines,
    {
      empty: 'Nothing was charged.',
      foot: [
        ...['Total', ...accounts.map(() => ''), ''],
        ...['direct_cost', 'shared_cost', 'cost'].map((key) => amount(sumOf(lines, key))),
        ...others(data, sumOf(lines, 'cost')),
      ],
    },
  );
}

function changeTable(data: StatementData, { changes }: LargestRows): Markup {
  return table(
    'Largest changes since last month',
    [
      ...accountColumn(data),
      { head: 'Resource', cell: (row) => name(row['resource_name'], 'no name') },
      { head: 'Type', cell: (row) => name(row['resource_type'], '') },
      { head: 'Workspace', cell: (row) => name(row['workspace'], 'no workspace') },
      moneyColumn('USD', 'cost'),
      moneyColumn('Month before', 'cost_month_before'),
      moneyColumn('Change', 'change', true),
      { head: '', cell: (row) => name(row['change_type'], '') },
    ],
    changes,
    { empty: data.costBefore === null ? 'The books do not have both months completely.' : 'No cost changed.' },
  );
}

function reconciliationTable({ reconciled, owner }: StatementData): Markup {
  const amounts: Column[] = [
    moneyColumn('USD', 'cost'),
    moneyColumn('Platform', 'platform_cost'),
    moneyColumn('Difference', 'difference', true),
    moneyColumn('Corrections', 'correction_cost', true),
    moneyColumn('Invoiced', 'invoiced'),
    moneyColumn('Billed', 'billed_cost'),
  ];
  return table(
    'Reconciliation',
    [
      { head: 'Account', cell: (row) => name(row['account'], '') },
      { head: 'Hours proven', isNumber: true, cell: (row) => `${row['hours_proven']} of ${row['hours']}` },
      { head: 'Comparisons', isNumber: true, cell: (row) => String(row['comparisons']) },
      ...(owner === undefined ? amounts : []),
      { head: 'Proven', cell: ({ proven }) => (proven === true ? 'yes' : html`<span class="bad">NO</span>`) },
    ],
    reconciled,
    {
      empty: 'The books have no account.',
      ...(owner === undefined
        ? {}
        : {
            note: `Accounts are proven as a whole. Their amounts are not only those of ${shownName(owner)}, so they are not here.`,
          }),
    },
  );
}

function foot(data: StatementData, { sqlSha256 }: LargestRows): Markup {
  const { state, billed, month } = data;
  const { completeThrough, settledThrough, asOf } = state;
  return html`<footer>
<p>Complete through ${completeThrough === null ? 'no hour yet' : shownInstant(completeThrough)}; settled through ${settledThrough === null ? 'no hour yet' : shownInstant(settledThrough)}${asOf === null ? '' : `; as of ${shownInstant(asOf)}`}. Amounts are USD${otherFoot(data)}, shown to the cent and added up exactly. Times are UTC.</p>
${billed.map(
  ({ account, sha256, isAsClosed }) =>
    html`<p>SHA-256 of everything that ${shownName(account)} is billed for ${formatMonth(month)}: ${sha256}${isAsClosed === null ? '' : isAsClosed ? ', as at its close' : html` <b class="bad">NOT as at its close</b>`}</p>
`,
)}<p>SHA-256 of the SQL: ${sqlSha256}. Made by Costbook.</p>
</footer>`;
}

/** Where amounts in the second currency come from. */
function otherFoot({ currency }: StatementData): string {
  if (currency === undefined) return '';
  const { code, rate } = currency;
  return ` or, in columns named ${code}, USD times ${rate.rate}, the rate of ${rate.rateDate} (${rate.source})`;
}
