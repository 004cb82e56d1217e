import { join } from 'node:path';
import { UsageError } from '../base/errors.ts';
import { currencyWords } from '../reports/formats/index.ts';
import { isPartitioned } from '../reports/publishing/index.ts';
import { isForCommandLine, type Report, readReports } from '../reports/questions/index.ts';
import { nearest } from '../text/choices.ts';
import { encodePart } from '../text/dashboard-address.ts';
import { shownInstant } from '../time/time.ts';
import { answerFile, maxFileRows } from './answer-file.ts';
import { answerTable } from './answer-table.ts';
import { refusal } from './child-work.ts';
import { exportsOf, statementNames } from './export-files.ts';
import { exportsTable, filesOf } from './exports-table.ts';
import type { Figure } from './format.ts';
import { named, table } from './layout.ts';
import { html, type Markup, raw } from './markup.ts';
import type { Download, Page, PageRequest } from './page.ts';
import type { Project } from './project.ts';
import { downloadLinks, type PageFormat } from './rows-file.ts';
import { countWords, problem } from './sql.ts';

const maxRows = 200;

type Parameter = Report['parameters'][number];

/** Whom reports are for, in the order of the page; headers of a project's reports may name others. */
const audiences = ['finance', 'teams', 'checking'];

/** Every report, the project's own among them. Reports read all costs: for unrestricted viewers only. */
export async function reportsPage({ project, view }: PageRequest): Promise<Page> {
  const reports = await readReports(join(project.dir, 'sql'));
  const place = ({ audience = '' }: Report) => (audiences.includes(audience) ? audiences.indexOf(audience) : 9);
  const sound = reports.filter(({ problem: words }) => words === undefined);
  const groups = [...new Set(sound.toSorted((one, other) => place(one) - place(other)).map((each) => each.audience))];
  const broken = reports.filter((report) => report.problem !== undefined);
  const statements = await exportsTable(
    {
      caption: 'Statements of months',
      files: filesOf(await exportsOf(project.dir, { reports: statementNames })),
      empty: 'None yet: "costbook statement --month" writes them.',
    },
    { view, reports },
  );
  return {
    ...{ path: '/reports', title: 'Reports' },
    body: html`${groups.map(
      (audience) =>
        html`<section class="alerts">${reportsTable(sound.filter((report) => report.audience === audience))}</section>`,
    )}
<section>${statements}</section>
${broken.map((report) => problem(`The report ${named(report.name, '')} cannot be used: ${report.problem}`))}`,
  };
}

function reportsTable(reports: readonly Report[]): Markup {
  const [audience] = reports.map((report) => report.audience);
  return table(
    audience === undefined ? 'Of this project' : `For ${named(audience, '')}`,
    [
      { head: 'Report', cell: ({ name }) => html`<a href="/reports/${encodePart(name)}">${titleOf(name)}</a>` },
      { head: 'Question', cell: ({ about }) => about },
    ],
    reports,
    'There are no reports.',
  );
}

