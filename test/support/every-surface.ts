import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readXlsx } from 'hucre/xlsx';
import { expect } from 'vitest';
import { amount, decimalOfWhole, roughly, usd, usdDecimals, wholeOfDecimal } from '../../src/money/money.ts';
import { addCalendarMonths, calendarOf, floorMonth } from '../../src/time/time.ts';
import { openBooks } from '../../src/warehouse/integrity/books.ts';
import { readSql, readSqlFolder } from '../../src/warehouse/sql/sql-files.ts';
import { serve } from './dashboard.ts';
import { ingest, newProject, runCli } from './project.ts';
import { type Fact, instantText, type ScriptedPlatform, startScriptedPlatform } from './scripted-platform.ts';
import { type SinkServer, startSink } from './sink-server.ts';
import { type SlackServer, startSlack } from './slack-server.ts';
import { type SmtpServer, startSmtp } from './smtp-server.ts';

const hourMs = 3_600_000;
/** When the books of every shape were loaded last. */
export const loaded = Date.parse('2026-10-09T18:30:00Z');

/** A figure as a surface showed it: its value, or the text in which its formatted value must be. */
export interface Reading {
  readonly figure: string;
  readonly subject: string;
  readonly surface: string;
  readonly value?: string;
  readonly text?: string;
  /** How the surface writes the value, where it is a text. */
  readonly format?: (value: string) => string;
}

/** One way in which books come to be. */
export interface Shape {
  readonly since: string;
  readonly facts: readonly Fact[];
  readonly months: readonly string[];
  /** What happens between the first load and the last. */
  before?(world: World): Promise<void>;
}

export interface World {
  readonly dir: string;
  readonly platform: ScriptedPlatform;
  run(now: number, ...args: string[]): Promise<string>;
}

function fact(name: string, workspace: string, hour: number, cost: number): Fact {
  return {
    ...{ workspace, type: 'sandbox', name, uuid: `id-${name}`, dimension: 'sandbox_cpu_usage_seconds' },
    ...{ hour: instantText(hour).slice(0, 13), cost, usage: Math.round(cost * 1e6) / 1e3 },
  };
}

/** Costs of names by hour, with a rhythm of the day and some that nothing explains. */
function costs(names: readonly string[], from: string, of: (name: number, hour: number) => number): Fact[] {
  const facts: Fact[] = [];
  for (let at = Date.parse(from); at < loaded; at += hourMs) {
    for (const [index, name] of names.entries()) {
      const day = 1 + 0.4 * Math.sin((at / hourMs) * 0.2618) + 0.1 * Math.sin(at / hourMs + index * 7);
      const cost = Math.round(of(index, at) * day * 1e6) / 1e6;
      if (cost > 0) facts.push(fact(name, ['north', 'south', 'east'][index % 3] ?? 'north', at, cost));
    }
  }
  return facts;
}

const many = Array.from({ length: 6 }, (_, index) => `box-${index}`);
const few = ['box-0', 'box-1', 'box-2'];
const runawayFrom = Date.parse('2026-10-07T05:00:00Z');

export const shapes: Readonly<Record<string, Shape>> = {
  'many owners': {
    ...{ since: '2026-09-12', months: [] },
    facts: costs(many, '2026-09-12T00:00:00Z', (name) => 0.013 * (name + 1)),
  },
  'restated closed months': {
    ...{ since: '2026-09-01', months: ['2026-09'] },
    facts: costs(few, '2026-09-01T00:00:00Z', (name) => 0.37 * (name + 1)),
    async before({ dir, platform, run }) {
      const facts = [...platform.facts];
      const first = Date.parse('2026-10-05T06:30:00Z');
      platform.facts = facts.filter(({ hour }) => Date.parse(`${hour}:00:00Z`) < first);
      expect(
        await ingest(dir, platform, { now: instantText(first), env: { COSTBOOK_SINCE: '2026-09-01' } }),
      ).toMatchObject({ exitCode: 0 });
      await run(first, 'allocation', 'apply');
      await run(first, 'close', '2026-09', '--invoice', '700.00');
      platform.facts = facts.map((each) =>
        each.hour.startsWith('2026-09-20') && each.name === 'box-1' ? { ...each, cost: each.cost * 2 } : each,
      );
    },
  },
  'two days': {
    ...{ since: '2026-10-08', months: [] },
    facts: costs(few, '2026-10-08T00:00:00Z', (name) => 0.6 * (name + 1)),
  },
  runaway: {
    ...{ since: '2026-09-24', months: [] },
    facts: [
      ...costs(few, '2026-09-24T00:00:00Z', (name, hour) => (name === 2 && hour >= runawayFrom ? 4 : 0.2 * (name + 1))),
      // Nobody uses it.
      ...costs(['parked'], '2026-09-24T00:00:00Z', () => 0.03).map((each) => ({
        ...{ ...each, dimension: 'sandbox_storage_gbs', cost: 0.03 },
      })),
    ],
  },
};

