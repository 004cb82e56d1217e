import { createHash } from 'node:crypto';
import { type Chart, chartToSvg, type ExactNumbers } from '../charts/index.ts';
import { encodePart, resourceAddress } from '../text/dashboard-address.ts';
import { maxNameLength, oneLine } from '../text/safe-text.ts';
import { shownInstant } from '../time/time.ts';
import type { AssetUrls } from './assets.ts';
import { money } from './format.ts';
import { html, type Markup, raw } from './markup.ts';
import { menu, type PagePath } from './menu.ts';
import type { Page } from './page.ts';
import { shareButton, tableButtons, tablesForm } from './table-files.ts';

/** What every page shows besides its body. */
export interface Frame {
  readonly project: string;
  readonly viewer: string | undefined;
  /** Whether they can sign out. */
  readonly hasSession: boolean;
  /** The pages that this viewer may open. */
  readonly allowed: readonly PagePath[];
  /** The named views that this viewer may open, and the one that is shown. */
  readonly views: readonly { readonly name: string; readonly title: string }[];
  readonly shownView: string | undefined;
  readonly completeThrough: string | null;
  /** Why the numbers are older than they should be; undefined if they are not. */
  readonly warning: string | undefined;
  readonly version: string;
  readonly assets: AssetUrls;
  /** The path of the page and the parameters in its address; no path of a page that cannot be shared. */
  readonly address: string | undefined;
  readonly query: URLSearchParams;
}

/** A whole page. */
export function document({ path, title, about, body }: Page, frame: Frame): Markup {
  const {
    project,
    viewer,
    hasSession,
    allowed,
    views,
    shownView,
    completeThrough,
    warning,
    assets,
    version,
    query,
    address,
  } = frame;
  const links = menu.filter((entry) => allowed.includes(entry.path));
  return html`<!doctype html>
<html lang="en" data-snapshot="${version}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} · ${project} · Costbook</title>
<link rel="stylesheet" href="${assets.style}">
<link rel="icon" href="${assets.icon}" type="image/svg+xml">
<script src="${assets.script}" data-charts="${assets.charts}" defer></script>${
    path === '/sql'
      ? html`
<script src="${assets.sql}" defer></script>`
      : ''
  }
</head>
<body>
<a class="skip" href="#main">Skip to content</a>
<header>
<p class="brand"><a href="/">Costbook</a> <span>${project}</span></p>
<nav aria-label="Pages"><ul>${links.map(
    (entry) =>
      html`<li><a href="${entry.path}"${entry.path === path && shownView === undefined ? raw(' aria-current="page"') : ''}>${entry.name}</a></li>`,
  )}</ul></nav>
<p class="through">${completeThrough === null ? 'No complete hour yet' : html`Complete through <time datetime="${completeThrough}">${shownInstant(completeThrough)}</time>`}</p>
${
  views.length === 0
    ? ''
    : html`<nav class="views" aria-label="Views"><ul>${views.map(
        (view) =>
          html`<li><a href="/views/${encodePart(view.name)}"${view.name === shownView ? raw(' aria-current="page"') : ''}>${named(view.title, '')}</a></li>`,
      )}</ul></nav>
`
}</header>
${warning === undefined ? '' : html`<p class="warning" role="status">${warning}</p>`}
<p class="warning" role="status" id="newer" hidden>Newer numbers are published. <a href="">Show them</a></p>
<main id="main">
<div class="head"><h1>${title}</h1>${about === undefined ? '' : html`<p class="empty">${about}</p>`}${address === undefined ? '' : shareButton(address)}</div>
${body}
${tablesForm(query)}
</main>
<footer><p>All times are UTC, all amounts USD unless a unit is named. Point at an amount to see it exactly.${
    viewer === undefined ? '' : html` You see what <b>${named(viewer, 'no name')}</b> may see.`
  }</p>${hasSession ? html`<form method="post" action="/sign-out"><button>Sign out</button></form>` : ''}</footer>
</body>
</html>`;
}

