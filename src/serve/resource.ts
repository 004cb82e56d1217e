import { deploymentsOf } from '../anomalies/index.ts';
import { type Chart, costOverTime, keysOf, pageTheme } from '../charts/index.ts';
import type { AddressPart } from '../text/dashboard-address.ts';
import { type BooksKnown, comparedWith } from '../time/compared.ts';
import {
  addCalendarMonths,
  dayMs,
  floorDay,
  floorMonth,
  formatInstant,
  hourMs,
  type Instant,
  shownInstant,
} from '../time/time.ts';
import type { SqlRow } from '../warehouse/store/index.ts';
import type { BooksView, Scope } from './books/index.ts';
import { readBooksState } from './books-state.ts';
import { deploymentsTable, deploymentWords } from './deployments.ts';
import { only } from './dimensions.ts';
import { actionsOf } from './explore-actions.ts';
import {
  type Asked,
  addressOf,
  beforeOf,
  lastDays,
  maxBuckets,
  narrowed,
  readTime,
  shownTime,
} from './explore-question.ts';
import { longDetails } from './explore-tables.ts';
import {
  type Explored,
  type ExploredSeries,
  type ExploreQuestion,
  floorTo,
  readExplored,
  unitPrice,
} from './explored.ts';
import { amount, money, price, quantity, relative, relativeOrNew, shareOf } from './format.ts';
import { type Column, figure, named, resourceLink, table } from './layout.ts';
import { html, type Markup, raw } from './markup.ts';
import type { Page, PageRequest } from './page.ts';
import { executionsTable, partsTable } from './resource-parts.ts';
import { resourceSearchPage, searchForm } from './resource-search.ts';
import { changeWords, stateBefore, statesTable, textOf } from './resource-states.ts';

/** The ranges to choose from. */
const ranges = {
  '30d': { name: '30 days', step: 'day' },
  '90d': { name: '90 days', step: 'day' },
  '13m': { name: '13 months', step: 'month' },
} as const;

/** The time that is shown, and what an address has of it. */
interface Range {
  readonly address: string;
  readonly from: Instant;
  readonly step: 'day' | 'month';
}

/** The range of an address: by its name, or from a day on by day. What cannot be read is 90 days, with a sentence about it. */
function readRange(query: URLSearchParams, through: Instant): { range: Range; problems: string[] } {
  const problems: string[] = [];
  const since = readTime(query, 'since', problems);
  const name = query.get('range') ?? '90d';
  const key = keyIn(ranges, name) ?? '90d';
  if (key !== name) problems.push(`range: expected one of ${Object.keys(ranges).join(', ')}`);
  if (since !== undefined && since < through) {
    const step = (through - since) / dayMs > maxBuckets ? 'month' : 'day';
    return { range: { address: `since=${shownTime(since)}`, from: since, step }, problems };
  }
  if (since !== undefined) problems.push(`since: expected a time before ${shownInstant(formatInstant(through))}`);
  const months = () => addCalendarMonths(floorMonth(through - hourMs), -12);
  const from = key === '13m' ? months() : lastDays(Number.parseInt(key, 10), through).from;
  return { range: { address: `range=${key}`, from, step: ranges[key].step }, problems };
}

function keyIn<T extends object>(of: T, name: string): keyof T | undefined {
  return Object.hasOwn(of, name) ? (name as keyof T) : undefined;
}

/** The ranges to choose from: also since the resource was deployed or created last. */
function rangesOf(states: readonly SqlRow[], deployments: readonly SqlRow[]) {
  const created = states.map((state) => textOf(state, 'created_at')).find((at) => at !== null);
  return [
    ...Object.entries(ranges).map(([key, { name }]) => ({ address: `range=${key}`, name })),
    ...[
      {
        at: deploymentsOf(deployments).find(({ event }) => event !== undefined)?.by,
        name: 'Since the last deployment',
      },
      { at: created, name: 'Since it was created' },
    ].flatMap(({ at, name }) => (at === undefined ? [] : [{ address: `since=${at.slice(0, 10)}`, name }])),
  ];
}

/** The names of a resource for SQL; '' where there is none. */
interface ResourceNames extends Record<string, string> {
  readonly type: string;
  readonly workspace: string;
  readonly name: string;
}

/**
 * One resource: what it costs, its states, who owns it, whether it is used. Reads only what belongs to series that the
 * viewer sees.
 */
