import { decimalOfWhole } from '../decimals.ts';
import { addCalendarMonths } from '../time.ts';
import { type Connection, closedMonths, completeness, type SqlRow } from '../warehouse/index.ts';
import type { FactsAsked } from './alert-facts.ts';
import { amountIn, type Budget, usdDecimals } from './budget-file.ts';
import { readSpends } from './budget-spends.ts';
import { budgetCalendar } from './budgets.ts';

/** A metric as Prometheus and what reads like it have it. */
export interface Metric {
  /** `costbook_…`, with its unit at the end, and `_total` after that where it only ever grows. */
  readonly name: string;
  readonly type: 'gauge' | 'counter';
  readonly help: string;
  readonly samples: readonly Sample[];
}

export interface Sample {
  readonly labels: Readonly<Record<string, string>>;
  /** A number, or decimal text of the books. */
  readonly value: number | string;
}

/** What the books do not know, and goes into the metrics all the same. */
export interface MetricsAsked extends Pick<FactsAsked, 'now' | 'freshnessHours' | 'configured' | 'budgets'> {
  readonly version: string;
  /** Answers of the platform so far, by HTTP status: of runs before and of this one. */
  readonly responses: ReadonlyMap<string, number>;
  readonly diskFreeBytes: number | undefined;
}

/** Answers so far by status stand in the file alone: the next run adds its own. */
export const responsesName = 'costbook_responses_total';

