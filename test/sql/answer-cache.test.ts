// Second tier: Changes the books once for each cause that makes a kept answer old.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { cachingForecaster } from '../../src/budgets/forecasts/cached-forecasts.ts';
import type { ScopeForecast } from '../../src/budgets/forecasts/forecast-rows.ts';
import { readForecasts } from '../../src/budgets/forecasts/scope-forecasts.ts';
import type { Budget } from '../../src/budgets/rules/budget.ts';
import { parseBudgets } from '../../src/budgets/rules/file.ts';
import { readSpends, type SpendNow } from '../../src/budgets/spend/spend.ts';
import { calendarOf } from '../../src/time/time.ts';
import { ledgerTables } from '../../src/warehouse/sql/ledger-tables.ts';
import { parsedOf, walk } from '../../src/warehouse/sql/parse-tree.ts';
import { readSql, readSqlFolder, type SqlFolder } from '../../src/warehouse/sql/sql-files.ts';
import {
  type AnswerCache,
  answerCache,
  ownAnswers,
  partsOfNames,
  storeAnswers,
} from '../../src/warehouse/store/answer-cache.ts';
import type { Connection } from '../../src/warehouse/store/connection.ts';
import { type Given, givenBooks } from '../support/given-books.ts';

const now = Date.parse('2026-09-20T12:00:00Z');
const dayMs = 86_400_000;
const run = { runNumber: 7, at: Date.parse('2026-09-20T03:00:00Z') };

/** Books of four weeks, with a cost of one or two dollars at noon of each day, more at weekends. */
function given(): Given {
  const costs: Record<string, string>[] = [];
  for (let at = Date.parse('2026-08-24T12:00:00Z'); at < Date.parse('2026-09-20'); at += dayMs) {
    const bucket_start = new Date(at).toISOString().slice(0, 19).replace('T', ' ');
    const weekday = new Date(at).getUTCDay();
    costs.push({ bucket_start, cost: weekday % 6 === 0 ? '2.25' : '1.5', usage: '1' });
    costs.push({ bucket_start, cost: '1', usage: '1', workspace: 'south', resource_uuid: 'sbx-2' });
  }
  const window = { window_start: '2026-08-24', window_end: '2026-09-20', claimed_end: '2026-09-20' };
  return {
    accounts: [{ history_start: '2026-08-24' }],
    loads: [{ ...window, seen_at: '2026-09-20 01:00:00' }],
    covered: [window],
    resources: [{ labels: '{"env": "prod"}', valid_from: '2026-08-24' }],
    allocation: 'rules:\n  - { name: north, when: { workspace: north }, owner: { team: Sales } }\n',
    costs,
  };
}

const file = `budgets:
  - { name: everything, period: monthly, amount: 80 USD }
  - { name: sales, period: monthly, amount: 80 USD, scope: { owner: { team: Sales } } }
  - { name: prod, period: monthly, amount: 80 USD, scope: { label: { env: prod } } }
`;

function budgets(text = file): readonly Budget[] {
  return parseBudgets({ text, file: 'jobs/budgets.yaml', now });
}

interface Answers {
  readonly spends: readonly SpendNow[];
  readonly forecasts: readonly ScopeForecast[];
}

/** What `budgets` and `forecast` need of the books. */
async function answers(connection: Connection, cache?: AnswerCache, given = budgets()): Promise<Answers> {
  const asked = { now, configured: [], freshnessHours: 48, cache };
  const period = calendarOf('monthly', 'UTC').periodAt(now);
  return {
    spends: await readSpends(
      connection,
      given.map((budget) => ({ budget, period })),
      asked,
    ),
    forecasts: await readForecasts(connection, { ...asked, budgets: given, withWorkspaces: true }),
  };
}

/** Whether each forecast was stored by a run or computed now. */
function origins({ forecasts }: Answers): string[] {
  return forecasts.map(({ origin }) => (typeof origin === 'object' ? `run ${origin.runNumber}` : String(origin)));
}

function withoutOrigins({ spends, forecasts }: Answers) {
  return { spends, forecasts: forecasts.map(({ origin: _, ...forecast }) => forecast) };
}

/** Stores what a run computed. */
async function store(connection: Connection, cache: AnswerCache): Promise<void> {
  const computed = await cache.toStore();
  if (computed !== undefined) await storeAnswers(connection, computed, run);
}

/** Books with the answers of a run. */
async function cachedBooks(): Promise<{ connection: Connection; close: () => void; first: Answers }> {
  const books = await givenBooks(given());
  const cache = answerCache(books.connection);
  const first = await answers(books.connection, cache);
  await store(books.connection, cache);
  return { ...books, first };
}