export async function resourcePage(request: PageRequest): Promise<Page> {
  const { view, parts, query } = request;
  if (parts.length === 0) return resourceSearchPage(request);
  const matches = parts.length === 3 ? await view.rows('resource', addressed(parts)) : [];
  const [found] = matches;
  const state = await readBooksState(view);
  if (found === undefined || state.completeThrough === null) {
    return {
      ...{ path: undefined, title: 'Resource', status: 404 },
      body: html`<section><h2>There is no such resource</h2><p>No cost in the books belongs to it. <a href="/explore?group=resource_name">All resources</a></p>${searchForm()}</section>`,
    };
  }
  const names = resourceNamesOf(found);
  const others = new Set(matches.map((row) => JSON.stringify(resourceNamesOf(row))));
  if (others.size > 1) return choicePage(matches);
  const through = Date.parse(state.completeThrough);
  const isOwner = view.scope.kind === 'owner';
  const { range, problems } = readRange(query, through);
  const question = questionOf(names, range, { through, completeFrom: state.completeFrom });
  const asked = { ...question, shape: 'bars', measure: 'cost', compare: 'before', through } as const;
  const [explored, states, deployments, owners, use, belongings, executions] = await Promise.all([
    readExplored(view, question),
    view.rows('resource_states', { ...names, is_owner: isOwner }),
    view.rows('resource_deployments', { ...names, is_owner: isOwner }),
    // Other owners had it before, or will.
    isOwner ? [] : view.rows('resource_owners', names),
    view.rows('resource_use', {
      ...{ type: names.type, name: names.name, workspace_name: names.workspace },
      ...useAsked(view, through),
    }),
    // Listings are of all costs, as owners are.
    isOwner ? [] : view.rows('resource_parts', names),
    isOwner ? [] : view.rows('resource_executions', names),
  ]);
  return {
    path: undefined,
    title: named(names.name, 'A resource without a name'),
    status: problems.length === 0 ? 200 : 400,
    body: html`<p><span class="state">${named(names.type, 'no type')}</span> in ${named(names.workspace, 'no workspace')} ·
<a href="${addressOf(asked)}">Explore its costs</a> · <a href="/resource">Find another</a></p>
${problems.map((problem) => html`<p class="state bad" role="alert">${problem}</p>`)}
${tiles(asked, explored, { names, states, owners, use: use[0], scope: view.scope })}
<nav class="ranges" aria-label="Range">${rangesOf(states, deployments).map(
      ({ address, name }) =>
        html`<a href="?${address}"${address === range.address ? raw(' aria-current="true"') : ''}>${name}</a> `,
    )}</nav>
${figure(
  chartOf(question, explored, {
    ...{ states, deployments, completeThrough: state.completeThrough, names },
  }),
  { height: 300, actions: actionsOf(asked, explored), details: longDetails(asked, explored) },
)}
<section>${dimensionsTable(asked, explored)}</section>
<section>${deploymentsTable(deployments)}</section>
<section>${statesTable(states)}</section>
${partsTable(belongings)}${executionsTable(executions)}
${isOwner ? '' : html`<section>${ownersTable(owners)}</section>`}`,
  };
}

/** What the statements about use bind: a resource without use for so many days is idle, as in the report idle. */
export function useAsked({ scope }: BooksView, through: Instant) {
  return { until: formatInstant(floorDay(through)), days: 14, workspace: null, is_owner: scope.kind === 'owner' };
}

/** The names of a resource in a row. */
export function resourceNamesOf(row: SqlRow): ResourceNames {
  return {
    type: textOf(row, 'resource_type') ?? '',
    workspace: textOf(row, 'workspace') ?? '',
    name: textOf(row, 'resource_name') ?? '',
  };
}

/** Several resources have the name: which one? */
function choicePage(matches: readonly SqlRow[]): Page {
  return {
    ...{ path: undefined, title: 'Resources of one name' },
    body: html`<section>${table(
      'Which one?',
      [
        {
          head: 'Resource',
          cell: (row) => {
            const { type, workspace, name } = resourceNamesOf(row);
            return resourceLink(type, workspace, name);
          },
        },
        { head: 'Type', cell: (row) => named(textOf(row, 'resource_type'), 'no type') },
        { head: 'Workspace', cell: (row) => named(textOf(row, 'workspace'), 'no workspace') },
        { head: 'Account', cell: (row) => named(textOf(row, 'account'), '') },
      ],
      matches,
      '',
    )}</section>`,
  };
}

function addressed(parts: readonly AddressPart[]): Record<string, string | boolean | null> {
  return Object.fromEntries(
    ['type', 'workspace', 'name'].flatMap((name, index) => {
      const part = parts[index];
      return [
        [name, part?.kind === 'name' ? (part.name ?? '') : ''],
        [`${name}_md5`, part?.kind === 'md5' ? part.md5 : null],
        ...(name === 'name' ? [] : [[`${name}_any`, part?.kind === 'any']]),
      ];
    }),
  );
}

