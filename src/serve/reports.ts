import { join } from 'node:path';
import { revokedCloses, shownAmong } from '../reports/exports/index.ts';
import { isPartitioned } from '../reports/publishing/index.ts';
import { isForCommandLine, type Report, readReports } from '../reports/questions/index.ts';
import { nearest } from '../text/choices.ts';
import { encodePart } from '../text/dashboard-address.ts';
import { shownInstant } from '../time/time.ts';
import { answerTable } from './answer-table.ts';
import { refusal } from './child-work.ts';
import { exportAddress, exportsOf, type StoredExport } from './export-files.ts';
import { money, quantity, sizeWords } from './format.ts';
import { named, table } from './layout.ts';
import { html, type Markup, raw } from './markup.ts';
import type { Page, PageRequest } from './page.ts';
import type { Project } from './project.ts';
import type { BooksView } from './snapshots.ts';
import { countWords, problem } from './sql.ts';

const maxRows = 200;
const maxFiles = 100;

type Parameter = Report['parameters'][number];

/** Every report, the project's own among them. Reports read all costs: for unrestricted viewers only. */
export async function reportsPage({ project, view }: PageRequest): Promise<Page> {
  const reports = await readReports(join(project.dir, 'sql'));
  const sound = reports.filter((report) => report.problem === undefined);
  const broken = reports.filter((report) => report.problem !== undefined);
  const statements = await exportsTable(
    {
      ...{ caption: 'Statements of months', names: ['statement', 'owner_statement'] },
      empty: 'None yet: "costbook statement --month" writes them.',
    },
    { project, view, reports },
  );
  return {
    ...{ path: '/reports', title: 'Reports' },
    body: html`<section class="alerts">${table(
      'What each answers',
      [
        { head: 'Report', cell: ({ name }) => html`<a href="/reports/${encodePart(name)}">${named(name, '')}</a>` },
        { head: 'Question', cell: ({ about }) => about },
        {
          head: 'Parameters',
          cell: ({ parameters }) => html`<span class="empty">${parameters.map(({ name }) => name).join(', ')}</span>`,
        },
      ],
      sound,
      'There are no reports.',
    )}</section>
<section>${statements}</section>
${broken.map((report) => problem(`The report ${named(report.name, '')} cannot be used: ${report.problem}`))}`,
  };
}