const scopes = 5; // three budgets, two workspaces

describe('stored answers', () => {
  test('are the computed ones to the last digit, and say which run made them', async () => {
    const { connection, close, first } = await cachedBooks();
    const plain = await answers(connection);
    const stored = await answers(connection, answerCache(connection));
    expect(origins(first)).toEqual(Array(scopes).fill('now'));
    expect(origins(stored)).toEqual(Array(scopes).fill('run 7'));
    expect(withoutOrigins(first)).toEqual(withoutOrigins(plain));
    expect(withoutOrigins(stored)).toEqual(withoutOrigins(plain));
    expect(stored.forecasts.every(({ forecast }) => forecast.kind === 'forecast')).toBe(true);
    close();
  });

  test('are not computed again: neither costs nor steps nor forecasts are read', async () => {
    const { connection, close, first } = await cachedBooks();
    // The state of the books stays, as their loads do: only what is read anew would see this.
    await connection.run('update ledger.hourly_costs set cost = 3 * cost');
    const stored = await answers(connection, answerCache(connection));
    expect(withoutOrigins(stored)).toEqual(withoutOrigins(first));
    expect((await answers(connection)).spends[0]?.spent).toBe(3n * (first.spends[0]?.spent ?? 0n));
    close();
  });

  test('are stored once: a run that computes nothing has nothing to store', async () => {
    const { connection, close } = await cachedBooks();
    const cache = answerCache(connection);
    await answers(connection, cache);
    expect(await cache.toStore()).toBeUndefined();
    close();
  });

  test('of other books are forgotten, but not a forecast that the next books have too', async () => {
    const { connection, close } = await cachedBooks();
    await connection.run(`update ledger.covered set claimed_end = claimed_end + interval 1 hour`);
    const cache = answerCache(connection);
    expect(origins(await answers(connection, cache)), 'no day has changed').toEqual(Array(scopes).fill('run 7'));
    await store(connection, cache);
    const rows = await connection.rows(
      `select kind, count(*)::int as answers, count(distinct state)::int as states
      from ledger.cached_answers where kind in ('forecast', 'steps', 'places') group by kind order by kind`,
    );
    expect(rows).toEqual([
      // Of everything, of north, whose owner and label have the same costs, and of south.
      { kind: 'forecast', answers: 3, states: 1 },
      { kind: 'places', answers: 1, states: 1 },
      // Of three budgets in fourteen months.
      { kind: 'steps', answers: 42, states: 1 },
    ]);
    expect(origins(await answers(connection, answerCache(connection)))).toEqual(Array(scopes).fill('run 7'));
    close();
  });

  test('are not used where only this command may know them', async () => {
    const { connection, close } = await cachedBooks();
    const own = ownAnswers();
    expect(origins(await answers(connection, own))).toEqual(Array(scopes).fill('now'));
    close();
  });
});