const budgets = [
  { name: 'everything', scope: {}, period: 'monthly', amount: 400 },
  { name: 'south', scope: { workspace: 'south' }, period: 'weekly', amount: 60 },
  { name: 'days', scope: {}, period: 'daily', amount: 30 },
  { name: 'blue', scope: { owner: { team: 'blue' } }, period: 'monthly', amount: 90 },
] as const;

const allocation = `dimensions: [team]
rules:
  - { name: one, when: { workspace: north }, owner: { team: red } }
  - { name: two, when: { workspace: south }, owner: { team: blue } }
  - { name: three, when: { workspace: east }, split: { by: cost, over: [team] } }
`;

/** The books of a shape, and what its last "alert" sent. */
export interface Given extends World {
  readonly shape: Shape;
  /** The catalogue's answers so far: nothing changes these books any more. */
  readonly known: Map<string, string>;
  readonly hook: SinkServer;
  readonly slack: SlackServer;
  readonly smtp: SmtpServer;
}

/** Books of a shape: loaded, closed and alerted about, after a dry run unless told otherwise. */
export async function booksOf(name: string, isShownFirst = true): Promise<Given> {
  const shape = shapes[name];
  if (shape === undefined) throw new Error(name);
  const dir = await newProject();
  const [platform, hook, slack, smtp] = await Promise.all([
    startScriptedPlatform(shape.facts),
    startSink(),
    startSlack(),
    startSmtp(),
  ]);
  await mkdir(join(dir, 'jobs'));
  const lines = budgets.map(({ name, scope, period, amount: limit }) =>
    JSON.stringify({
      name,
      scope,
      period,
      amount: `${limit} USD`,
      thresholds: ['80%', { at: '100%', of: 'forecast' }],
    }),
  );
  await writeFile(join(dir, 'jobs', 'budgets.yaml'), `budgets:\n${lines.map((line) => `  - ${line}\n`).join('')}`);
  await writeFile(join(dir, 'jobs', 'allocation.yaml'), allocation);
  await writeFile(
    join(dir, 'costbook.yaml'),
    `sinks:
  hook: { type: webhook, url: "${hook.url}/", secret: sixteen-letters-or-more, allowPrivateNetwork: true }
  chat: { type: slack, botToken: "\${BOT}", channel: C01, apiUrl: "${slack.apiUrl}", allowPrivateNetwork: true }
  mail: { type: email, host: 127.0.0.1, port: ${smtp.port}, tls: none, from: a@example.com, to: b@example.com, allowPrivateNetwork: true }
`,
  );
  const env = { BOT: 'xoxb-0123456789', COSTBOOK_SINCE: shape.since, COSTBOOK_ACCOUNT: 'acc_one' };
  const given: Given = {
    ...{ dir, platform, shape, hook, slack, smtp, known: new Map() },
    async run(now, ...args) {
      const ended = await runCli([...args, '--dir', dir, '--now', instantText(now)], env);
      if (ended.exitCode !== 0) throw new Error(`${args.join(' ')} ended with ${ended.exitCode}: ${ended.stderr}`);
      return ended.stdout;
    },
  };
  await shape.before?.(given);
  const last = await ingest(dir, platform, { now: instantText(loaded), env });
  expect(last, last.stderr).toMatchObject({ exitCode: 0 });
  if (shape.before === undefined) {
    await given.run(loaded, 'allocation', 'apply');
  }
  if (isShownFirst) await alertAsShown(given);
  else await given.run(loaded, 'alert');
  return given;
}

/** Alerts, after a dry run that has to print to the letter what is sent; only the time of the run may be another. */
async function alertAsShown(given: Given): Promise<void> {
  const dry = JSON.parse(await given.run(loaded, 'alert', '--dry-run', '--json')) as { sink: string; slack: unknown }[];
  await given.run(loaded, 'alert');
  const sent = given.slack.calls.flatMap(({ method, content }) => (method === 'chat.postMessage' ? [content] : []));
  const shown = dry.flatMap(({ sink, slack }) => (sink === 'chat' ? [slack] : []));
  expect(sent).toMatchObject(shown);
}