/** All that is measured of these books. The order is the same every time. */
export async function readMetrics(connection: Connection, asked: MetricsAsked): Promise<Metric[]> {
  const { now, budgets } = asked;
  const metrics: Metric[] = [];
  function add(type: Metric['type'], name: string, help: string, samples: readonly Sample[]): void {
    if (samples.length > 0) metrics.push({ type, name, help, samples });
  }
  const gauge = (name: string, help: string, samples: readonly Sample[]) => add('gauge', name, help, samples);
  const counter = (name: string, help: string, samples: readonly Sample[]) => add('counter', name, help, samples);
  /** A column of an answer by labels; rows in which it is null have nothing to tell. */
  function column(rows: readonly SqlRow[], value: string, ...labels: readonly string[]): Sample[] {
    return rows.flatMap((row) =>
      row[value] === null || row[value] === undefined
        ? []
        : [
            {
              labels: Object.fromEntries(labels.map((label) => [label, String(row[label] ?? '')])),
              value: String(row[value]),
            },
          ],
    );
  }

  gauge('costbook_build_info', 'The program that wrote this; always 1.', [
    { labels: { version: asked.version }, value: 1 },
  ]);
  gauge('costbook_metrics_timestamp_seconds', 'When this was written.', [{ labels: {}, value: now / 1000 }]);

  const runs = await connection.rows(`
    with ended as (
      select
        *, row_number() over (partition by command order by run_number desc) as newest,
        cast(max(case when outcome = 'done' then epoch(ended_at) end) over (partition by command) as bigint) as success
      from runs where outcome in ('done', 'failed', 'interrupted')
    )
    select
      command, cast(success as varchar) as success, cast(cast(epoch(ended_at) as bigint) as varchar) as ended,
      cast(exit_code as varchar) as exit_code,
      cast(cast(epoch_ms(ended_at) - epoch_ms(started_at) as decimal(18, 3)) / 1000 as varchar) as seconds
    from ended where newest = 1
    order by command
  `);
  gauge(
    'costbook_run_last_success_timestamp_seconds',
    'When a run of the command last ended well.',
    column(runs, 'success', 'command'),
  );
  gauge(
    'costbook_run_last_end_timestamp_seconds',
    'When a run of the command last ended.',
    column(runs, 'ended', 'command'),
  );
  gauge(
    'costbook_run_last_exit_code',
    'The exit code of the last run of the command.',
    column(runs, 'exit_code', 'command'),
  );
  gauge(
    'costbook_run_last_duration_seconds',
    'How long the last run of the command took.',
    column(runs, 'seconds', 'command'),
  );
  const outcomes = await connection.rows(
    `select command, outcome, cast(count(*) as varchar) as runs from runs
    where outcome <> 'running' group by command, outcome order by command, outcome`,
  );
  counter(
    'costbook_runs_total',
    'Runs that ended, and slots that nobody ran, by outcome.',
    column(outcomes, 'runs', 'command', 'outcome'),
  );
  const steps = await connection.rows(`
    with last_runs as (select job, max(run_number) as run_number from ledger.job_runs group by job)
    select
      last_runs.job, steps.step, cast(max(steps.exit_code) as varchar) as exit_code,
      cast(sum(steps.seconds) as varchar) as seconds
    from ledger.steps as steps
    join last_runs on last_runs.run_number = steps.run_number
    group by last_runs.job, steps.step
    order by last_runs.job, steps.step
  `);
  gauge(
    'costbook_step_last_duration_seconds',
    'How long the step took in the last run of the job.',
    column(steps, 'seconds', 'job', 'step'),
  );
  gauge(
    'costbook_step_last_exit_code',
    'The exit code of the step in the last run of the job.',
    column(steps, 'exit_code', 'job', 'step'),
  );

  const accounts = await completeness(connection);
  function instants(of: (account: (typeof accounts)[number]) => number | undefined): Sample[] {
    return accounts.flatMap((each) => {
      const value = of(each);
      return value === undefined ? [] : [{ labels: { account: each.account }, value: value / 1000 }];
    });
  }
  gauge(
    'costbook_complete_through_timestamp_seconds',
    'Through when the books of the account are complete.',
    instants(({ completeThrough }) => completeThrough),
  );
  gauge(
    'costbook_settled_through_timestamp_seconds',
    'Through when changes are no longer expected.',
    instants(({ settledThrough }) => settledThrough),
  );

  const counts = await connection.rows(`
    with unproven as (
      select account, count(*) as windows
      from (
        select account from ledger.unproven where not is_young
        union all
        select account from ledger.contradictions
      )
      group by account
    ),
    restated as (
      select account, count(*) as hours, sum(abs(coalesce(new_cost, 0) - coalesce(old_cost, 0))) as cost
      from ledger.restatements group by account
    ),
    asked as (
      select account, sum(requests) as requests, sum(retries) as retries, sum(amounts) as amounts
      from ledger.account_runs group by account
    )
    select
      accounts.account,
      cast(coalesce(unproven.windows, 0) as varchar) as unproven,
      cast(coalesce(restated.hours, 0) as varchar) as restated_hours,
      cast(coalesce(restated.cost, 0) as varchar) as restated_cost,
      cast(coalesce(asked.requests, 0) as varchar) as requests,
      cast(coalesce(asked.retries, 0) as varchar) as retries,
      cast(coalesce(asked.amounts, 0) as varchar) as amounts
    from accounts
    left join unproven on unproven.account = accounts.account
    left join restated on restated.account = accounts.account
    left join asked on asked.account = accounts.account
    order by accounts.account
  `);
  gauge(
    'costbook_unproven_windows',
    'Windows that did not prove, or that the past contradicts.',
    column(counts, 'unproven', 'account'),
  );
  counter(
    'costbook_restated_rows_total',
    'Hours of series that changed after they had been loaded.',
    column(counts, 'restated_hours', 'account'),
  );
  counter(
    'costbook_restated_usd_total',
    'USD by which hours changed after they had been loaded, up or down.',
    column(counts, 'restated_cost', 'account'),
  );
  counter(
    'costbook_requests_total',
    'Requests of the platform that were answered or given up.',
    column(counts, 'requests', 'account'),
  );
  counter('costbook_retries_total', 'Requests that were sent again.', column(counts, 'retries', 'account'));
  counter(
    'costbook_rows_loaded_total',
    'Rows that were loaded, again ones included.',
    column(counts, 'amounts', 'account'),
  );
  counter(
    responsesName,
    'Answers of the platform by HTTP status; none where no answer came.',
    [...asked.responses].sort(([a], [b]) => (a < b ? -1 : 1)).map(([status, value]) => ({ labels: { status }, value })),
  );

  if (budgets !== undefined && budgets.length > 0) {
    const spent = await readBudgetUse(connection, budgets, asked);
    gauge(
      'costbook_budget_used_ratio',
      'What is spent of the budget in its present period, as a part of its amount.',
      spent.ratios,
    );
    gauge('costbook_budget_spent_usd', 'USD spent of the budget in its present period.', spent.spends);
    gauge('costbook_budget_amount_usd', 'USD that the budget has in its present period.', spent.amounts);
  }

  const alerts = await connection.rows(`
    select severities.severity, cast(count(alerts.alert_key) as varchar) as open
    from (values ('critical'), ('info'), ('warning')) as severities (severity)
    left join alerts on alerts.severity = severities.severity and alerts.is_open
    group by severities.severity order by severities.severity
  `);
  gauge('costbook_open_alerts', 'Alerts that hold now.', column(alerts, 'open', 'severity'));
  const messages = await connection.rows(`
    select outcomes.state, cast(count(messages.message_number) as varchar) as messages
    from (values ('dead'), ('pending')) as outcomes (state)
    left join messages on messages.outcome = outcomes.state
    group by outcomes.state order by outcomes.state
  `);
  gauge(
    'costbook_outbox_messages',
    'Messages that wait for their sink, and those that were given up.',
    column(messages, 'messages', 'state'),
  );
  const closed = (await closedMonths(connection)).at(-1);
  gauge(
    'costbook_closed_through_timestamp_seconds',
    'The end of the last month that is closed.',
    closed === undefined ? [] : [{ labels: {}, value: addCalendarMonths(closed.month, 1) / 1000 }],
  );
  if (asked.diskFreeBytes !== undefined) {
    gauge('costbook_disk_free_bytes', 'Free on the disk of the books.', [{ labels: {}, value: asked.diskFreeBytes }]);
  }
  return metrics;
}

