import { counted } from '../text/counted.ts';
import { dayMs, floorDay, formatInstant, type Instant, shownInstant } from '../time/time.ts';
import type { SqlRow } from '../warehouse/store/index.ts';
import { readBooksState } from './books-state.ts';
import { costsAddress, readTime, shownTime } from './explore-question.ts';
import { sum } from './explored.ts';
import { money, quantity } from './format.ts';
import { type Column, named, resourceLink, table } from './layout.ts';
import { html, type Markup } from './markup.ts';
import { monthAddress, unknownBefore } from './month.ts';
import type { Page, PageRequest } from './page.ts';
import { textOf } from './resource-states.ts';

const usualDays = 7;
const daysShown = 100;

/** From when on changes are shown: what the address names, or when this browser looked before, or else the last days. */
export interface Since {
  readonly at: Instant;
  readonly words: string;
  readonly problems: readonly string[];
}

export function sinceOf({ query, lookedAt, now }: Pick<PageRequest, 'query' | 'lookedAt' | 'now'>): Since {
  const problems: string[] = [];
  const asked = readTime(query, 'since', problems);
  if (asked !== undefined) return { at: asked, words: `since ${shownTime(asked).replace('T', ' ')}`, problems };
  if (lookedAt !== undefined)
    return { at: lookedAt, words: `since you last looked, ${shownInstant(formatInstant(lookedAt))}`, problems };
  return { at: floorDay(now) - usualDays * dayMs, words: `in the last ${usualDays} days`, problems };
}

interface Changes {
  readonly since: Since;
  readonly days: readonly SqlRow[];
  readonly total: Markup;
  readonly words: string;
}

/** What the platform changed in the past. Reads all costs: for unrestricted viewers only. */
async function readChanges(request: PageRequest): Promise<Changes> {
  const since = sinceOf(request);
  const days = await request.view.rows('changes', { since: formatInstant(since.at) });
  const months = new Set(days.map(monthOf));
  const hours = days.reduce((all, row) => all + Number(row['hours']), 0);
  const words = `${counted(hours, 'hour')} of ${counted(days.length, 'day')} in ${counted(months.size, 'month')}`;
  const cost = sum(days.map((row) => String(row['cost'])));
  const total = money(cost, { isSigned: true, figure: ['changed_cost', formatInstant(since.at)] });
  return { since, days, total, words };
}

function monthOf(row: SqlRow): string {
  return String(row['day']).slice(0, 7);
}

/** The tile of the overview. */
export async function changesTile(request: PageRequest): Promise<Markup> {
  const { since, days, total, words } = await readChanges(request);
  const link = html`<a href="/changes">${days.length === 0 ? 'Changes of the past' : words}</a>`;
  return html`<div class="tile"><dt>Changed in the past</dt><dd>${
    days.length === 0 ? html`<span class="big">none</span>` : html`<span class="big">${total}</span> USD`
  }<div class="note">${link} ${since.words}</div></dd></div>`;
}

/** What changed in the past since somebody looked, over all months, with the costs of each day. */
export async function changesPage(request: PageRequest): Promise<Page> {
  const [{ since, days, total, words }, { completeThrough }, months] = await Promise.all([
    readChanges(request),
    readBooksState(request.view),
    request.view.rows('months'),
  ]);
  const day = formatInstant(since.at).slice(0, 10);
  const through = completeThrough === null ? since.at : Date.parse(completeThrough);
  const changed = months.filter((row) => days.some((each) => monthOf(each) === row['month']));
  const [firstReadAt = ''] = months.map((row) => String(row['first_read_at'] ?? '')).sort();
  const { problems } = since;
  return {
    ...{ path: '/changes', title: 'Changes of the past', status: problems.length === 0 ? 200 : 400 },
    body: html`<p class="finding">${
      days.length === 0
        ? `The platform changed nothing of the past ${since.words}.`
        : html`The platform changed <b>${total} USD</b> of the past ${since.words}: ${words}.`
    }</p>
${unknownBefore(formatInstant(since.at), firstReadAt, 'any costs')}
${problems.map((problem) => html`<p class="state bad" role="alert">${problem}</p>`)}
<section><form class="filters" method="get" action="/changes"><label><span>Changes since</span><input type="date" name="since" value="${day}"></label><button>Show</button></form></section>
${
  days.length === 0
    ? ''
    : html`<section class="cards">${table('By month', monthColumns(days, day), changed, '')}</section>
<section class="cards">${table('By day, newest first', dayColumns(through), days, '', ['Total', quantityOf(days), total, '', ''], { most: daysShown })}</section>`
}`,
  };
}

function quantityOf(days: readonly SqlRow[]): string {
  return quantity(String(days.reduce((all, { hours }) => all + Number(hours), 0)));
}

function monthColumns(days: readonly SqlRow[], since: string): readonly Column<SqlRow>[] {
  const of = ({ month }: SqlRow) => days.filter((row) => monthOf(row) === month);
  return [
    {
      head: 'Month',
      cell: ({ month }) => html`<a href="${monthAddress(String(month))}?since=${since}">${month}</a>`,
    },
    {
      head: 'USD',
      isNumber: true,
      cell: (row) => money(sum(of(row).map(({ cost }) => String(cost))), { isSigned: true }),
    },
    { head: 'State', cell: ({ state }) => String(state) },
    { head: 'Days', isNumber: true, cell: (row) => of(row).length },
    { head: 'Hours', isNumber: true, cell: (row) => quantityOf(of(row)) },
  ];
}

/** Each day leads to its costs, by hour and resource. */
function dayColumns(through: Instant): readonly Column<SqlRow>[] {
  const page = (day: string) => {
    const from = Date.parse(`${day}T00:00:00Z`);
    return costsAddress({ window: { from, to: from + dayMs }, through, step: 'hour', groupBy: 'resource_name' });
  };
  return [
    { head: 'Day', cell: ({ day }) => html`<a class="state" href="${page(String(day))}">${day}</a>` },
    { head: 'Hours', isNumber: true, cell: ({ hours }) => quantity(String(hours)) },
    { head: 'USD', isNumber: true, cell: ({ cost }) => money(String(cost), { isSigned: true }) },
    {
      head: 'Most of it',
      cell: (row) => {
        const [type, workspace, name] = ['resource_type', 'workspace', 'resource_name'].map((each) =>
          textOf(row, each),
        );
        return html`<span>${resourceLink(type, workspace, name)} <span class="empty">${named(workspace, 'no workspace')}</span> ${money(String(row['resource_cost']), { isSigned: true })}</span>`;
      },
    },
    { head: 'Last seen', cell: ({ seen_at }) => html`<span class="state">${shownInstant(String(seen_at))}</span>` },
  ];
}