/**
 * The catalogue's answers for these books, by figure and subject: those of the periods of an instant, and those of the subjects of
 * `shown` that no list has.
 */
export async function catalogueOf(
  { dir, known }: Given,
  now: number,
  shown: readonly Reading[],
): Promise<ReadonlyMap<string, string>> {
  const files = await readSqlFolder('figures');
  const named = files.filter(({ text }) => text.includes('$subject')).map(({ name }) => name);
  const asked = shown.filter(({ figure, subject }) => named.includes(figure) && !known.has(`${figure} ${subject}`));
  const periods = budgets.map((budget) => ({
    ...budget,
    ...calendarOf(budget.period).periodAt(now),
    budget: budget.name,
  }));
  const unknown = periods.filter(({ budget, name }) => !known.has(`budget_amount ${budget}/${name}`));
  if (unknown.length === 0 && asked.length === 0) return known;
  const books = await openBooks(dir, { lockedDown: true });
  async function ask(name: string, values: Record<string, string | null> | undefined, subject?: string) {
    const rows = await books.connection.rows(await readSql('figures', name), values);
    for (const row of rows) known.set(`${name} ${subject ?? row['subject']}`, String(row['value']));
    return rows.map((row) => String(row['value']))[0];
  }
  try {
    const lists = known.size > 0 ? [] : files.filter(({ text }) => !/\$(from|subject)\b/.test(text));
    for (const { name } of lists) await ask(name, undefined);
    for (const { figure, subject } of asked) await ask(figure, { subject });
    for (const { budget, scope, start, end, name, amount: limit } of unknown) {
      const owner = 'owner' in scope ? JSON.stringify(scope.owner) : null;
      const workspace = 'workspace' in scope ? scope.workspace : null;
      const subject = `${budget}/${name}`;
      const through = Date.parse(known.get('complete_through acc_one') ?? '');
      const window = { from: instantText(start), owner, workspace };
      const complete = await ask('budget_spent', { ...window, to: instantText(Math.min(end, through)) }, subject);
      const spent = await ask('budget_spent', { ...window, to: instantText(end) }, subject);
      const whole = (text: string | undefined) => wholeOfDecimal(text ?? '0', usdDecimals);
      const period = {
        limit: BigInt(limit) * 10n ** 12n,
        spent: whole(spent),
        complete: whole(complete),
        through,
        start,
        end,
      };
      const ends = known.get(`budget_end ${subject}`);
      const follows = followingFigures(period, ends === undefined ? undefined : whole(ends));
      for (const [figure, value] of spent === undefined ? [] : Object.entries(follows))
        known.set(`${figure} ${subject}`, decimalOfWhole(value, usdDecimals));
    }
  } finally {
    books.close();
  }
  return known;
}

/** What follows from the amount of a budget's period, its spend and its end. */
function followingFigures(
  period: Readonly<Record<'limit' | 'spent' | 'complete', bigint> & Record<'through' | 'start' | 'end', number>>,
  end: bigint | undefined,
): Readonly<Record<string, bigint>> {
  const { limit, spent, complete, through } = period;
  const left = BigInt(period.end - Math.max(period.start, through));
  // To the nearest trillionth; 864e5 milliseconds are a day.
  const daily = (amount: bigint) => (amount * 2n * 86_400_000n + left) / (left * 2n);
  const [within, toSave] = left <= 0n || spent > limit ? [0n, 0n] : [daily(limit - spent), daily((end ?? 0n) - limit)];
  return {
    ...{ budget_amount: limit, budget_left: limit - spent, budget_over: spent - limit, budget_young: spent - complete },
    ...(end === undefined ? {} : { budget_end_over: end - limit }),
    ...{ budget_within_daily: within, budget_save_daily: toSave },
    budget_daily: within + (end !== undefined && end > limit ? toSave : 0n),
  };
}

type Row = Readonly<Record<string, unknown>>;

function sumOf(rows: readonly Row[], column: string): string {
  const whole = rows.reduce((sum, row) => sum + wholeOfDecimal(String(row[column] ?? '0'), usdDecimals), 0n);
  return decimalOfWhole(whole, usdDecimals);
}

/**
 * The figures in a page: those that it marks. Every amount outside of tables has to be one; those in tables are compared with the
 * files of the tables in e2e/shared-pages.
 */
