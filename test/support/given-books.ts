import { constants, copyFile, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { inject } from 'vitest';
import { parseAllocation } from '../../src/allocation/parse.ts';
import { attach, useUtc, useWarehouse } from '../../src/warehouse/sql/statements.ts';
import type { Connection } from '../../src/warehouse/store/connection.ts';
import { openDatabase } from '../../src/warehouse/store/database.ts';
import { DuckDBInstance } from '../../src/warehouse/store/duckdb.ts';
import { asOurError } from '../../src/warehouse/store/duckdb-errors.ts';
import { Session } from '../../src/warehouse/store/session.ts';
import { newProject } from './project.ts';
import { seal } from './seal.ts';

type Cell = string | number | boolean | null;
type Row = Readonly<Record<string, Cell>>;

/** Tables whose rows are given as they are. */
const tables = [
  ...['accounts', 'loads', 'covered', 'reconciliation', 'unproven', 'closes', 'runs', 'job_runs', 'steps'],
  ...['resources', 'resource_use', 'resource_events', 'resource_runtimes', 'listings', 'job_executions'],
  ...['alerts', 'acknowledgements', 'alert_feedback', 'outbox', 'deliveries'],
  ...['anomalies', 'anomaly_evaluations', 'forecasts'],
] as const;

/** Rows of the ledger's tables as a test gives them; what is left out of a row is as in `usual`. */
export interface Given extends Readonly<Partial<Record<(typeof tables)[number], readonly Row[]>>> {
  /** Series and amounts together: a row of `costs`. */
  readonly costs?: readonly Row[];
  /** A restatement with the dimensions of its series. */
  readonly restatements?: readonly Row[];
  /** The active allocation rules, as in jobs/allocation.yaml; lookup tables are not read. */
  readonly allocation?: string;
  /** Earlier rules, and when the active ones replaced them. */
  readonly earlierAllocation?: { readonly rules: string; readonly until: string };
}

const dimensions = ['workspace', 'resource_type', 'resource_name', 'resource_uuid', 'billing_dimension'] as const;

const usual: Readonly<Record<string, Readonly<Record<string, Cell>>>> = {
  accounts: {
    account: 'acc_one',
    name: null,
    history_start: '2026-09-01',
    settle_days: 3,
    lag_hours: 2,
    role: 'admin',
    cost_decimals: 9,
    usage_decimals: 3,
    has_ended: false,
    recorded_at: '2026-09-01',
    replaced_at: null,
  },
  series: {
    account: 'acc_one',
    workspace: 'north',
    resource_type: 'sandbox',
    resource_name: 'box',
    resource_uuid: 'sbx-1',
    billing_dimension: 'sandbox_compute_runtime_gbs',
  },
  hourly_costs: { bucket_start: '2026-09-01 00:00:00', cost: '0', usage: '0', load_number: 1 },
  loads: {
    load_number: 1,
    run_number: 1,
    account: 'acc_one',
    window_start: '2026-09-01',
    window_end: '2026-09-08',
    reason: 'new',
    role: 'admin',
    outcome: 'loaded',
    requests: 2,
    pages: 2,
    queries: '[]',
    row_count: 0,
    restated: 0,
    cost: '0',
    claimed_end: '2026-09-08',
    seen_at: '2026-09-08 01:00:00',
    landing: null,
  },
  covered: {
    account: 'acc_one',
    window_start: '2026-09-01',
    window_end: '2026-09-08',
    claimed_end: '2026-09-08',
    role: 'admin',
    load_number: 1,
    since_load: 1,
    replaced_by: null,
  },
  restatements: {
    account: 'acc_one',
    bucket_start: '2026-09-01 00:00:00',
    old_cost: null,
    new_cost: null,
    old_usage: null,
    new_usage: null,
    old_load_number: 1,
    load_number: 2,
    seen_at: '2026-09-09 01:00:00',
  },
  reconciliation: {
    run_number: 1,
    load_number: 1,
    account: 'acc_one',
    window_start: '2026-09-01',
    window_end: '2026-09-08',
    attempt: 1,
    check_code: 'rows_match_control',
    measure: 'cost',
    billing_dimension: null,
    row_count: 1,
    ours: '1',
    theirs: '1',
    difference: '0',
    tolerance: 0.5,
    proven: true,
    proven_at: '2026-09-08 01:00:00',
  },
  unproven: {
    account: 'acc_one',
    window_start: '2026-09-01',
    window_end: '2026-09-08',
    reason: 'rows = the control',
    is_young: false,
    run_number: 1,
    seen_at: '2026-09-08 01:00:00',
  },
  closes: {
    billing_month: '2026-09-01',
    account: 'acc_one',
    run_number: 2,
    load_number: 1,
    closed_at: '2026-10-05 02:00:00',
    row_count: 0,
    cost: '0',
    corrections: 0,
    correction_cost: '0',
    sha256: '',
    invoiced: null,
    reopened_at: null,
    reopen_reason: null,
    covered: null,
    currency: null,
    rate: null,
    rate_date: null,
    rate_source: null,
    has_no_invoice: null,
  },
  runs: {
    run_number: 1,
    command: 'ingest',
    started_at: '2026-09-08 01:00:00',
    ended_at: '2026-09-08 01:01:00',
    outcome: 'done',
    exit_code: 0,
    command_line: null,
  },
  job_runs: { run_number: 1, job: 'nightly', slot: '2026-09-08 02:15:00' },
  steps: {
    run_number: 1,
    position: 1,
    step: 'ingest',
    command_line: 'ingest',
    outcome: 'done',
    started_at: '2026-09-08 02:15:01',
    ended_at: '2026-09-08 02:15:09',
    seconds: '8.125',
    exit_code: 0,
    figures: '{"rows":5}',
  },
  resources: {
    account: 'acc_one',
    resource_type: 'sandbox',
    workspace: 'north',
    resource_name: 'box',
    resource_uuid: null,
    created_at: null,
    display_name: null,
    external_id: null,
    labels: null,
    region: null,
    memory_mb: null,
    generation: null,
    status: 'DEPLOYED',
    is_enabled: true,
    plan: null,
    created_by: null,
    integration_connections: null,
    volumes: null,
    provider: null,
    valid_from: '2026-09-01',
    valid_to: null,
    recorded_at: '2026-09-01',
    ended_at: null,
    run_number: 1,
  },
  resource_use: {
    account: 'acc_one',
    resource_type: 'sandbox',
    workspace: 'north',
    resource_name: 'box',
    resource_uuid: null,
    created_at: null,
    runtime_state: 'RUNNING',
    last_used_at: null,
    expires_at: null,
    time_to_live: null,
    expiration_policies: null,
    min_scale: null,
    recorded_at: '2026-09-01',
    run_number: 1,
  },
  resource_events: {
    account: 'acc_one',
    workspace: 'north',
    resource_type: 'sandbox',
    resource_name: 'box',
    event_time: '2026-09-06 12:00:00',
    event_type: 'deployment',
    status: 'DEPLOYED',
    message: null,
    revision: 'r1',
    canary_revision: null,
    run_number: 1,
    recorded_at: '2026-09-07 02:00:00',
  },
  job_executions: {
    ...{ account: 'acc_one', workspace: 'north', resource_name: 'box', day_start: '2026-10-02' },
    ...{ executions: 1, tasks: 1, task_usage: '1', run_number: 1, read_at: '2026-10-03' },
  },
  resource_runtimes: {
    account: 'acc_one',
    workspace: 'north',
    resource_type: 'sandbox',
    resource_name: 'box',
    created_at: null,
    image: null,
    revision: null,
    min_scale: null,
    max_scale: null,
    changed_by: '2026-09-01',
    run_number: 1,
    recorded_at: '2026-09-01',
  },
  listings: {
    run_number: 1,
    account: 'acc_one',
    token_workspace: null,
    resource_type: 'sandbox',
    outcome: 'read',
    reason: null,
    resources: 0,
    opened: 0,
    ended: 0,
    requests: 1,
    read_at: '2026-09-01',
  },
  alerts: {
    alert_key: 'stale/acc_one',
    occurrence: 1,
    kind: 'stale',
    account: 'acc_one',
    severity: 'critical',
    fact: '{}',
    sinks: '["finops"]',
    is_notified: true,
    run_number: 2,
    raised_at: '2026-09-10 02:00:00',
    ending: null,
    end_fact: null,
    ended_at: null,
  },
  acknowledgements: {
    alert_key: 'stale/acc_one',
    until_at: '2026-09-20',
    run_number: 3,
    acknowledged_at: '2026-09-11',
    ended_at: null,
  },
  alert_feedback: {
    alert_key: 'anomaly/acc_one/north/sandbox/sandbox_compute_runtime_gbs/2026-09-07',
    anomaly_key: 'anomaly/acc_one/north/sandbox/sandbox_compute_runtime_gbs/2026-09-07',
    account: 'acc_one',
    workspace: 'north',
    resource_type: 'sandbox',
    billing_dimension: 'sandbox_compute_runtime_gbs',
    is_up: true,
    feedback: 'expected',
    first_day: '2026-09-07',
    last_day: '2026-09-07',
    largest_cost: '30',
    applies_from: '2026-09-08',
    run_number: 3,
    given_at: '2026-09-08 09:00:00',
  },
  outbox: {
    message_number: 1,
    message_id: 'm1',
    sink: 'finops',
    kind: 'alerts',
    summary: null,
    message: '{"entries": [{"key": "stale/acc_one", "occurrence": 1}]}',
    run_number: 2,
    queued_at: '2026-09-10 02:00:00',
    outcome: null,
    ended_at: null,
  },
  deliveries: {
    message_number: 1,
    run_number: 2,
    began_at: '2026-09-10 02:00:01',
    tries: null,
    outcome: null,
    reason: null,
    ended_at: null,
  },
  anomalies: {
    anomaly_key: 'anomaly/acc_one/north/sandbox/sandbox_compute_runtime_gbs/2026-09-07',
    account: 'acc_one',
    workspace: 'north',
    resource_type: 'sandbox',
    billing_dimension: 'sandbox_compute_runtime_gbs',
    kind: 'spike',
    is_up: true,
    first_day: '2026-09-07',
    seen_day: '2026-09-07',
    last_day: '2026-09-07',
    notified_day: '2026-09-07',
    state: 'open',
    ended_day: null,
    cost: '30',
    expected: '10',
    expected_low: '8',
    expected_high: '12',
    impact: '20',
    price_ratio: null,
    severity: 'warning',
    is_notified: true,
    detail:
      '{"impacts": [20], "firstHour": "2026-09-07T05:00:00Z", "moved": "usage", "priceEffect": "1.5", "volumeEffect": "18.5", "drivers": [{"resourceName": "box", "resourceUuid": null, "cost": "30", "expected": "10", "part": 100}]}',
    run_number: 2,
    recorded_at: '2026-09-08 02:00:00',
    replaced_at: null,
  },
  anomaly_evaluations: {
    account: 'acc_one',
    evaluated_through: '2026-09-08',
    load_number: 1,
    run_number: 2,
    recorded_at: '2026-09-08 02:00:00',
  },
  forecasts: {
    run_number: 2,
    made_at: '2026-09-08 02:00:00',
    load_number: 1,
    scope_kind: 'budget',
    budget: 'everything',
    account: null,
    workspace: null,
    resource_type: null,
    scope: '{}',
    period_kind: 'monthly',
    period: '2026-09',
    period_start: '2026-09-01',
    period_end: '2026-10-01',
    complete_through: '2026-09-08',
    step: 'day',
    history_start: '2026-08-01',
    history_end: '2026-09-08',
    observations: 38,
    model: 'weekday-profile',
    transform: 'none',
    seasons: '[7]',
    spent: '0',
    forecast: '10',
    low: '8',
    high: '12',
    level: 80,
    folds: 4,
    mase: 0.9,
    smape: 12.5,
    coverage: 0.8,
    amount: '20',
    exceeds_on: null,
    reason: null,
  },
};

/** A project with books that hold nothing yet: to make them from nothing takes ten times as long. */
export async function projectWithBooks(): Promise<string> {
  const dir = await newProject();
  await mkdir(join(dir, 'data'));
  await copyFile(inject('emptyBooks'), join(dir, 'data', 'warehouse.duckdb'));
  return dir;
}

/** A warehouse that is open for one connection. */
interface OpenBooks {
  readonly connection: Connection;
  close(): void;
}

/** Instances of DuckDB to which no books are attached: a new one takes as long as a usual test. */
const idle: InstanceType<typeof DuckDBInstance>[] = [];

/** Opens a warehouse that nobody reads again, as `openDatabase` would, in an instance that others have used. */
async function openOnce(file: string): Promise<OpenBooks> {
  const instance = idle.pop() ?? (await DuckDBInstance.create(':memory:', { threads: '1', memory_limit: '256MB' }));
  const own = await instance.connect();
  // To write the file whole at its end would take a third of a test.
  await own.run(`${useUtc}; pragma disable_checkpoint_on_shutdown; ${attach(file, 'wh', 'write')}; ${useWarehouse}`);
  const connection = new Session(own, {
    ...{ signal: undefined, views: undefined, threads: { alone: 1, usual: 1 } },
    fail: asOurError(file, { readOnly: false }),
    onClose: () => undefined,
  });
  async function detach(): Promise<void> {
    const other = await instance.connect();
    await other.run('detach wh');
    other.closeSync();
    idle.push(instance);
  }
  return {
    connection,
    close() {
      connection.close();
      detach().catch(() => instance.closeSync()); // another connection still uses it
    },
  };
}

async function openNamed(file: string): Promise<OpenBooks> {
  const database = await openDatabase(file, { readOnly: false });
  return {
    connection: await database.connect(),
    close() {
      database.close();
      seal(file);
    },
  };
}

/**
 * A warehouse of this program's own schema with these rows in it; the caller closes it. Where a file is named it is
 * sealed then, so that it can be read as a snapshot.
 */
export async function givenBooks(given: Given, file?: string): Promise<OpenBooks> {
  const books = file ?? join(await newProject(), 'given.duckdb');
  await copyFile(inject('emptyBooks'), books, constants.COPYFILE_EXCL);
  const opened = await (file === undefined ? openOnce(books) : openNamed(books));
  const { connection } = opened;
  const ids = new Map<string, number>();
  const series: Row[] = [];

  /** The ID of a row's series, new for a new series; the row is returned without its dimensions. */
  function seriesOf(row: Row): Row {
    const rest: Record<string, Cell> = {};
    const named: Record<string, Cell> = { account: row['account'] ?? 'acc_one' };
    for (const [name, value] of Object.entries(row)) {
      if (dimensions.some((dimension) => dimension === name)) named[name] = value;
      else rest[name] = value;
    }
    const key = JSON.stringify({ ...usual['series'], ...named });
    let id = ids.get(key);
    if (id === undefined) {
      id = ids.size + 1;
      ids.set(key, id);
      series.push({ ...named, series_id: id });
    }
    return { ...rest, series_id: id };
  }

  const costs = (given.costs ?? []).map((row) => {
    const { account: _, ...amount } = seriesOf(row); // the series has it
    return amount;
  });
  const restatements = (given.restatements ?? []).map(seriesOf);
  // In one transaction, so that the rows are written to disk once.
  await connection.transaction(async () => {
    for (const [table, rows] of Object.entries({ series, hourly_costs: costs, restatements })) {
      await insertRows(connection, table, rows);
    }
    for (const table of tables) await insertRows(connection, table, given[table] ?? []);
    const { allocation, earlierAllocation: earlier } = given;
    for (const [text, since, until] of [
      [earlier?.rules, '2026-08-01', earlier?.until ?? null],
      [allocation, earlier?.until ?? '2026-09-01', null],
    ] as const) {
      if (text === undefined) continue;
      const { definition } = parseAllocation({ text, file: '/nowhere/allocation.yaml' });
      await connection.run('insert into ledger.allocations values ($definition, 1, $since, $until)', {
        ...{ definition: JSON.stringify(definition), since, until },
      });
    }
  });
  return opened;
}

/** Rows of one statement: each value is a parameter. */
const rowsAtOnce = 100;

/** Inserts rows of a table in their order, those with the same columns together. */
/** A row whose error is given as text, with a code, as the ledger has it. */
function asStored({ error, error_code: code = 'unknown', ...row }: Row): Row {
  if (error === undefined) return row;
  const failures = error === null ? null : JSON.stringify([{ code, subject: null, found: error, next: null }]);
  return { ...row, failures };
}

async function insertRows(connection: Connection, table: string, given: readonly Row[]): Promise<void> {
  const rows = given.map((row) => asStored({ ...usual[table], ...row }));
  for (let start = 0, end: number; start < rows.length; start = end) {
    const names = Object.keys(rows[start] ?? {});
    const other = rows.findIndex((row, at) => at > start && Object.keys(row).join() !== names.join());
    end = Math.min(other === -1 ? rows.length : other, start + rowsAtOnce);
    const parameters: Record<string, Cell> = {};
    const values = rows.slice(start, end).map((row, at) => {
      for (const name of names) parameters[`${name}_${at}`] = row[name] ?? null;
      return `(${names.map((name) => `$${name}_${at}`).join(', ')})`;
    });
    await connection.run(`insert into ledger.${table} (${names.join(', ')}) values ${values.join(', ')}`, parameters);
  }
}

/** The rows of a view or query over given books. */
export async function answer(
  given: Given,
  sql: string,
  parameters: Readonly<Record<string, string>> = {},
): Promise<unknown[]> {
  const books = await givenBooks(given);
  try {
    return await books.connection.rows(sql, parameters);
  } finally {
    books.close();
  }
}