describe('a stored forecast is not used', () => {
  /** The origins after a change of the books, whose answers must be those of no stored ones. */
  async function originsAfter(change: string): Promise<string[]> {
    const { connection, close, first } = await cachedBooks();
    await connection.run(change);
    const stored = await answers(connection, answerCache(connection));
    const plain = await answers(connection);
    expect(withoutOrigins(stored)).toEqual(withoutOrigins(plain));
    expect(plain).not.toEqual(withoutOrigins(first));
    close();
    return origins(stored);
  }
  const load = `insert into ledger.loads by name
    select 2 as load_number, * exclude (load_number) from ledger.loads where load_number = 1;`;

  test('after a load has changed an hour, for the scopes that the hour is in', async () => {
    const hour = `update ledger.hourly_costs set cost = cost + 5, load_number = 2
      where bucket_start = timestamp '2026-09-10 12:00:00'
        and series_id in (select series_id from ledger.series where workspace = 'north')`;
    expect(await originsAfter(load + hour)).toEqual(['now', 'now', 'now', 'now', 'run 7']);
  });

  test('after an hour was removed', async () => {
    const hours = `delete from ledger.hourly_costs where bucket_start = timestamp '2026-09-19 12:00:00'`;
    expect(await originsAfter(load + hours)).toEqual(Array(scopes).fill('now'));
  });

  test('after other owners or labels apply', async () => {
    const { connection, close } = await cachedBooks();
    await connection.run(`update ledger.resources set labels = '{"env": "test"}'`);
    await connection.run(`delete from ledger.allocations`);
    const stored = await answers(connection, answerCache(connection));
    expect(stored.spends.map(({ spent }) => spent === undefined)).toEqual([false, true, false]);
    expect(stored.spends[2]?.spent).toBe(0n);
    expect(withoutOrigins(stored)).toEqual(withoutOrigins(await answers(connection)));
    close();
  });

  test('after an anomaly was found, or somebody called it expected', async () => {
    const anomaly = {
      last_day: '2026-09-12',
      first_day: '2026-09-12',
      seen_day: '2026-09-12',
      notified_day: '2026-09-12',
      state: 'over',
      detail: '{"impacts": [1.5], "drivers": []}',
    };
    const { connection, close } = await givenBooks({ ...given(), anomalies: [anomaly] });
    const cache = answerCache(connection);
    const first = await answers(connection, cache);
    await store(connection, cache);
    await connection.run(
      `insert into ledger.alert_feedback
      select anomaly_key, anomaly_key, account, workspace, resource_type, billing_dimension, is_up, 'expected',
        first_day, last_day, 30, timestamp '2026-09-13', 3, timestamp '2026-09-13'
      from ledger.anomalies`,
    );
    const stored = await answers(connection, answerCache(connection));
    const plain = await answers(connection);
    // North is again as its owner, whose forecast leaves no anomaly out.
    expect(origins(stored)).toEqual(['now', 'run 7', 'run 7', 'run 7', 'run 7']);
    expect(withoutOrigins(stored)).toEqual(withoutOrigins(plain));
    expect(stored.forecasts[0]?.forecast).not.toEqual(first.forecasts[0]?.forecast);
    close();
  });

  test('for a budget of other costs, another period or another zone; another amount needs no other forecast', async () => {
    const { connection, close } = await cachedBooks();
    const others = budgets(`budgets:
  - { name: everything, period: monthly, amount: 90 USD }
  - { name: sales, period: monthly, amount: 80 USD, scope: { workspace: north, resource_type: [sandbox, agent] } }
  - { name: prod, period: yearly, amount: 80 USD, scope: { label: { env: prod } } }
  - { name: zone, period: monthly, timeZone: Asia/Tokyo, amount: 80 USD }
  - { name: south, period: monthly, amount: 80 USD, scope: { workspace: south, resource_type: [sandbox, agent] } }
`);
    const stored = await answers(connection, answerCache(connection), others);
    // Where the costs of all days are the same, so is the question to the engine.
    expect(origins(stored).slice(0, 5)).toEqual(['run 7', 'run 7', 'now', 'now', 'run 7']);
    expect(withoutOrigins(stored)).toEqual(withoutOrigins(await answers(connection, undefined, others)));
    close();
  });

  test('by another version of the engine, nor for another horizon or other holidays', async () => {
    const cache = ownAnswers();
    let computed = 0;
    async function engine() {
      computed += 1;
      return { kind: 'none', reason: 'computed' } as const;
    }
    const history = { start: '2026-09-01T00:00:00Z', step: 'day', values: [1, 2, 3] } as const;
    const ask = (horizon: number, options: object, version = 'a', values: readonly number[] = history.values) =>
      cachingForecaster(cache, engine, () => undefined, version)({ ...history, values }, horizon, options);
    await ask(3, {});
    await ask(3, {});
    expect(computed, 'the same question').toBe(1);
    await ask(3, {}, 'b');
    await ask(4, {});
    await ask(3, { holidays: new Set([20_000]) });
    await ask(3, {}, 'a', [1, 2, 3.0000001]);
    expect(computed).toBe(5);
  });
});

/** Queries with cached answers whose names the source computes, besides those of checks. */
const computedNames = [
  ...['spends', 'spends_by_label', 'spends_by_owner', 'spends_of_owners', 'owners_known', 'labels_known'].map(
    (name) => ['budgets', name] as const,
  ),
  ...['steps', 'steps_by_label', 'steps_by_owner'].map((name) => ['forecasts', name] as const),
] as const;

/** Queries whose answers hold while names are the same, with those that hold while hours are the same besides. */
const queriesOfNames = [
  ...['owners_known', 'labels_known', 'dimensions_counted', 'spends', 'spends_by_label', 'spends_by_owner'].map(
    (name) => ['budgets', name] as const,
  ),
  ['budgets', 'spends_of_owners'],
  ...['steps', 'steps_by_label', 'steps_by_owner'].map((name) => ['forecasts', name] as const),
  ['alerts', 'owners_of_resources'],
  ['answer_cache', 'owners'],
] as const;