function marked(page: string, surface: string): Reading[] {
  const outside = page.replaceAll(/<tbody>[\s\S]*?<\/table>|<script[\s\S]*?<\/script>/g, '');
  const amounts = [...outside.matchAll(/.{0,80}<data value="[^"]*" title[^>]*>/g)].map(([found]) => found);
  expect
    .soft(
      amounts.filter((found) => !found.includes('data-figure')),
      surface,
    )
    .toEqual([]);
  const found = page.matchAll(/<data value="([^"]*)"[^>]*? data-figure="([^"]*)" data-of="([^"]*)">/g);
  return [...found].map(([, value = '', figure = '', subject = '']) => ({
    ...{ figure, subject: subject.replaceAll('&quot;', '"').replaceAll('&amp;', '&'), surface, value },
  }));
}

/** A place where figures are shown, asked at an instant; `get` and `tool` ask the dashboard and its agents' door. */
type Surface = (asked: {
  readonly run: (...args: string[]) => Promise<string>;
  readonly get: (path: string) => Promise<string>;
  readonly tool: (name: string) => Promise<Row>;
  readonly now: number;
}) => Promise<Reading[]>;

function page(...paths: readonly string[]): Surface {
  return async ({ get }) => {
    const shown: Reading[] = [];
    for (const path of paths) shown.push(...marked(await get(path), path));
    return shown;
  };
}

export const surfaces: Readonly<Record<string, Surface>> = {
  'budgets --json': async ({ run }) => {
    const answer = JSON.parse(await run('budgets', '--json')) as { completeThrough: string; budgets: Row[] };
    const through = { figure: 'complete_through', subject: 'acc_one', value: answer.completeThrough };
    return [{ ...through, surface: 'budgets --json' }, ...ofBudgets(answer.budgets, 'budgets --json')];
  },
  budgets: async ({ run, now }) => {
    const lines = (await run('budgets')).split('\n');
    return budgets.flatMap(({ name, period }): Reading[] => {
      const text = lines.find((line) => line.startsWith(`${name} `)) ?? '';
      const subject = `${name}/${calendarOf(period).periodAt(now).name}`;
      // Columns of tables have no thousands.
      const format = (value: string) => ` ${usd(value).replace(' USD', '').replaceAll(',', '')} `;
      const end = text.includes(' none ') ? [] : [{ figure: 'budget_end', subject, surface: 'budgets', text, format }];
      return text.includes('not known')
        ? []
        : [{ figure: 'budget_spent', subject, surface: 'budgets', text, format }, ...end];
    });
  },
  status: async ({ run }) => {
    const status = JSON.parse(await run('status', '--json')) as { accounts: Row[]; alerts: { open: number } };
    return [
      { figure: 'open_alerts', subject: 'books', surface: 'status', value: String(status.alerts.open) },
      ...status.accounts.map(({ account, completeThrough }) => ({
        ...{ figure: 'complete_through', subject: String(account), surface: 'status', value: String(completeThrough) },
      })),
    ];
  },
  overview: page('/'),
  budgetsPage: page('/budgets'),
  monthsPage: page('/months'),
  monthPage: page('/months/2026-10'),
  closedMonthPage: page('/months/2026-09'),
  allocationPage: page('/allocation'),
  closedAllocationPage: page('/allocation?month=2026-09'),
  reportPage: page('/reports', '/reports/cost_by_workspace?month=2026-10'),
  pagesOfOne: page(...budgets.map(({ name }) => `/budgets/${name}`), '/resource/sandbox/north/box-0?since=2026-10-02'),
  pagesWithoutFigures: page('/explore', '/explore?measure=usage', '/sql', '/health', '/resource?q=box'),
  changes: page('/changes?since=2026-10-06', '/changes?since=2026-10-01'),
  comparedPage: async ({ get, now }) => {
    const path = `/explore?against=${instantText(addCalendarMonths(floorMonth(now), -1)).slice(0, 10)}`;
    return marked(await get(path), path);
  },
  anomaliesPage: async (asked) => {
    const list = await asked.get('/anomalies');
    const each = [...list.matchAll(/href="(\/anomalies\/[^"]+)"/g)].map(([, path = '']) =>
      path.replaceAll('&amp;', '&'),
    );
    return [...marked(list, '/anomalies'), ...(await page(...new Set(each))(asked))];
  },
  savings: async (asked) => {
    const [shown, file] = await Promise.all([page('/savings')(asked), asked.get('/savings.csv')]);
    const costs = [...file.matchAll(/,(\d+\.\d{12}),/g)].map(([, cost = '']) => ({ cost }));
    const total = { figure: 'savings', subject: 'books', surface: '/savings.csv', value: sumOf(costs, 'cost') };
    const { rows } = JSON.parse(await asked.run('report', 'idle', '--json')) as { rows: Row[] };
    const idle = rows.map(({ workspace, resource_type, resource_name, cost_per_month }) => ({
      ...{ figure: 'idle_cost', subject: [workspace, resource_type, resource_name].join('/'), surface: 'report idle' },
      value: String(cost_per_month),
    }));
    // The tile is on a page of other surfaces.
    return [...(await page('/')(asked)), ...shown, total, ...idle];
  },
  'mcp budgets': async ({ tool }) => ofBudgets((await tool('budgets'))['budgets'] as Row[], 'mcp budgets'),
  'mcp anomalies': async ({ tool }) =>
    ((await tool('anomalies'))['rows'] as Row[]).map(({ anomaly_key, impact }) => ({
      ...{ figure: 'anomaly_impact', subject: String(anomaly_key), surface: 'mcp anomalies', value: String(impact) },
    })),
};

