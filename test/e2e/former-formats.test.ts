// Second tier: Rebuilds the books of each former format; unit/former-formats reads them in the first tier.

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
      fact ->> '$.key' = alert_key as has_fact, json_type(fact, '$.outOfDate') as out_of_date
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

/** The rows of each of them, as text. */
async function factsIn(file: string): Promise<Record<string, string[]>> {
  const found: Record<string, string[]> = {};
  for (const [name, sql] of Object.entries(facts)) {
    found[name] = (await askFile(file, sql)).map((row) => Object.values(row).join(' '));
  }
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
          "stale/acc_one 2026-10-30 00:00:00",
        ],
        "alerts": [
          "budget/@all/all/2026-09/100% 1 budget critical ["out"] true 2026-09-05 00:00:00 true ",
          "run/ingest 1 run critical ["out"] true 2026-10-11 12:30:00 true ARRAY",
          "stale/acc_one 1 stale critical ["out"] true 2026-10-10 12:30:00 true ",
        ],
        "closes": [
          "2026-09-01 acc_one 3 12.000000000000 0 2026-10-08 12:30:00.001 ",
        ],
        "codes": [],
        "costs": [
          "2026-09-01 acc_one 3 12.000000000000",
        ],
        "differences": [
          "days_match_platform cost 6.000000000000 12.000000000000",
        ],
        "messages": [
          "out alerts  delivered delivered true",
          "out alerts  delivered delivered true",
          "out alerts  delivered delivered true",
          "out summary monthly/2026-09 delivered delivered true",
        ],
        "rules": [
          "1",
        ],
        "runs": [
          "1 ingest done 0",
          "2 alert done 0",
          "3 ingest done 0",
          "4 close done 0",
          "5 alert done 0",
          "6 alerts done 0",
          "7 run nightly failed 2",
          "8 summarize done 0",
          "9 alert done 0",
        ],
        "steps": [
          "ingest ingest failed 2",
          "alert alert done 0",
        ],
      }
    `);
    for (const [index, journal] of journals.entries()) expect(books[index], journal).toEqual(books[0]);
  });

  test('have failures without a code, which is unknown then; they are repaired, and have a next step', async () => {
    const dir = await projectOf('2-names-of-today.ndjson');
    const run = (...args: string[]) => runCli([...args, '--dir', dir, '--now', '2026-10-12T12:30:00Z']);
    const repaired = await run('repair');
    expect(repaired.exitCode, repaired.stderr).toBe(0);
    expect(
      await askSnapshot(
        dir,
        "select step, error is not null as has_error, error_code, next_step from run_steps where outcome = 'failed'",
      ),
    ).toEqual([{ step: 'ingest', has_error: true, error_code: 'unknown', next_step: null }]);
    const status = JSON.parse((await run('status', '--json')).stdout);
    expect(status.failedIngest).toMatchObject({
      errorCode: 'unknown',
      next: expect.stringMatching(/"costbook (ingest|run nightly)" again/),
    });
    const rebuilt = await run('rebuild', '--into', join(dir, 'rebuilt.duckdb'), '--json');
    expect(JSON.parse(rebuilt.stdout), rebuilt.stderr).toMatchObject({ identical: true });
    expect((await run('check')).exitCode).toBe(0);
  });
});
