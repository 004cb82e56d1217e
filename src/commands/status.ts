import { formatInstant } from '../time.ts';
import { type Connection, openBooks, type SqlRow, unprovenWindows } from '../warehouse/index.ts';
import type { Command } from './command.ts';

export const statusCommand: Command = {
  name: 'status',
  summary: 'Say how far the books are complete, what did not prove, and what the last run did.',
  options: [],
  examples: ['costbook status', 'costbook status --json'],
  async run(_input, context) {
    const books = await openBooks(context.dir, { lockedDown: true });
    try {
      const status = await readStatus(books.connection);
      await context.write(context.json ? `${JSON.stringify(status)}\n` : describe(status));
      return 0;
    } finally {
      books.close();
    }
  },
};

interface AccountStatus {
  readonly account: string;
  readonly name: string | null;
  readonly role: string | null;
  readonly firstCovered: string | null;
  readonly completeThrough: string | null;
  readonly settledThrough: string | null;
  /** USD, decimal text: cost of rows that carry no uuid in hours read as member, whose workspace is therefore not known. */
  readonly unknownWorkspaceCost: string;
  readonly unproven: readonly { readonly start: string; readonly end: string; readonly because: string }[];
}

interface Status {
  readonly accounts: readonly AccountStatus[];
  readonly lastRun: SqlRow | null;
}

async function readStatus(connection: Connection): Promise<Status> {
  const rows = await connection.rows(`
    with unknown_workspace as (
      select amounts.account, sum(amounts.cost) as cost
      from ledger.amounts as amounts
      join ledger.series as series using (series_id)
      join ledger.covered as covered
        on covered.account = amounts.account
        and amounts.bucket_start >= covered.window_start
        and amounts.bucket_start < covered.window_end
      where covered.role = 'member' and covered.replaced_by is null and series.workspace is null
      group by amounts.account
    )
    select
      accounts.account, accounts.name, accounts.role,
      epoch_ms(accounts.first_covered) as first_covered,
      epoch_ms(accounts.complete_through) as complete_through,
      epoch_ms(accounts.settled_through) as settled_through,
      cast(coalesce(unknown_workspace.cost, 0) as varchar) as unknown_workspace_cost
    from accounts
    left join unknown_workspace using (account)
    order by accounts.account
  `);
  const accounts: AccountStatus[] = [];
  for (const row of rows) {
    const account = String(row['account']);
    const unproven = await unprovenWindows(connection, account);
    accounts.push({
      account,
      name: textOrNull(row['name']),
      role: textOrNull(row['role']),
      firstCovered: instantOrNull(row['first_covered']),
      completeThrough: instantOrNull(row['complete_through']),
      settledThrough: instantOrNull(row['settled_through']),
      unknownWorkspaceCost: String(row['unknown_workspace_cost']),
      unproven: unproven.map(({ window, because }) => ({
        start: formatInstant(window.start),
        end: formatInstant(window.end),
        because,
      })),
    });
  }
  const [lastRun] = await connection.rows(`
    select
      run_number as "runNumber", command, strftime(started_at, '%Y-%m-%dT%H:%M:%SZ') as "startedAt",
      strftime(ended_at, '%Y-%m-%dT%H:%M:%SZ') as "endedAt", outcome, exit_code as "exitCode", error
    from runs order by run_number desc limit 1
  `);
  return { accounts, lastRun: lastRun === undefined ? null : { ...lastRun, runNumber: Number(lastRun['runNumber']) } };
}

function textOrNull(value: unknown): string | null {
  return value === null || value === undefined ? null : String(value);
}

function instantOrNull(value: unknown): string | null {
  return value === null || value === undefined ? null : formatInstant(Number(value));
}

function describe({ accounts, lastRun }: Status): string {
  const lines = accounts.flatMap((account) => [
    `${account.account}${account.name === null ? '' : ` (${account.name})`}`,
    `  complete through   ${account.completeThrough ?? 'nothing yet'}`,
    `  settled through    ${account.settledThrough ?? 'nothing yet'}`,
    `  first hour         ${account.firstCovered ?? 'nothing yet'}`,
    `  read as            ${account.role ?? 'not known yet'}`,
    ...(Number(account.unknownWorkspaceCost) === 0
      ? []
      : [`  workspace unknown  ${account.unknownWorkspaceCost} USD (rows without uuid, read as member)`]),
    ...(account.unproven.length === 0
      ? ['  unproven           nothing']
      : account.unproven.map(({ start, end, because }) => `  UNPROVEN           ${start}/${end}: ${because}`)),
  ]);
  if (lastRun !== null) {
    const failed = lastRun['error'] === null ? '' : `: ${lastRun['error']}`;
    lines.push(
      `last run ${lastRun['runNumber']} (${lastRun['command']}) ${lastRun['outcome']} at ${lastRun['endedAt'] ?? lastRun['startedAt']}` +
        `, exit ${lastRun['exitCode'] ?? 'not yet'}${failed}`,
    );
  }
  return `${lines.join('\n')}\n`;
}