function questionOf(
  { type, workspace, name }: ResourceNames,
  { from, step }: Range,
  { through, ...books }: BooksKnown & { readonly through: Instant },
): ExploreQuestion & Pick<Asked, 'notCompared'> {
  const compared = comparedWith({ start: from, end: through }, books);
  return {
    ...{ from, to: through, step, groupBy: 'billing_dimension', top: 7 },
    before: beforeOf(compared),
    notCompared: compared.kind === 'none' ? compared.reason : undefined,
    filters: only({ resource_type: type, workspace, resource_name: name }),
  };
}

function tiles(
  asked: Pick<Asked, 'from' | 'before' | 'notCompared'>,
  { total, totalBefore: before }: Explored,
  {
    names,
    states,
    owners,
    use,
    scope,
  }: {
    readonly names: ResourceNames;
    readonly states: readonly SqlRow[];
    readonly owners: readonly SqlRow[];
    readonly use: SqlRow | undefined;
    readonly scope: Scope;
  },
): Markup {
  const [state] = states;
  const [owner] = owners;
  const subject = [names.workspace, names.type, names.name].join('/');
  const change = asked.before === undefined ? undefined : relative(total, before);
  return html`<dl class="tiles">
<div class="tile"><dt>Cost in this range</dt><dd><span class="big">${money(total, { figure: ['resource_cost_since', `${formatInstant(asked.from)}/${subject}`] })}</span> USD<div class="note">${asked.before === undefined ? `Not compared: ${asked.notCompared}` : change === undefined ? 'It cost nothing in the range before' : `${change} against the range before (${amount(before)})`}</div></dd></div>
<div class="tile"><dt>Use</dt><dd>${useWords(use, subject)}</dd></div>
<div class="tile"><dt>Owner</dt><dd>${
    owner === undefined
      ? html`<span class="medium">${scope.kind === 'owner' ? named(scope.owner, '') : 'none'}</span>`
      : html`<span class="medium">${owner['is_split'] === true ? 'shared' : ownerWords(textOf(owner, 'owner'))}</span><div class="note">by the rule ${named(textOf(owner, 'rule'), '')}</div>`
  }</dd></div>
<div class="tile"><dt>State</dt><dd>${
    state === undefined
      ? html`<span class="big">unknown</span><div class="note">no listing has it</div>`
      : html`<span class="medium">${named(textOf(state, 'status'), 'no status')}</span><div class="note">${textOf(state, 'display_name') === null ? '' : html`${named(textOf(state, 'display_name'), '')}, `}since ${shownInstant(String(state['valid_from']))}${state['valid_to'] === null ? '' : html`, until ${shownInstant(String(state['valid_to']))}`}</div>`
  }</dd></div>
</dl>`;
}

function useWords(use: SqlRow | undefined, subject: string): Markup {
  const lastUsed = use === undefined ? null : textOf(use, 'last_used');
  const isIdle = use?.['is_idle'] === true;
  const storage = use === undefined ? '0' : String(use['storage_cost_of_last_day'] ?? '0');
  const perMonth =
    Number(storage) > 0
      ? html`its storage costs ${money(String(use?.['storage_cost_per_month']), { figure: ['storage_cost', subject] })} USD a month`
      : html``;
  if (isIdle) {
    const days = use?.['idle_days'] == null ? '' : ` for ${use['idle_days']} days`;
    return html`<span class="big state bad">idle${days}</span><div class="note">${named(textOf(use, 'reason'), '')}${Number(storage) > 0 ? '; ' : ''}${perMonth}</div>`;
  }
  if (use?.['is_storage_only'] === true) {
    return html`<span class="medium">not known</span><div class="note">only storage is billed, so nothing shows whether it is used${Number(storage) > 0 ? '; ' : ''}${perMonth}</div>`;
  }
  if (lastUsed === null) {
    return html`<span class="big">no usage</span><div class="note">never used apart from storage${Number(storage) > 0 ? '; ' : ''}${perMonth}</div>`;
  }
  const days = Number(use?.['unused_days'] ?? 0);
  return html`<span class="big">${days < 1 ? 'in use' : `not used for ${days} ${days === 1 ? 'day' : 'days'}`}</span><div class="note">last used before ${shownInstant(lastUsed)}${Number(storage) > 0 ? '; ' : ''}${perMonth}</div>`;
}

/** `team Sales, environment production`, of the JSON object of an owner. */
export function ownerWords(owner: string | null): string {
  const entries = Object.entries(JSON.parse(owner ?? '{}') as Record<string, string | null>).filter(
    ([, value]) => value !== null,
  );
  if (entries.length === 0) return 'no owner';
  return entries.map(([dimension, value]) => `${named(dimension, '')} ${named(value, '')}`).join(', ');
}

