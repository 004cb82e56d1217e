import { loadConfig } from '../config.ts';
import { exitCodes } from '../errors.ts';
import { formatInstant, formatMonth, hourMs, type Instant } from '../time.ts';
import {
  type Connection,
  closedMonths,
  contradictions,
  openBooks,
  type SqlRow,
  type UnprovenWindow,
  unprovenWindows,
} from '../warehouse/index.ts';
import type { Command } from './command.ts';

export const statusCommand: Command = {
  name: 'status',
  summary: 'Say how far the books are complete and fresh, what did not prove, and what the last run did.',
  options: [{ flags: '--exit-code', summary: 'exit 4 where anything is unproven, missing or older than freshness' }],
  examples: ['costbook status', 'costbook status --json', 'costbook status --exit-code'],
  async run(input, context) {
    const now = context.effects.now();
    const config = loadConfig({ dir: context.dir, env: context.env, now, requireAccounts: false });
    const books = await openBooks(context.dir, { lockedDown: true, signal: context.signal });
    try {
      const configured = config.accounts.flatMap(({ id }) => id ?? []);
      const status = await readStatus(books.connection, now, config.freshnessHours, configured);
      await context.write(context.json ? `${JSON.stringify(status)}\n` : describe(status));
      return input.options['exitCode'] === true && !status.isTrustworthy ? exitCodes.unproven : exitCodes.done;
    } finally {
      books.close();
    }
  },
};

interface UnprovenStatus {
  readonly start: string;
  readonly end: string;
  /** What was compared, and by how much it differs: hours, billing dimensions, dollars. */
  readonly because: string;
}

interface AccountStatus {
  readonly account: string;
  readonly name: string | null;
  /** As whom the platform was last asked. */
  readonly role: string | null;
  readonly firstCovered: string | null;
  readonly completeThrough: string | null;
  readonly settledThrough: string | null;
  /** False for an account in the books that the configuration no longer names: nothing new is expected of it. */
  readonly isConfigured: boolean;
  /** Whether complete-through lies further back than freshness allows; an account never loaded is too old. */
  readonly isTooOld: boolean;
  /** Decimals that the platform's own totals were seen to carry; half a unit of the last is part of each tolerance. */
  readonly totalDecimals: { readonly cost: number; readonly usage: number };
  /** USD, decimal text: cost of rows that carry no uuid in hours read as member, whose workspace is therefore not known. */
  readonly unknownWorkspaceCost: string;
  readonly unproven: readonly UnprovenStatus[];
  /** Young hours that did not prove yet: the next run asks for them. */
  readonly postponed: readonly UnprovenStatus[];
  /** What the last ingest did for this account; null where there was none. */
  readonly lastRun: { readonly runNumber: number; readonly exitCode: number; readonly error: string | null } | null;
}

interface Status {
  /** Whether everything is proven and fresh: what `--exit-code` tells. */
  readonly isTrustworthy: boolean;
  readonly freshnessHours: number;
  readonly accounts: readonly AccountStatus[];
  /** The month that was closed last; null where none is. */
  readonly closed: { readonly month: string; readonly closedAt: string } | null;
  /** Closed months of which the platform tells otherwise since. */
  readonly moved: readonly MovedMonth[];
  readonly lastRun: SqlRow | null;
}

/** By how much a closed month moved after its close. */
interface MovedMonth {
  readonly month: string;
  /** USD, decimal text: more than was closed, less where negative. */
  readonly cost: string;
  /** Corrections: hours of series, once in each month in which they are delivered. */
  readonly corrections: number;
  /** The months in which they are delivered. */
  readonly deliveredIn: readonly string[];
}

async function readStatus(
  connection: Connection,
  now: Instant,
  freshnessHours: number,
  configured: readonly string[],
): Promise<Status> {
  const rows = await connection.rows(`
    with unknown_workspace as (
      select series.account, sum(amounts.cost) as cost
      from ledger.amounts as amounts
      join ledger.series as series using (series_id)
      join ledger.covered as covered
        on covered.account = series.account
        and amounts.bucket_start >= covered.window_start
        and amounts.bucket_start < covered.window_end
      where covered.role = 'member' and covered.replaced_by is null and series.workspace is null
      group by series.account
    ),
    last_runs as (
      select account, max_by(struct_pack(run_number, exit_code, error), run_number) as last_run
      from ledger.account_runs
      group by account
    )
    select
      accounts.account, accounts.name, accounts.role,
      epoch_ms(accounts.first_covered) as first_covered,
      epoch_ms(accounts.complete_through) as complete_through,
      epoch_ms(accounts.settled_through) as settled_through,
      ledger_accounts.cost_decimals, ledger_accounts.usage_decimals,
      cast(coalesce(unknown_workspace.cost, 0) as varchar) as unknown_workspace_cost,
      last_runs.last_run.run_number as run_number,
      last_runs.last_run.exit_code as exit_code,
      last_runs.last_run.error as error
    from accounts
    join ledger.accounts as ledger_accounts
      on ledger_accounts.account = accounts.account and ledger_accounts.replaced_at is null
    left join unknown_workspace on unknown_workspace.account = accounts.account
    left join last_runs on last_runs.account = accounts.account
    order by accounts.account
  `);
  const tooOldBefore = now - freshnessHours * hourMs;
  const accounts: AccountStatus[] = [];
  for (const row of rows) {
    const account = String(row['account']);
    const unproven = [...(await unprovenWindows(connection, account)), ...(await contradictions(connection, account))];
    const completeThrough = row['complete_through'];
    accounts.push({
      account,
      name: textOrNull(row['name']),
      role: textOrNull(row['role']),
      firstCovered: instantOrNull(row['first_covered']),
      completeThrough: instantOrNull(completeThrough),
      settledThrough: instantOrNull(row['settled_through']),
      isConfigured: configured.length === 0 || configured.includes(account),
      isTooOld: completeThrough === null || Number(completeThrough) < tooOldBefore,
      totalDecimals: { cost: Number(row['cost_decimals']), usage: Number(row['usage_decimals']) },
      unknownWorkspaceCost: String(row['unknown_workspace_cost']),
      unproven: unproven.filter(({ isYoung }) => !isYoung).map(toStatus),
      postponed: unproven.filter(({ isYoung }) => isYoung).map(toStatus),
      lastRun:
        row['run_number'] === null
          ? null
          : {
              runNumber: Number(row['run_number']),
              exitCode: Number(row['exit_code']),
              error: textOrNull(row['error']),
            },
    });
  }
  const last = (await closedMonths(connection)).at(-1);
  const [lastRun] = await connection.rows(`
    select
      run_number as "runNumber", command, strftime(started_at, '%Y-%m-%dT%H:%M:%SZ') as "startedAt",
      strftime(ended_at, '%Y-%m-%dT%H:%M:%SZ') as "endedAt", outcome, exit_code as "exitCode", error
    from runs order by run_number desc limit 1
  `);
  return {
    isTrustworthy:
      accounts.length > 0 &&
      accounts.every(({ isConfigured, isTooOld, unproven }) => !(isConfigured && isTooOld) && unproven.length === 0),
    freshnessHours,
    accounts,
    closed: last === undefined ? null : { month: formatMonth(last.month), closedAt: formatInstant(last.closedAt) },
    moved: await movedMonths(connection),
    lastRun: lastRun === undefined ? null : { ...lastRun, runNumber: Number(lastRun['runNumber']) },
  };
}