/** The queries that the source asks with `cachedRows` by their names. */
function namedQueries(): (readonly [SqlFolder, string])[] {
  const src = join(import.meta.dirname, '../../src');
  const files = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'));
  const asked = /cachedRows\(\s*connection,\s*\w+,\s*\['(\w+)', '(\w+)'\]/g;
  return files.flatMap((name) =>
    [...readFileSync(join(src, name), 'utf8').matchAll(asked)].map(
      ([, folder, query]) => [folder as SqlFolder, query as string] as const,
    ),
  );
}

describe('the state of the books', () => {
  /** The tables of the ledger that queries read, also through views. */
  async function tablesRead(queries: readonly string[]): Promise<string[]> {
    const { connection, close } = await givenBooks({});
    const views = new Map(
      (await connection.rows('select view_name, sql from duckdb_views() where not internal')).map((row) => [
        String(row['view_name']),
        String(row['sql']).replace(/^create view .*? as /is, ''),
      ]),
    );
    const parse = await readSql('engine', 'parse_tree');
    const seen = new Set<string>();
    const waiting = [...queries];
    for (let text = waiting.pop(); text !== undefined; text = waiting.pop()) {
      const [row] = await connection.rows(parse, { sql: text });
      const { node, error } = parsedOf(String(Object.values(row ?? {})[0]));
      expect(node, error).toBeDefined();
      walk(node, (each) => {
        const name = `${each['schema_name'] ? `${each['schema_name']}.` : ''}${each['table_name']}`;
        if (each.type !== 'BASE_TABLE' || seen.has(name)) return;
        seen.add(name);
        const view = views.get(String(each['table_name']));
        waiting.push(...(view === undefined ? [] : [view]));
      });
    }
    close();
    return ledgerTables.map(({ name }) => name).filter((name) => seen.has(`ledger.${name}`));
  }

  test('has every table that a cached answer is read from', async () => {
    const named = namedQueries();
    expect(named.map(([, name]) => name)).toContain('completeness');
    const texts = await Promise.all([...named, ...computedNames].map(([folder, name]) => readSql(folder, name)));
    texts.push(...(await readSqlFolder('checks')).map(({ text }) => text));
    const read = await tablesRead(texts);
    expect(read, 'a query reads them').toContain('hourly_costs');
    const state = await readSql('answer_cache', 'state');
    expect(read.filter((name) => !new RegExp(`from ledger\\.${name}\\b`).test(state))).toEqual([]);
  });

  test('says by its names, and by the hours of loads, all that an answer is read from that holds longer', async () => {
    const read = await tablesRead(await Promise.all(queriesOfNames.map(([folder, name]) => readSql(folder, name))));
    expect(read, 'a query reads them').toContain('allocations');
    expect(read.filter((name) => !partsOfNames.includes(name))).toEqual(['hourly_costs']);
  });

  const stateOf = async (connection: Connection) =>
    String((await connection.rows(await readSql('answer_cache', 'state')))[0]?.['state']);

  test.each([
    ['a load', `update ledger.loads set row_count = row_count + 1`],
    ['an hour', `delete from ledger.hourly_costs where bucket_start = timestamp '2026-08-24 12:00:00'`],
    ['coverage', `update ledger.covered set claimed_end = claimed_end + interval 1 hour`],
    ['a label', `update ledger.resources set labels = '{}'`],
    ['an allocation', `update ledger.allocations set replaced_at = timestamp '2026-09-01'`],
    ['a name', `update ledger.series set resource_name = 'other'`],
    ['an account', `update ledger.accounts set settle_days = 4`],
    ['a view', `update ledger.applied_files set hash = 'other' where folder = 'views'`],
    ['a unit', `delete from ledger.unit_suffixes`],
  ])('changes with %s', async (_, change) => {
    const { connection, close } = await givenBooks(given());
    const before = await stateOf(connection);
    await connection.run(change);
    expect(await stateOf(connection)).not.toBe(before);
    close();
  });

  test('does not change with what an evaluation of alerts writes', async () => {
    const { connection, close } = await givenBooks(given());
    const before = await stateOf(connection);
    const { connection: other, close: closeOther } = await givenBooks({
      ...given(),
      runs: [{}],
      alerts: [{}],
      outbox: [{}],
      deliveries: [{}],
      anomalies: [{}],
      anomaly_evaluations: [{}],
      forecasts: [{}],
    });
    expect(await stateOf(other)).toBe(before);
    close();
    closeOther();
  });
});