/** The page on which a person signs in, and afterwards gets to the page `to`. */
export function signInDocument(
  { hasTokens, hasProvider, to, reason }: SignInWays & { readonly to: string; readonly reason?: string | undefined },
  assets: AssetUrls,
): Markup {
  return smallDocument(
    'Sign in',
    html`${reason === undefined ? '' : html`<p class="state bad" role="alert">${reason}</p>`}
${hasProvider ? html`<p><a class="button" href="/sign-in/provider?to=${encodeURIComponent(to)}">Sign in with your account</a></p>` : ''}
${
  hasTokens
    ? html`<form class="filters" method="post" action="/sign-in">
<input type="hidden" name="to" value="${to}">
<label>Access token <input type="password" name="token" autocomplete="current-password" required></label>
<button>Sign in</button>
</form>`
    : ''
}`,
    assets,
  );
}

/** How a person can sign in. */
export interface SignInWays {
  readonly hasTokens: boolean;
  readonly hasProvider: boolean;
}

/**
 * Leads to a page of this server. A browser that comes from the provider's site by redirects alone would not send the
 * session, which is for requests of our own pages.
 */
export function signedInDocument(to: string, base: string, assets: AssetUrls): Markup {
  return smallDocument(
    'Signed in',
    html`<p>You have signed in. <a href="${to}">Go on</a></p>`,
    assets,
    html`<meta http-equiv="refresh" content="0;url=${base}${to}">
`,
  );
}

/** What a person reads where there is no page: why, and the way back. */
export function problemDocument(words: string, assets: AssetUrls): Markup {
  return smallDocument(
    'No page',
    html`<p class="finding" role="alert">${words}</p><p><a href="/">Overview</a></p>`,
    assets,
  );
}

function smallDocument(title: string, body: Markup, assets: AssetUrls, head: Markup | string = ''): Markup {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} · Costbook</title>
<link rel="stylesheet" href="${assets.style}">
<link rel="icon" href="${assets.icon}" type="image/svg+xml">
${head}</head>
<body>
<main id="main">
<h1>Costbook</h1>
<section>
${body}
</section>
</main>
</body>
</html>`;
}

/** What a person can do with a chart in the browser. Every link also stands elsewhere on the page, for the keyboard. */
export interface ChartActions {
  /** The start and end of each bucket, as an address has them. */
  readonly buckets?: readonly (readonly [from: string, to: string])[];
  /** The page of this chart with another window: dragging over buckets opens it. */
  readonly zoom?: string;
  /** The step of this chart, and the one that shows one bucket in more detail. */
  readonly step?: string;
  readonly finer?: string;
  /** The page of each place on the axis; null where there is none. */
  readonly pages?: readonly (string | null)[];
  /** The pages of the marks of a series, by its id, where they differ from those of their places. */
  readonly markPages?: Readonly<Record<string, readonly (string | null)[]>>;
  /** The full names of the places, where the axis shows shorter ones. */
  readonly names?: readonly string[];
  /** The page of each series, by its place; undefined for what cannot be opened. */
  readonly links?: readonly (string | undefined)[];
  /** The exact values of each series as text, by its id. */
  readonly texts?: Readonly<Record<string, readonly (string | null)[]>>;
  /** The exact sums of all series, bucket by bucket. */
  readonly totals?: readonly (string | null)[];
  /** The unit of the exact values. */
  readonly unit?: string;
}

/** How a chart is shown. */
export interface FigureOptions {
  readonly height?: number;
  readonly actions?: ChartActions;
  /** Its numbers as a table, closed until somebody opens it; `pages` are links there. */
  readonly numbers?: ExactNumbers;
  /** The page of each place on the axis. */
  readonly pages?: readonly (string | null)[];
  /** Its numbers in another form. */
  readonly details?: Markup;
}

/** A chart with its finding as the heading, its numbers' date, its SQL, and the option for the browser. */
export function figure(
  chart: Chart,
  { height = 300, numbers, pages, details, actions = numbers && exactActions(numbers, pages) }: FigureOptions = {},
): Markup {
  const { id, title, sql, completeThrough, keys } = chart;
  const option = json(chart.option);
  return html`<figure class="chart" id="${id}" aria-labelledby="${id}-finding">
