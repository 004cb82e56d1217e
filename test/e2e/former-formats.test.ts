import { cp, mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { askFile, askSnapshot, newProject, runCli } from '../support/project.ts';

/**
 * Journals of one small project, each written by the program of its time, and the oldest landing folder: two nights with a
 * restatement, a close, alerts, an acknowledgement, a failed job, a summary.
 */
const formats = fileURLToPath(new URL('../support/former-books/', import.meta.url));

/** A project with nothing but a landing folder and a journal. */
async function projectOf(journal: string): Promise<string> {
  const dir = await newProject();
  await mkdir(join(dir, 'data', 'journal'), { recursive: true });
  await cp(join(formats, journal), join(dir, 'data', 'journal', 'events-000000001.ndjson'));
  await cp(join(formats, 'landing'), join(dir, 'data', 'landing'), { recursive: true });
  return dir;
}

/** What the books of every format have in common. */
const facts = {
  costs: `select cast(date_trunc('month', bucket_start) as date) as month, account, count(*) as hours, sum(cost) as cost
    from ledger.hourly_costs join ledger.series using (series_id) group by all`,
  closes: 'select billing_month, account, row_count, cost, corrections, closed_at, reopened_at from ledger.closes',
  runs: 'select run_number, command, outcome, exit_code from ledger.runs order by all',
  steps: 'select step, command_line, outcome, exit_code from ledger.steps order by position',
  alerts: `select alert_key, occurrence, kind, severity, sinks, is_notified, raised_at,
      fact ->> '$.key' = alert_key as has_fact
    from ledger.alerts order by all`,
  acknowledgements: 'select alert_key, until_at from ledger.acknowledgements',
  messages: `select sink, kind, summary, outbox.outcome, deliveries.outcome as delivery,
      message ->> '$.kind' = kind as has_kind
    from ledger.outbox join ledger.deliveries using (message_number) order by message_number`,
  rules: 'select count(*) as rules from ledger.allocations where replaced_at is null',
  differences: `select check_code, measure, ours, theirs from ledger.reconciliation
    where load_number is null and not proven order by all`,
  codes: `select distinct check_code from ledger.reconciliation where check_code not similar to '[a-z_.]+'`,
};

async function factsIn(file: string): Promise<Record<string, unknown>> {
  const found: Record<string, unknown> = {};
  for (const [name, sql] of Object.entries(facts)) found[name] = await askFile(file, sql);
  return found;
}

describe('a journal and a landing folder of a former format', () => {
  test('are rebuilt with every cost, close, run, alert and message', async () => {
    const journals = (await readdir(formats)).filter((name) => name.endsWith('.ndjson')).sort();
    expect(journals.length).toBe(4);
    const books = await Promise.all(
      journals.map(async (journal) => {
        const dir = await projectOf(journal);
        const into = join(dir, 'rebuilt.duckdb');
        const { exitCode, stderr } = await runCli(['rebuild', '--into', into, '--dir', dir]);
        expect(exitCode, `${journal}: ${stderr}`).toBe(0);
        return factsIn(into);
      }),
    );
    expect(books[0]).toMatchInlineSnapshot(`
      {
        "acknowledgements": [
          {
            "alert_key": "stale/acc_one",
            "until_at": "2026-10-30 00:00:00",
          },
        ],
        "alerts": [
          {
            "alert_key": "budget/@all/all/2026-09/100%",
            "has_fact": true,
            "is_notified": true,
            "kind": "budget",
            "occurrence": 1,
            "raised_at": "2026-09-05 00:00:00",
            "severity": "critical",
            "sinks": "["out"]",
          },
          {
            "alert_key": "run/ingest",
            "has_fact": true,
            "is_notified": true,
            "kind": "run",
            "occurrence": 1,
            "raised_at": "2026-10-11 12:30:00",
            "severity": "critical",
            "sinks": "["out"]",
          },
          {
            "alert_key": "stale/acc_one",
            "has_fact": true,
            "is_notified": true,
            "kind": "stale",
            "occurrence": 1,
            "raised_at": "2026-10-10 12:30:00",
            "severity": "critical",
            "sinks": "["out"]",
          },
        ],
        "closes": [
          {
            "account": "acc_one",
            "billing_month": "2026-09-01",
            "closed_at": "2026-10-08 12:30:00.001",
            "corrections": "0",
            "cost": "12.000000000000",
            "reopened_at": null,
            "row_count": "3",
          },
        ],
        "codes": [],
        "costs": [
          {
            "account": "acc_one",
            "cost": "12.000000000000",
            "hours": "3",
            "month": "2026-09-01",
          },
        ],
        "differences": [
          {
            "check_code": "days_match_platform",
            "measure": "cost",
            "ours": "6.000000000000",
            "theirs": "12.000000000000",
          },
        ],
        "messages": [
          {
            "delivery": "delivered",
            "has_kind": true,
            "kind": "alerts",
            "outcome": "delivered",
            "sink": "out",
            "summary": null,
          },
          {
            "delivery": "delivered",
            "has_kind": true,
            "kind": "alerts",
            "outcome": "delivered",
            "sink": "out",
            "summary": null,
          },
          {
            "delivery": "delivered",
            "has_kind": true,
            "kind": "alerts",
            "outcome": "delivered",
            "sink": "out",
            "summary": null,
          },
          {
            "delivery": "delivered",
            "has_kind": true,
            "kind": "summary",
            "outcome": "delivered",
            "sink": "out",
            "summary": "monthly/2026-09",
          },
        ],
        "rules": [
          {
            "rules": "1",
          },
        ],
        "runs": [
          {
            "command": "ingest",
            "exit_code": 0,
            "outcome": "done",
            "run_number": "1",
          },
          {
            "command": "alert",
            "exit_code": 0,
            "outcome": "done",
            "run_number": "2",
          },
          {
            "command": "ingest",
            "exit_code": 0,
            "outcome": "done",
            "run_number": "3",
          },
          {
            "command": "close",
            "exit_code": 0,
            "outcome": "done",
            "run_number": "4",
          },
          {
            "command": "alert",
            "exit_code": 0,
            "outcome": "done",
            "run_number": "5",
          },
          {
            "command": "alerts",
            "exit_code": 0,
            "outcome": "done",
            "run_number": "6",
          },
          {
            "command": "run nightly",
            "exit_code": 2,
            "outcome": "failed",
            "run_number": "7",
          },
          {
            "command": "summarize",
            "exit_code": 0,
            "outcome": "done",
            "run_number": "8",
          },
          {
            "command": "alert",
            "exit_code": 0,
            "outcome": "done",
            "run_number": "9",
          },
        ],
        "steps": [
          {
            "command_line": "ingest",
            "exit_code": 2,
            "outcome": "failed",
            "step": "ingest",
          },
          {
            "command_line": "alert",
            "exit_code": 0,
            "outcome": "done",
            "step": "alert",
          },
        ],
      }
    `);
    for (const [index, journal] of journals.entries()) expect(books[index], journal).toEqual(books[0]);
  });

  test('have failures without a code, which are repaired, and have a next step', async () => {
    const dir = await projectOf('2-names-of-today.ndjson');
    const run = (...args: string[]) => runCli([...args, '--dir', dir, '--now', '2026-10-12T12:30:00Z']);
    const repaired = await run('repair');
    expect(repaired.exitCode, repaired.stderr).toBe(0);
    expect(
      await askSnapshot(
        dir,
        "select step, error is not null as has_error, error_code, next_step from run_steps where outcome = 'failed'",
      ),
    ).toEqual([{ step: 'ingest', has_error: true, error_code: null, next_step: null }]);
    const status = JSON.parse((await run('status', '--json')).stdout);
    expect(status.failedIngest).toMatchObject({
      errorCode: null,
      next: expect.stringMatching(/"costbook (ingest|run nightly)" again/),
    });
    const rebuilt = await run('rebuild', '--into', join(dir, 'rebuilt.duckdb'), '--json');
    expect(JSON.parse(rebuilt.stdout), rebuilt.stderr).toMatchObject({ identical: true });
    expect((await run('check')).exitCode).toBe(0);
  });
});