function chartOf(
  { step, to }: ExploreQuestion,
  { labels, series, total, sql }: Explored,
  {
    states,
    deployments,
    completeThrough,
    names: { name },
  }: {
    readonly states: readonly SqlRow[];
    readonly deployments: readonly SqlRow[];
    readonly completeThrough: string;
    readonly names: ResourceNames;
  },
): Chart {
  // Its first state is no change.
  const changes = states.map(
    (state, place) => [state['valid_from'], changeWords(state, stateBefore(states, place))] as const,
  );
  const deployed = deploymentsOf(deployments).map((row) => [row.by, deploymentWords(row)] as const);
  const words = labels.map((): string[] => []);
  for (const [at, what] of [...deployed, ...changes])
    if (what !== undefined) words[labels.indexOf(formatInstant(floorTo(Date.parse(String(at)), step)))]?.push(what);
  const marks = words.flatMap((each, index) => (each.length === 0 ? [] : [{ index, name: marksOf(each) }]));
  const [largest] = series;
  const isCut = step === 'month' || to % dayMs !== 0;
  return {
    id: 'cost',
    title:
      largest === undefined
        ? `${named(name, 'It')} cost nothing in this range`
        : `${named(name, 'It')} cost ${amount(total)} USD; ${series.length === 1 ? 'all of it is' : 'most is'} ${largest.name} (${amount(largest.total)})`,
    description: `Cost by ${step} and billing dimension. ${series.map((each) => `${each.name}: ${amount(each.total)} USD`).join('. ')}.`,
    sql,
    completeThrough,
    keys: [...keysOf(series), ...(marks.length > 0 ? [{ name: 'deployed or changed', look: 'mark' }] : [])],
    option: costOverTime(
      {
        marks,
        labels: labels.map((label) => (step === 'month' ? label.slice(0, 7) : label.slice(5, 10))),
        series,
        shape: 'bars',
        incompleteFrom: isCut ? labels.length - 1 : undefined,
      },
      pageTheme,
    ),
  };
}

const maxMarked = 3;

/** What happened in one bucket: the newest, and how much more. */
function marksOf(words: readonly string[]): string {
  const more = words.length - maxMarked;
  return [...words.slice(0, maxMarked), ...(more > 0 ? [`and ${more} more`] : [])].join(' · ');
}

function dimensionsTable(asked: Asked, { series, total, totalBefore }: Explored): Markup {
  const change = (now: string, before: string | undefined) => relativeOrNew(now, before ?? '0');
  return table(
    'By billing dimension',
    [
      {
        head: 'Billing dimension',
        cell: ({ name, key }) => (key === undefined ? name : html`<a href="${narrowed(asked, key)}">${name}</a>`),
      },
      { head: 'USD', isNumber: true, cell: (row) => money(row.total) },
      {
        head: 'Share',
        isNumber: true,
        cell: (row) => shareOf(row.total, total),
      },
      ...(asked.before === undefined
        ? []
        : ([
            {
              head: 'Before',
              isNumber: true,
              cell: ({ before }) => (before.total === undefined ? '' : money(before.total)),
            },
            { head: 'Change', isNumber: true, cell: (row) => change(row.total, row.before.total) },
          ] satisfies Column<ExploredSeries>[])),
      {
        head: 'Usage',
        isNumber: true,
        cell: ({ usage, unit }) => (usage === undefined || unit === undefined ? '' : `${quantity(usage)} ${unit}`),
      },
      { head: 'USD per unit', isNumber: true, cell: (row) => price(unitPrice(row.total, row.usage)) },
    ],
    series,
    'It cost nothing in this range.',
    [
      ...['Total', money(total), ''],
      ...(asked.before === undefined ? [] : [money(totalBefore), change(total, totalBefore)]),
      ...['', ''],
    ],
  );
}

function ownersTable(owners: readonly SqlRow[]): Markup {
  return html`${table(
    'Owner, and why',
    [
      {
        head: 'Owner',
        cell: (row) => (row['is_split'] === true ? 'shared over owners' : ownerWords(textOf(row, 'owner'))),
      },
      { head: 'Rule', cell: (row) => named(textOf(row, 'rule'), '') },
      { head: 'From', cell: (row) => textOf(row, 'from_day') ?? 'the start' },
      { head: 'Until', cell: (row) => textOf(row, 'to_day') ?? 'now' },
    ],
    owners,
    'No allocation rule is known.',
  )}<p class="empty">The first rule that matches decides; the rule "default" means that none matched. "costbook allocation explain" shows every condition.</p>`;
}