/** One report: its parameters as a form, its first rows, and the files that it has written. */
export async function reportPage({ view, parts, query, project, signal }: PageRequest): Promise<Page> {
  const reports = await readReports(join(project.dir, 'sql'));
  const [part] = parts;
  const asked = part?.kind === 'name' && parts.length === 1 ? (part.name ?? '') : '';
  const report = reports.find(({ name }) => name === asked);
  if (report === undefined) return unknownReport(asked, reports);
  const page = { path: '/reports', title: `Report ${named(report.name, '')}` } as const;
  if (report.problem !== undefined) return { ...page, status: 500, body: problem(report.problem) };
  const empty = `None yet: "costbook report ${named(report.name, '')}" writes them.`;
  const exports = await exportsTable({ caption: 'Its files', names: [report.name], empty }, { project, view, reports });
  const whyNot = whyNotHere(report);
  if (whyNot !== undefined) {
    const words = html`<p class="finding">${report.about}</p><p class="empty">${whyNot}</p>`;
    return {
      ...page,
      body: html`<p><a href="/reports">All reports</a></p><section>${words}</section><section>${exports}</section>`,
    };
  }
  const { given, unknown } = valuesOf(report, query);
  const isAsked = query.size > 0;
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
      : isAsked
        ? await answered(report, given, project, signal)
        : undefined;
  return {
    ...page,
    status: result?.status ?? 200,
    body: html`<p><a href="/reports">All reports</a></p>
<section><p class="finding">${report.about}</p>${form(report, given)}${result === undefined ? html`<p class="empty small">Choose values, or none for the defaults, and press Run.</p>` : ''}</section>
${result?.body ?? ''}
<section>${exports}</section>`,
  };
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
  const entries = [...query].filter(([name]) => name !== 'run' || names.has('run'));
  return {
    given: Object.fromEntries(entries.filter(([name, value]) => names.has(name) && value !== '')),
    unknown: entries.flatMap(([name]) => (names.has(name) ? [] : [name])),
  };
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
<button name="run" value="1">Run</button>
</form>`;
}

function defaultWords(text: string): string {
  if (text === '*' || text === 'none') return 'all';
  return text.length > 24 ? 'from the configuration' : `default ${text.replaceAll('-', ' ')}`;
}

async function answered(
  report: Report,
  given: Readonly<Record<string, string>>,
  project: Project,
  signal: AbortSignal,
): Promise<{ body: Markup; status: 200 | 400 | 503 }> {
  try {
    const answer = await project.work.reportRows(report.name, given, maxRows, signal);
    return {
      status: 200,
      body: html`${answer.warnings.length === 0 ? '' : html`<section role="status"><ul class="plain">${answer.warnings.map((words) => html`<li class="state-line">${words}</li>`)}</ul></section>`}
<section class="answer">${answerTable(`Answer: ${countWords(answer)}`, answer)}
<p class="empty">${answer.completeThrough === null ? 'No complete hour yet.' : `Complete through ${shownInstant(answer.completeThrough)}.`} "costbook report ${named(report.name, '')}" writes all rows as files.</p></section>`,
    };
  } catch (error) {
    const { words, status } = refusal(error, signal);
    return { status, body: problem(words) };
  }
}

/** The files of a report that its manifests name, newest books first, each with a link that downloads it. */
async function exportsTable(
  { caption, names, empty }: { readonly caption: string; readonly names: readonly string[]; readonly empty: string },
  {
    project: { dir },
    view,
    reports,
  }: { readonly project: Project; readonly view: BooksView; readonly reports: readonly Report[] },
): Promise<Markup> {
  const [found, revoked] = await Promise.all([
    Promise.all(names.map((name) => exportsOf(name, dir))),
    view.once('revoked closes', revokedCloses),
  ]);
  const shownCloses = await shownAmong(revoked, reports);
  const exports = found.flat();
  const files = exports.flatMap(({ folder, manifest }) => manifest.files.map((file) => ({ folder, manifest, file })));
  const months = files.some(({ manifest, file }) => monthOf(manifest, file) !== undefined);
  const shown = files.slice(0, maxFiles);
  return html`${table(
    caption,
    [
      ...(months
        ? [
            {
              head: 'Month',
              cell: ({ manifest, file }: ListedFile) =>
                html`<span class="state">${monthOf(manifest, file) ?? ''}</span>`,
            },
          ]
        : []),
      {
        head: 'File',
        cell: ({ folder, file, manifest }: ListedFile) =>
          html`<a href="${exportAddress(folder, file.name)}" download>${named(file.name, '')}</a><div class="empty small">${named(`exports/${folder}`, '')}</div>${shownCloses(manifest, folder).length > 0 ? html`<div class="state bad small">shows a close that was revoked</div>` : ''}`,
      },
      { head: 'Format', cell: ({ file }: ListedFile) => named(file.format, '') },
      {
        head: 'Rows',
        isNumber: true,
        cell: ({ file }: ListedFile) => (file.rows === null ? '' : quantity(String(file.rows))),
      },
      { head: 'USD', isNumber: true, cell: ({ file }: ListedFile) => (file.cost == null ? '' : money(file.cost)) },
      { head: 'Size', isNumber: true, cell: ({ file }: ListedFile) => sizeWords(file.bytes) },
      {
        head: 'SHA-256',
        cell: ({ file }: ListedFile) => html`<code title="${file.sha256}">${file.sha256.slice(0, 12)}…</code>`,
      },
      {
        head: 'Complete through',
        cell: ({ manifest: { completeThrough } }: ListedFile) =>
          completeThrough === null ? '' : html`<span class="state">${shownInstant(completeThrough)}</span>`,
      },
    ],
    shown,
    empty,
  )}${files.length > shown.length ? html`<p class="empty">And ${files.length - shown.length} more in the folder exports.</p>` : ''}`;
}

interface ListedFile {
  readonly folder: string;
  readonly manifest: StoredExport['manifest'];
  readonly file: StoredExport['manifest']['files'][number];
}

/** The month that a file is about; undefined if it is about all of them. */
function monthOf({ parameters }: ListedFile['manifest'], { partition }: ListedFile['file']): string | undefined {
  const month = partition?.month ?? parameters['month'];
  return typeof month === 'string' ? month.slice(0, 7) : undefined;
}