<figcaption id="${id}-finding">${title}</figcaption>
<div class="drawing" data-chart="${id}-option" data-height="${height}"${actions === undefined ? '' : html` data-actions="${id}-actions"`}>${raw(drawingOf(chart, option, height))}</div>
<script type="application/json" id="${id}-option">${raw(option)}</script>
${actions === undefined ? '' : html`<script type="application/json" id="${id}-actions">${raw(json(actions))}</script>`}
${keys.length < 2 ? '' : html`<ul class="keys">${keys.map(({ name, look }, place) => html`<li class="key-${look}">${keyLink(name, actions?.links?.[place])}</li>`)}</ul>`}
${numbers === undefined ? '' : numbersTable(chart, numbers, pages)}${details ?? ''}
<details><summary>Source</summary><p>${completeThrough === null ? 'No complete hour yet.' : `Complete through ${shownInstant(completeThrough)}.`}</p><pre>${sql}</pre></details>
</figure>`;
}

/** Drawing costs most of a page whose answers are stored, and equal charts give equal text: the last drawings are kept. */
const drawings = new Map<string, string>();
const maxDrawings = 60;
const maxDrawingLength = 150_000;

function drawingOf(chart: Chart, option: string, height: number): string {
  const { id, title, description } = chart;
  const key = createHash('sha256')
    .update(JSON.stringify([id, title, description, height, option]))
    .digest('base64');
  const known = drawings.get(key);
  if (known !== undefined) return known;
  const drawing = chartToSvg(chart, { width: 760, height });
  const [oldest] = drawings.keys();
  if (oldest !== undefined && drawings.size >= maxDrawings) drawings.delete(oldest);
  if (drawing.length <= maxDrawingLength) drawings.set(key, drawing);
  return drawing;
}

function exactActions({ names, unit = 'USD', series }: ExactNumbers, pages: FigureOptions['pages']): ChartActions {
  return {
    ...{ names, unit },
    ...(pages === undefined ? {} : { pages }),
    texts: Object.fromEntries(series.map(({ id, texts }) => [id, texts])),
  };
}

/** The numbers of a chart: exact, with the page of each place as a link, for readers without a pointer. */
function numbersTable(
  { title }: Chart,
  { head, names, unit = 'USD', series }: ExactNumbers,
  pages: FigureOptions['pages'],
): Markup {
  interface Line {
    readonly name: string;
    readonly place: number;
    readonly page: string | null;
  }
  const places = names.flatMap((name, place): Line[] =>
    series.some(({ texts }) => (texts[place] ?? null) !== null) ? [{ name, place, page: pages?.[place] ?? null }] : [],
  );
  const cell = (text: string | null | undefined) =>
    text === null || text === undefined ? '' : /^-?\d+(\.\d+)?$/.test(text) ? money(text, { unit }) : text;
  return html`<details><summary>Numbers by ${head.toLowerCase()}</summary>${table(
    `${title}, ${unit}`,
    [
      { head, cell: ({ name, page }: Line) => (page === null ? name : html`<a href="${page}">${name}</a>`) },
      ...series.map(({ name, texts }) => ({
        ...{ head: name, isNumber: true },
        cell: ({ place }: Line) => cell(texts[place]),
      })),
    ],
    places,
    'There are no numbers.',
  )}</details>`;
}

function keyLink(name: string, link: string | undefined): Markup | string {
  return link === undefined ? name : html`<a href="${link}">${name}</a>`;
}

/** JSON that cannot end a script element. */
export function json(value: unknown): string {
  return JSON.stringify(value)
    .replaceAll('<', '\\u003c')
    .replaceAll('\u2028', '\\u2028')
    .replaceAll('\u2029', '\\u2029');
}

/** A name from the platform: without control characters and marks that change the direction, at most 80 characters. */
export function named(name: string | null | undefined, missing: string): string {
  return name === null || name === undefined || name === '' ? missing : oneLine(name, maxNameLength);
}

/** The name of a resource, which leads to its page. */
export function resourceLink(...[type, workspace, name]: Parameters<typeof resourceAddress>): Markup {
  return html`<a href="${resourceAddress(type, workspace, name)}">${named(name, 'no name')}</a>`;
}

export interface Column<T> {
  readonly head: Markup | string;
  readonly isNumber?: boolean;
  /** What its head leads to: the page with its table sorted by this column. */
  readonly sort?: SortLink | undefined;
  cell(row: T): Markup | string | number | null | undefined;
}

interface SortLink {
  readonly address: string;
  /** How the table is sorted by this column now. */
  readonly order: 'ascending' | 'descending' | undefined;
}

/** How a table is sorted, as its address says: `cost`, or `-cost` for the largest first. */
export interface SortedTable {
  readonly sort: string;
  /** The page of the table, sorted otherwise. */
  address(sort: string): string;
}

/** The link in the head of a column: numbers the largest first; by the column that sorts already, the other way round. */
export function sortLink(name: string, isNumber: boolean, { sort, address }: SortedTable): SortLink {
  const order = sort === name ? 'ascending' : sort === `-${name}` ? 'descending' : undefined;
  const isDown = order === undefined ? isNumber : order === 'ascending';
  return { order, address: address(isDown ? `-${name}` : name) };
}

/** What the cells of a column are marked with: small screens show the head beside each. */
function cellMarks<T>(column: Column<T> | undefined): Markup {
  const head = typeof column?.head === 'string' ? html` data-head="${column.head}"` : '';
  return html`${column?.isNumber ? raw(' class="number"') : ''}${head}`;
}

/** How a table is shown. */
interface TableOptions {
  /** What all its rows have in common. */
  readonly facts?: readonly Markup[];
  /** The page shows this many rows; the files have all. */
  readonly most?: number;
  /** How many there are, where a page reads only what it shows. */
  readonly all?: number;
  /** Whether the page offers other files of it. */
  readonly hasFiles?: boolean;
}

/** A table with a caption, and its files; numbers are right-aligned. `empty` is shown where there is no row. */
export function table<T>(
  caption: string,
  columns: readonly Column<T>[],
  rows: readonly T[],
  empty: string,
  foot?: readonly (Markup | string)[],
  { facts = [], most = rows.length, all = rows.length, hasFiles = false }: TableOptions = {},
): Markup {
  if (rows.length === 0) return html`<h2>${caption}</h2><p class="empty">${empty}</p>`;
  const cellsOf = (some: readonly T[]) => some.map((row) => columns.map(({ cell }) => cell(row)));
  return html`<div class="wide" role="region" aria-label="${caption}" tabindex="0"><table>
<caption>${caption}${facts.length === 0 ? '' : html`<span class="facts">${facts.map((fact) => html`<span>${fact}</span> `)}</span>`}</caption>
<thead><tr>${columns.map(
    ({ head, isNumber, sort }) =>
      html`<th scope="col"${isNumber ? raw(' class="number"') : ''}${sort?.order === undefined ? '' : html` aria-sort="${sort.order}"`}>${sort === undefined ? head : html`<a href="${sort.address}" rel="nofollow">${head}</a>`}</th>`,
  )}</tr></thead>
<tbody>${cellsOf(rows.slice(0, most)).map(
    (row) =>
      html`<tr>${row.map((cell, index) => html`<td${cellMarks(columns[index])}>${cell ?? ''}</td>`)}</tr>
`,
  )}</tbody>
${
  foot === undefined
    ? ''
    : html`<tfoot><tr>${foot.map((text, index) => html`<td${cellMarks(columns[index])}>${text}</td>`)}</tr></tfoot>`
}
</table></div>${hasFiles ? '' : tableButtons({ caption, columns, all, rows: () => cellsOf(rows) }, most)}`;
}