async function movedMonths(connection: Connection): Promise<MovedMonth[]> {
  const rows = await connection.rows(`
    select
      strftime(usage_month, '%Y-%m') as month,
      cast(sum(cost) as varchar) as cost,
      count(*) as corrections,
      string_agg(distinct strftime(billing_month, '%Y-%m'), ',' order by strftime(billing_month, '%Y-%m')) as months
    from corrections
    group by usage_month
    order by usage_month
  `);
  return rows.map((row) => ({
    month: String(row['month']),
    cost: String(row['cost']),
    corrections: Number(row['corrections']),
    deliveredIn: String(row['months']).split(','),
  }));
}

function toStatus({ window, because }: UnprovenWindow): UnprovenStatus {
  return { start: formatInstant(window.start), end: formatInstant(window.end), because };
}

function textOrNull(value: unknown): string | null {
  return value === null || value === undefined ? null : String(value);
}

function instantOrNull(value: unknown): string | null {
  return value === null || value === undefined ? null : formatInstant(Number(value));
}

function describe({ accounts, closed, moved, lastRun, freshnessHours, isTrustworthy }: Status): string {
  const lines = accounts.flatMap((account) => [
    `${account.account}${account.name === null ? '' : ` (${account.name})`}`,
    `  complete through   ${account.completeThrough ?? 'nothing yet'}` +
      `${account.isTooOld && account.isConfigured ? `  TOO OLD: more than ${freshnessHours} h ago, see the last run` : ''}` +
      `${account.isConfigured ? '' : '  (configured no longer)'}`,
    `  settled through    ${account.settledThrough ?? 'nothing yet'}`,
    `  first hour         ${account.firstCovered ?? 'nothing yet'}`,
    `  read as            ${account.role ?? 'not known yet'}`,
    `  platform's totals  ${account.totalDecimals.cost} decimals of USD, ${account.totalDecimals.usage} of usage`,
    ...(Number(account.unknownWorkspaceCost) === 0
      ? []
      : [`  workspace unknown  ${account.unknownWorkspaceCost} USD (rows without uuid, read as member)`]),
    ...(account.unproven.length === 0
      ? ['  unproven           nothing']
      : account.unproven.map(({ start, end, because }) => `  UNPROVEN           ${start}/${end}: ${because}`)),
    ...account.postponed.map(({ start, end, because }) => `  not yet proven     ${start}/${end}: ${because}`),
    ...(account.lastRun === null || account.lastRun.exitCode === 0
      ? []
      : [
          `  last run           FAILED, exit ${account.lastRun.exitCode}: ${account.lastRun.error ?? 'no reason kept'}`,
        ]),
  ]);
  if (accounts.some(({ unproven }) => unproven.length > 0)) {
    lines.push(
      'What is unproven stands as it was last proven. The next "costbook ingest" asks again; "costbook sql" on the view proofs shows each comparison.',
    );
  }
  if (closed !== null) lines.push(`closed through ${closed.month}, the last one at ${closed.closedAt}`);
  for (const { month, cost, corrections, deliveredIn } of moved) {
    const rows = `${corrections} correction${corrections === 1 ? '' : 's'}`;
    lines.push(`  ${month} moved since its close by ${cost} USD: ${rows}, delivered in ${deliveredIn.join(', ')}`);
  }
  if (lastRun !== null) {
    const failed = lastRun['error'] === null ? '' : `: ${lastRun['error']}`;
    lines.push(
      `last run ${lastRun['runNumber']} (${lastRun['command']}) ${lastRun['outcome']} at ${lastRun['endedAt'] ?? lastRun['startedAt']}` +
        `, exit ${lastRun['exitCode'] ?? 'not yet'}${failed}`,
    );
  }
  lines.push(isTrustworthy ? 'Everything is proven and fresh.' : 'NOT everything is proven and fresh.');
  return `${lines.join('\n')}\n`;
}
