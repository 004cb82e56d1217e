import { UsageError } from '../base/errors.ts';
import type { TableAnswer } from '../query/index.ts';
import { oneLine } from '../text/safe-text.ts';
import { shownInstant } from '../time/time.ts';
import { answerFile, maxFileRows } from './answer-file.ts';
import { answerChart, answerTable } from './answer-table.ts';
import { type BooksView, shownSql } from './books/index.ts';
import { type ChildWork, refusal } from './child-work.ts';
import { figure, json } from './layout.ts';
import { html, type Markup, raw } from './markup.ts';
import type { Download, Page, PageRequest } from './page.ts';
import { downloadLinks, type PageFormat } from './rows-file.ts';

/** Longer ones do not fit an address; "costbook sql -f" runs them. */
const maxQueryBytes = 8192;
const maxRows = 500;

/** Queries to start from, in files of `sql/serve`. */
const examples = [
  { name: 'Cost by month and workspace', file: 'example_months' },
  { name: 'Cost by day in the last 30 days', file: 'example_days' },
  { name: 'The resources that cost most this month', file: 'example_resources' },
  { name: 'Through when the books are complete', file: 'example_accounts' },
] as const;

/**
 * A query of the viewer, in a locked-down child process as "costbook sql" runs it. It can read everything in the books:
 * for unrestricted viewers only.
 */
export async function sqlPage({ view, query, project, signal }: PageRequest): Promise<Page> {
  const typed = typedIn(query);
  const views = await readViews(view);
  const sort = query.get('sort') ?? '';
  const result = typed.trim() === '' ? undefined : await answered({ typed, sort }, signal, project.work);
  return {
    path: '/sql',
    title: typed.trim() === '' ? 'SQL' : `SQL: ${oneLine(typed.trim(), 60)}`,
    status: result?.status ?? 200,
    body: html`<div class="with-side"><div>
<section><form method="get" action="/sql">
<label for="q">One SELECT over the views of the books</label>
<textarea id="q" name="q" rows="8" maxlength="${maxQueryBytes}" spellcheck="false" autocapitalize="off" autocomplete="off">${typed}</textarea>
<p class="empty" id="completion-help" hidden>Names complete as you type: arrow keys choose, Tab accepts, Escape closes, Ctrl-Space opens.</p>
<p class="actions"><button>Run</button> <span class="empty">Ctrl-Enter runs it. Ends after 30 seconds; shows ${maxRows} rows. Nothing can be changed.</span></p>
</form>
<p class="empty">Examples: ${await Promise.all(
      examples.map(
        async ({ name, file }, index) =>
          html`${index === 0 ? '' : ' · '}<a href="/sql?${new URLSearchParams({ q: await shownSql(file) })}">${name}</a>`,
      ),
    )}</p></section>
${result?.body ?? ''}
<section id="history" hidden><h2>Your last queries, in this browser only</h2><ul></ul><p class="actions"><button type="button">Forget them</button></p></section>
</div>
<aside aria-label="Views">${dictionary(views)}</aside></div>
<script type="application/json" id="completions">${raw(json(await completions(view, views)))}</script>`,
  };
}

async function answered(
  { typed, sort }: { readonly typed: string; readonly sort: string },
  signal: AbortSignal,
  work: ChildWork,
): Promise<{ body: Markup; status: 200 | 400 | 503 }> {
  const fault = faultOf(typed);
  if (fault !== undefined) return { status: 400, body: problem(fault) };
  try {
    const answer = await work.sql(typed, { maxRows, sort }, signal);
    const address = (by: string, path = '/sql') =>
      `${path}?${new URLSearchParams({ q: typed, ...(by === '' ? {} : { sort: by }) })}`;
    const drawn = answerChart(answer, typed);
    return {
      status: 200,
      body: html`${drawn === undefined ? '' : figure(drawn.chart, { actions: drawn.actions })}
<section class="answer">${answerTable(`Answer: ${countWords(answer)}`, answer, { sorted: { sort, address } })}
<p class="empty">${answer.completeThrough === null ? 'No complete hour yet.' : `Complete through ${shownInstant(answer.completeThrough)}.`}</p>
${downloadLinks((format) => address(sort, `/sql.${format}`))}</section>`,
    };
  } catch (error) {
    const { words, status } = refusal(error, signal);
    return { status, body: problem(words) };
  }
}

/** The answer to the same query as a file. */
export function sqlFile({ query, project, signal }: Omit<PageRequest, 'view'>, format: PageFormat): Promise<Download> {
  const typed = typedIn(query);
  const fault = faultOf(typed);
  if (fault !== undefined) throw new UsageError(fault);
  const rows = { maxRows: maxFileRows, sort: query.get('sort') ?? '' };
  const ask = () => project.work.sql(typed, rows, signal);
  return answerFile('answer', ask, { format, command: `costbook sql --out answer.${format}`, signal });
}

function typedIn(query: URLSearchParams): string {
  return (query.get('q') ?? '').replaceAll('\r\n', '\n');
}

/** Why a query is not run. */
function faultOf(typed: string): string | undefined {
  if (typed.includes('\0')) return 'The query contains a NUL character.';
  const bytes = Buffer.byteLength(typed);
  if (bytes <= maxQueryBytes) return undefined;
  return `The query has ${bytes} bytes; expected at most ${maxQueryBytes}. "costbook sql -f" runs longer ones.`;
}

/** `12 rows`, `the first 500 rows; more rows exist`. */
export function countWords({ rows, truncated }: TableAnswer): string {
  if (truncated) return `the first ${rows.length} rows; more rows exist`;
  return `${rows.length} ${rows.length === 1 ? 'row' : 'rows'}`;
}

/** Why there is no answer, in the words of whoever refused. */
export function problem(words: string): Markup {
  return html`<section role="alert"><h2 class="state bad">No answer</h2><pre class="problem">${words}</pre></section>`;
}

interface View {
  readonly name: string;
  readonly about: string;
  readonly columns: readonly { readonly name: string; readonly type: string; readonly about: string }[];
}

/** The views that a person can query, with their columns in order. */
async function readViews(view: BooksView): Promise<readonly View[]> {
  const byName = new Map<string, { about: string; columns: View['columns'][number][] }>();
  for (const row of await view.rows('dictionary')) {
    const name = String(row['view_name']);
    const found = byName.get(name) ?? { about: String(row['view_comment'] ?? ''), columns: [] };
    const [column, type] = [String(row['column_name']), String(row['data_type']).toLowerCase()];
    found.columns.push({ name: column, type, about: String(row['comment'] ?? '') });
    byName.set(name, found);
  }
  return [...byName].map(([name, found]) => ({ name, ...found }));
}

/** What the editor completes. */
async function completions(view: BooksView, views: readonly View[]) {
  return { views, functions: await view.rows('functions') };
}

/** The views with their columns, closed until somebody opens one. */
function dictionary(views: readonly View[]): Markup {
  return html`<section class="dictionary"><h2>Views</h2>${views.map(
    ({ name, about, columns }) =>
      html`<details><summary><code>${name}</code></summary><p>${about}.</p><dl>${columns.map(
        (column) => html`<dt><code>${column.name}</code> <span>${column.type}</span></dt><dd>${column.about}</dd>`,
      )}</dl></details>`,
  )}</section>`;
}