function ofBudgets(rows: readonly Row[], surface: string): Reading[] {
  return rows.flatMap(({ name, period, spent, forecast }) => {
    const subject = `${name}/${period}`;
    const end =
      forecast === null ? [] : [{ figure: 'budget_end', subject, surface, value: String((forecast as Row)['value']) }];
    return [{ figure: 'budget_spent', subject, surface, value: String(spent) }, ...end];
  });
}

/** What these surfaces show at an instant. */
export async function shownAt({ dir, run, shape }: Given, now: number, names: readonly string[]): Promise<Reading[]> {
  let started: ReturnType<typeof serve> | undefined;
  function running(): ReturnType<typeof serve> {
    started ??= serve(dir, ['--now', instantText(now)]); // not every surface needs it
    return started;
  }
  async function get(path: string): Promise<string> {
    const { status, text } = await (await running()).get(path);
    expect({ path, status }).toEqual({ path, status: 200 });
    return text;
  }
  async function tool(name: string): Promise<Row> {
    const response = await fetch(`${(await running()).url}/mcp`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: {} } }),
    });
    const text = await response.text();
    const line = text.startsWith('{') ? text : (/^data: (.*)$/m.exec(text)?.[1] ?? text);
    return (JSON.parse(line) as { result: { structuredContent: { data: Row } } }).result.structuredContent.data;
  }
  try {
    const shown: Reading[] = [];
    for (const name of names) {
      if (name.startsWith('closed') && !shape.months.includes('2026-09')) continue;
      shown.push(...((await surfaces[name]?.({ run: (...args) => run(now, ...args), get, tool, now })) ?? []));
    }
    return shown;
  } finally {
    await (await started)?.stop();
  }
}

/** What the reports, exports and statements of a shape's months show. */
export async function shownByReports({ run, shape }: Given): Promise<Reading[]> {
  const shown: Reading[] = [];
  const isClosed = (month: string) => shape.months.includes(month);
  async function rowsOf(report: string, ...args: string[]): Promise<Row[]> {
    return (JSON.parse(await run(loaded, 'report', report, '--json', ...args)) as { rows: Row[] }).rows;
  }
  function add(figure: string, subject: string, surface: string, value: string): void {
    shown.push({ figure, subject, surface, value });
  }
  for (const row of await rowsOf('summary')) {
    const month = String(row['month']).slice(0, 7);
    add(isClosed(month) ? 'month_closed_cost' : 'month_cost', month, 'summary', String(row['cost']));
    if (isClosed(month)) add('month_billed', month, 'summary', String(row['billed_cost']));
  }
  for (const month of ['2026-10', ...shape.months]) {
    const hours = isClosed(month) ? 'month_closed_cost' : 'month_cost';
    add(hours, month, 'cost_by_workspace', sumOf(await rowsOf('cost_by_workspace', '--month', month), 'cost'));
    const resources = await rowsOf('cost_by_resource', '--month', month);
    add(hours, month, 'cost_by_resource', sumOf(resources, 'cost'));
    for (const { workspace, resource_type, resource_name, cost } of isClosed(month) ? [] : resources) {
      add(
        'resource_cost',
        [month, workspace, resource_type, resource_name].join('/'),
        'cost_by_resource',
        String(cost),
      );
    }
    const owners = await rowsOf('chargeback_summary', '--month', month);
    add(hours, month, 'chargeback_summary', sumOf(owners, 'cost'));
    if (!isClosed(month)) {
      for (const { owner, cost } of owners.filter((row) => row['owner'] !== null)) {
        add('owner_cost', `${month}/team/${owner}`, 'chargeback_summary', String(cost));
      }
      continue;
    }
    add('month_billed', month, 'chargeback_summary', sumOf(owners, 'billed_cost'));
    add('month_billed', month, 'invoice_lines', sumOf(await rowsOf('invoice_lines', '--month', month), 'cost'));
    add('month_billed', month, 'focus', sumOf(await rowsOf('focus', '--month', month), 'BilledCost'));
    const { statements } = JSON.parse(await run(loaded, 'statement', '--month', month, '--json')) as {
      statements: { cost: string; billedCost: string; files: { format: string; path: string }[] }[];
    };
    for (const { cost, billedCost, files } of statements) {
      add('month_closed_cost', month, 'statement --json', cost);
      add('month_billed', month, 'statement --json', billedCost);
      for (const { format, path } of files) {
        const text = format === 'xlsx' ? await textOfWorkbook(path) : await readFile(path, 'utf8');
        if (format === 'html') shown.push(...marked(text, 'statement.html'));
        const written = format === 'xlsx' ? (value: string) => ` ${String(Number(value))} ` : amount;
        shown.push({ figure: 'month_billed', subject: month, surface: `statement.${format}`, text, format: written });
      }
    }
  }
  return shown;
}