/** `chargeback_summary` is `Chargeback summary`. */
function titleOf(name: string): string {
  const words = named(name, '').replaceAll('_', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** One report: its parameters as a form, its first rows, and the files that it has written. */
export async function reportPage({ view, parts, query, project, signal }: PageRequest): Promise<Page> {
  const reports = await readReports(join(project.dir, 'sql'));
  const [part] = parts;
  const asked = part?.kind === 'name' && parts.length === 1 ? (part.name ?? '') : '';
  const report = reports.find(({ name }) => name === asked);
  if (report === undefined) return unknownReport(asked, reports);
  const page = { path: '/reports', title: titleOf(report.name) } as const;
  if (report.problem !== undefined) return { ...page, status: 500, body: problem(report.problem) };
  const empty = `None yet: "costbook report ${named(report.name, '')}" writes them.`;
  const files = filesOf(await exportsOf(project.dir, { reports: [report.name] }));
  const exports = await exportsTable({ caption: 'Its files', files, empty }, { view, reports });
  const whyNot = whyNotHere(report);
  if (whyNot !== undefined) {
    const words = html`<p class="finding">${report.about}</p><p class="empty">${whyNot}</p>`;
    return {
      ...page,
      body: html`<p><a href="/reports">All reports</a></p><section>${words}</section><section>${exports}</section>`,
    };
  }
  const { given, unknown } = valuesOf(report, query);
  const values = Object.entries(given).map(([name, value]) => `, ${name} ${named(value, '')}`);
  const result =
    unknown.length > 0
      ? {
          status: 400 as const,
          body: problem(
            unknown
              .map((name) => `${named(name, 'a parameter without a name')}: expected ${expectedNames(report)}`)
              .join('\n'),
          ),
        }
      : report.parameters.some(({ name, default: usual }) => usual === undefined && given[name] === undefined)
        ? undefined
        : await answered(report, { given, sort: sortOf(report, query) }, project, signal);
  return {
    ...page,
    title: `${page.title}${values.join('')}`,
    status: result?.status ?? 200,
    body: html`<p><a href="/reports">All reports</a></p>
<section><p class="finding">${report.about}</p>${form(report, given)}${result === undefined ? html`<p class="empty small">Give the required values and press Run.</p>` : ''}</section>
${result?.body ?? ''}
<section>${exports}</section>`,
  };
}

/** The answer of the same report as a file. */
export async function reportFile(
  { parts, query, project, signal }: Omit<PageRequest, 'view'>,
  format: PageFormat,
): Promise<Download> {
  const [part] = parts;
  const report = (await readReports(join(project.dir, 'sql'))).find(
    ({ name }) => part?.kind === 'name' && parts.length === 1 && name === part.name,
  );
  if (report === undefined) throw new UsageError('there is no such report');
  const { given, unknown } = valuesOf(report, query);
  const whyNot = report.problem ?? whyNotHere(report);
  if (whyNot !== undefined) throw new UsageError(whyNot);
  if (unknown.length > 0)
    throw new UsageError(unknown.map((name) => `${named(name, '')}: expected ${expectedNames(report)}`));
  const rows = { parameters: given, maxRows: maxFileRows, sort: sortOf(report, query) };
  const ask = () => project.work.reportRows(report.name, rows, signal);
  return answerFile(report.name, ask, { format, command: `costbook report ${report.name}`, signal });
}

function unknownReport(name: string, reports: readonly Report[]): Page {
  const guess = nearest(
    name,
    reports.map((report) => report.name),
  );
  return {
    ...{ path: '/reports', title: 'Reports', status: 404 },
    body: html`<section><h2>There is no report ${named(name, 'without a name')}</h2><p>${
      guess === undefined ? '' : html`Did you mean <a href="/reports/${encodePart(guess)}">${guess}</a>? `
    }<a href="/reports">All reports</a></p></section>`,
  };
}

function isOffered(parameter: Parameter): boolean {
  return !isForCommandLine(parameter);
}

/** Why a report is only for the command line; undefined if it is not. */
function whyNotHere(report: Report): string | undefined {
  if (isPartitioned(report)) return 'It has every cost by hour: its rows are in its files only.';
  const file = report.parameters.find((parameter) => parameter.type === 'file' && parameter.default === undefined);
  if (file === undefined) return undefined;
  return `It needs a file (${named(file.name, '')}), which no page reads: run "costbook report ${named(report.name, '')}".`;
}

function expectedNames({ parameters }: Report): string {
  const names = parameters.filter(isOffered).map(({ name }) => name);
  return names.length === 0 ? 'no parameter' : `one of ${names.join(', ')}`;
}

function valuesOf(
  { parameters }: Report,
  query: URLSearchParams,
): { given: Record<string, string>; unknown: readonly string[] } {
  const names = new Set(parameters.filter(isOffered).map(({ name }) => name));
  const entries = [...query].filter(([name]) => !['run', 'sort'].includes(name) || names.has(name));
  return {
    given: Object.fromEntries(entries.filter(([name, value]) => names.has(name) && value !== '')),
    unknown: entries.flatMap(([name]) => (names.has(name) ? [] : [name])),
  };
}

/** How the answer is sorted, unless the report has a parameter of that name. */
function sortOf({ parameters }: Report, query: URLSearchParams): string {
  return parameters.some(({ name }) => name === 'sort') ? '' : (query.get('sort') ?? '');
}

const inputTypes: Readonly<Partial<Record<Parameter['type'], string>>> = {
  month: 'month',
  date: 'date',
  integer: 'number',
};

function form({ parameters, name }: Report, given: Readonly<Record<string, string>>): Markup {
  return html`<form class="filters" method="get" action="/reports/${encodePart(name)}">
${parameters.filter(isOffered).map((parameter) => {
  const value = given[parameter.name] ?? '';
  const hint = parameter.default === undefined ? 'required' : defaultWords(parameter.default);
  const head = html`${parameter.name.replaceAll('_', ' ')} <small>(${hint})</small>`;
  if (parameter.type === 'boolean') {
    const option = (each: string) =>
      html`<option value="${each}"${each === value ? raw(' selected') : ''}>${each === '' ? 'default' : each}</option>`;
    return html`<label><span>${head}</span><select name="${parameter.name}">${['', 'true', 'false'].map(option)}</select></label>`;
  }
  // Words such as "last" are no value of a calendar.
  const isWord = value !== '' && !/^\d/.test(value);
  const type = isWord ? 'text' : (inputTypes[parameter.type] ?? 'text');
  return html`<label><span>${head}</span><input type="${type}" name="${parameter.name}" value="${value}" autocomplete="off"></label>`;
})}
<button>Run</button>
</form>`;
}

function defaultWords(text: string): string {
  if (text === '*' || text === 'none') return 'all';
  return text.length > 24 ? 'from the configuration' : `default ${text.replaceAll('-', ' ')}`;
}

/** Sums of a report that are figures of the catalogue: its cost, if that is of the whole of a month. */
function figuresOf({ name }: Report, given: Readonly<Record<string, string>>): Readonly<Record<string, Figure>> {
  const month = given['month'] ?? '';
  const isWhole = Object.keys(given).length === 1 && ['cost_by_workspace', 'cost_by_resource'].includes(name);
  return isWhole && /^\d{4}-\d{2}$/.test(month) ? { cost: ['month_cost', month] } : {};
}

async function answered(
  report: Report,
  { given, sort }: { readonly given: Readonly<Record<string, string>>; readonly sort: string },
  project: Project,
  signal: AbortSignal,
): Promise<{ body: Markup; status: 200 | 400 | 503 }> {
  try {
    const answer = await project.work.reportRows(
      report.name,
      { parameters: given, maxRows, sort, hasTotals: true },
      signal,
    );
    const address = (by: string, path = '/reports') =>
      `${path}/${encodePart(report.name)}?${new URLSearchParams({ ...given, ...(by === '' ? {} : { sort: by }) })}`;
    return {
      status: 200,
      body: html`${answer.warnings.length === 0 ? '' : html`<section role="status"><ul class="plain">${answer.warnings.map((words) => html`<li class="state-line">${words}</li>`)}</ul></section>`}
<section class="answer">${answerTable(`Answer: ${countWords(answer)}`, answer, { figures: figuresOf(report, given), sorted: { sort, address } })}
${answer.currency === undefined ? '' : currencyWords(answer.currency).map((words) => html`<p class="empty">${words}</p>`)}<p class="empty">${answer.completeThrough === null ? 'No complete hour yet.' : `Complete through ${shownInstant(answer.completeThrough)}.`} "costbook report ${named(report.name, '')}" writes all rows as files.</p>
${downloadLinks((format) => address(sort, `/reports.${format}`))}</section>`,
    };
  } catch (error) {
    const { words, status } = refusal(error, signal);
    return { status, body: problem(words) };
  }
}