async function readBudgetUse(
  connection: Connection,
  budgets: readonly Budget[],
  { now, freshnessHours, configured }: MetricsAsked,
): Promise<{ ratios: Sample[]; spends: Sample[]; amounts: Sample[] }> {
  const periods = budgets.map((budget) => ({ budget, period: budgetCalendar(budget).periodAt(now) }));
  const spends = await readSpends(connection, periods, { now, freshnessHours, configured });
  const known = periods.flatMap(({ budget, period }, index) => {
    const spent = spends[index]?.spent;
    const amount = amountIn(budget, period.name);
    return spent === undefined ? [] : [{ labels: { budget: budget.name, period: budget.period }, spent, amount }];
  });
  return {
    // Trillionths of both; four digits are more than anybody reads.
    ratios: known.flatMap(({ labels, spent, amount }) =>
      amount === 0n ? [] : [{ labels, value: Number((spent * 10_000n) / amount) / 10_000 }],
    ),
    spends: known.map(({ labels, spent }) => ({ labels, value: decimalOfWhole(spent, usdDecimals) })),
    amounts: known.map(({ labels, amount }) => ({ labels, value: decimalOfWhole(amount, usdDecimals) })),
  };
}

/** Metrics in the text format of Prometheus, version 0.0.4. Pure. */
export function formatMetrics(metrics: readonly Metric[]): string {
  return metrics
    .map(({ name, type, help, samples }) => {
      const lines = samples.map(({ labels, value }) => {
        const pairs = Object.entries(labels).map(([label, text]) => `${label}="${escapeLabel(text)}"`);
        return `${name}${pairs.length === 0 ? '' : `{${pairs.join(',')}}`} ${value}`;
      });
      return [
        `# HELP ${name} ${help.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')}`,
        `# TYPE ${name} ${type}`,
        ...lines,
      ]
        .map((line) => `${line}\n`)
        .join('');
    })
    .join('');
}

function escapeLabel(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}

/** The answers by status that an earlier file told; none where it says nothing that can be understood. Pure. */
export function responsesIn(text: string): Map<string, number> {
  const lines = text.matchAll(new RegExp(`^${responsesName}\\{status="(\\w+)"\\} (\\d{1,15})$`, 'gm'));
  return new Map([...lines].map(([, status = '', value]) => [status, Number(value)]));
}