/** The numbers and texts of a workbook's cells. */
async function textOfWorkbook(path: string): Promise<string> {
  const { sheets } = await readXlsx(await readFile(path));
  return ` ${sheets.flatMap(({ rows }) => rows.flat().map(String)).join(' ')} `;
}

/** What the messages of the last "alert" show, in each medium. */
export function shownInMessages({ hook, slack, smtp }: Given): Reading[] {
  const shown: Reading[] = [];
  const mail = smtp.mails.map(({ data }) => textOfMail(data)).join('\n');
  const chat = slack.calls.map(({ content }) => JSON.stringify(content)).join('\n');
  for (const { key, fact } of hook.told.flatMap(({ body }) => body.alerts)) {
    function add(figure: string, subject: string, value: unknown, format: (value: string) => string): void {
      shown.push({ figure, subject, surface: 'webhook', value: String(value) });
      shown.push({ figure, subject, surface: 'mail', text: partAbout(key, mail), format });
      shown.push({ figure, subject, surface: 'slack', text: chat, format });
    }
    if (fact['kind'] === 'budget') {
      const subject = `${fact['budget']}/${fact['period']}`;
      add('budget_spent', subject, fact['value'], (value) => usd(value).replace(' USD', ''));
      const { expected = null } = (fact['end'] ?? {}) as Row;
      if (expected !== null) add('budget_end', subject, expected, roughlyOrExactly);
    }
    if (fact['kind'] === 'anomaly') add('anomaly_impact', key, fact['impact'], (value) => usd(value));
  }
  return shown;
}

/** A sentence says the whole dollars of an end, a field its cents. */
function roughlyOrExactly(value: string): string {
  return roughly(value).replace(' USD', '');
}

/** The part of a mail that ends with an alert's key; alerts of one budget and period share theirs. */
function partAbout(key: string, mail: string): string {
  return mail.split('\n\n').find((part) => part.split(/\n| · /).includes(`key ${key}`)) ?? '';
}

/** The plain text of a mail. */
function textOfMail(data: string): string {
  const [, text = ''] = /text\/plain[\s\S]*?base64\s+([A-Za-z0-9+/=\s]+?)\s*\n--/.exec(data) ?? [];
  return Buffer.from(text, 'base64').toString();
}

/** What differs: a surface from the catalogue, or from another surface where the catalogue has nothing. */
export function differences(shown: readonly Reading[], known: ReadonlyMap<string, string>): string[] {
  const first = new Map(known);
  return shown.flatMap(({ figure, subject, surface, value, text, format }) => {
    const name = `${figure} ${subject}`;
    const expected = first.get(name);
    if (expected === undefined) {
      if (value !== undefined) first.set(name, value);
      return [];
    }
    if (value !== undefined) return value === expected ? [] : [`${surface}: ${name} is ${value}, expected ${expected}`];
    const words = format?.(expected) ?? expected;
    return text?.includes(words) ? [] : [`${surface}: ${name} is not "${words}" in ${text?.slice(0, 600)}`];
  });
}
