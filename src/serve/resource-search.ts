import { counted } from '../text/counted.ts';
import { oneLine } from '../text/safe-text.ts';
import { formatInstant } from '../time/time.ts';
import { readBooksState } from './books-state.ts';
import { lastDays } from './explore-question.ts';
import { money } from './format.ts';
import { named, resourceLink, table } from './layout.ts';
import { html, type Markup } from './markup.ts';
import type { Page, PageRequest } from './page.ts';
import { textOf } from './resource-states.ts';

const maxLength = 200;

/** A form that finds resources by a part of their name. */
export function searchForm(part = ''): Markup {
  return html`<form class="filters" role="search" method="get" action="/resource">
<label>Find a resource <input type="search" name="q" value="${part}" placeholder="part of its name" maxlength="${maxLength}" required autocomplete="off"></label>
<button>Find</button>
</form>`;
}

/** The resources whose names contain a text, in the costs that the viewer sees. */
export async function resourceSearchPage({ view, query }: PageRequest): Promise<Page> {
  const part = (query.get('q') ?? '').trim();
  const { completeThrough } = await readBooksState(view);
  const page = { path: undefined, title: part === '' ? 'Resources' : `Resources: ${oneLine(part, 60)}` };
  if (part.length > maxLength) {
    const words = `Expected at most ${maxLength} characters of a name.`;
    return {
      ...page,
      status: 400,
      body: html`<section>${searchForm()}<p class="state bad" role="alert">${words}</p></section>`,
    };
  }
  if (part === '' || completeThrough === null) return { ...page, body: html`<section>${searchForm(part)}</section>` };
  const { from, to } = lastDays(30, Date.parse(completeThrough));
  const rows = await view.rows('resource_search', { part, from: formatInstant(from), to: formatInstant(to) });
  const all = Number(rows[0]?.['resources'] ?? 0);
  return {
    ...page,
    body: html`<section>${searchForm(part)}</section>
<section>${table(
      `${counted(all, 'resource')} with “${named(part, '')}” in the name`,
      [
        {
          head: 'Resource',
          cell: (row) => {
            const [type, workspace, name] = ['resource_type', 'workspace', 'resource_name'].map((each) =>
              textOf(row, each),
            );
            return html`${resourceLink(type, workspace, name)} <span class="empty">${named(type, 'no type')} in ${named(workspace, 'no workspace')}</span>`;
          },
        },
        { head: 'USD in 30 days', isNumber: true, cell: (row) => money(String(row['cost'])) },
      ],
      rows,
      'No cost in the books belongs to such a resource. Try a shorter part.',
    )}${all > rows.length ? html`<p class="empty">The ${rows.length} most expensive are shown.</p>` : ''}</section>`,
  };
}
