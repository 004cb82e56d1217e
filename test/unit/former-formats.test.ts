import { expect, test } from 'vitest';
import { parseStored, withPresentNames } from '../../src/base/former-formats.ts';

test('an event of an earlier version gets current names; a current one does not change', () => {
  const today = {
    number: 7,
    event: 'window_reconciled',
    values: {
      account: 'acc_one',
      attempt: 2,
      reconciliations: [{ check_code: 'pages_match_total.residual_volume', row_count: '3', billing_dimension: null }],
    },
  };
  expect(
    withPresentNames({
      number: 7,
      event: 'proofs',
      values: {
        account: 'acc_one',
        reading: 2,
        proofs: [{ compared: 'pages of residual volume = their total', amounts: '3', billing_dimension: null }],
      },
    }),
  ).toEqual(today);
  expect(withPresentNames(today)).toEqual(today);
});

test('`digest` of a close becomes sha256, of a message its summary', () => {
  const accounts = [{ account: 'acc_one', amounts: 3, digest: 'ab12' }];
  expect(withPresentNames({ number: 1, event: 'month_closed', values: { accounts } }).values).toEqual({
    accounts: [{ account: 'acc_one', row_count: 3, sha256: 'ab12' }],
  });
  const message = JSON.stringify({ kind: 'digest', entries: [], digest: { lacking: ['says "because": no'] } });
  expect(
    withPresentNames({
      number: 2,
      event: 'alerts_evaluated',
      values: { told: [], messages: [{ kind: 'digest', digest: 'weekly/2026-W47', message }] },
    }).values,
  ).toEqual({
    notified: [],
    refreshed: [],
    messages: [
      {
        kind: 'summary',
        summary: 'weekly/2026-W47',
        message: JSON.stringify({ kind: 'summary', entries: [], summary: { gaps: ['says "because": no'] } }),
      },
    ],
  });
});

const failed = { code: 'answered_401', subject: null, found: 'it failed', next: { who: 'Act', words: 'fix it.' } };

test('a failure that was text with a code and a step becomes a record, in events and in restored rows', () => {
  const then = { error: 'it failed', error_code: 'answered_401', next_step: 'Act: fix it.' };
  const present = (event: string, values: Parameters<typeof withPresentNames>[0]['values']) =>
    withPresentNames({ number: 1, event, values }).values;
  const failures = JSON.stringify([failed]);
  expect(present('run_ended', { run_number: 1, ...then })).toEqual({ run_number: 1, failures });
  expect(present('step_ended', { error: null })).toEqual({ failures: null });
  expect(present('account_run', { error: 'it failed' })).toEqual({
    failures: JSON.stringify([{ ...failed, code: 'unknown', next: null }]),
  });
  expect(present('rows_restored', { table: 'runs', rows: [{ run_number: '1', ...then }] })).toEqual({
    table: 'runs',
    rows: [{ run_number: '1', failures }],
  });
  expect(present('listing_read', { next_step: 'Wait: it comes.' })).toMatchObject({
    next_step: '{"who":"Wait","words":"it comes."}',
  });
  for (const today of [{ failures }, { failures: null }]) expect(present('run_ended', today)).toEqual(today);
});

test('facts of alerts get the values that were added later, also in messages; complete ones do not change', () => {
  const present = (document: object) => {
    const values = { raised: [{ fact: JSON.stringify(document) }], messages: [{ message: JSON.stringify(document) }] };
    return withPresentNames({ number: 1, event: 'alerts_evaluated', values }).values;
  };
  const unproven = { kind: 'unproven', months: ['2026-10'], difference: null, outOfDate: [] };
  const check = { kind: 'check', check: 'teams', error: 'check teams (x.sql): too slow', errorCode: 'machine' };
  const closed = { kind: 'closed_month', month: '2026-09', billed: [], reopen: ['2026-09'] };
  const facts: readonly [object, object][] = [
    [
      { kind: 'unproven', month: '2026-10' },
      { ...{ kind: 'unproven', month: '2026-10' }, ...unproven },
    ],
    [{ ...check, errorCode: undefined }, check],
    [
      { ...check, error: 'x.sql:3: no such column', errorCode: undefined },
      { ...check, error: 'x.sql:3: no such column', errorCode: 'sql' },
    ],
    [{ kind: 'run' }, { kind: 'run', outOfDate: [], failures: [], errorCode: null, nextStep: null }],
    [
      { kind: 'books', error: 'it failed', nextStep: 'Act: fix it.' },
      {
        kind: 'books',
        error: 'it failed',
        nextStep: 'Act: fix it.',
        failures: [{ ...failed, code: 'unknown' }],
        errorCode: null,
      },
    ],
    [{ kind: 'closed_month', month: '2026-09' }, closed],
    ...[unproven, check, closed, { ...closed, billed: undefined, differs: {} }, { kind: 'stale' }].map(
      (fact): [object, object] => [fact, fact],
    ),
  ];
  for (const [before, after] of facts) {
    expect(present(before)).toEqual(present(after));
    expect(JSON.parse(JSON.stringify(present(before)))).toEqual({
      raised: [{ fact: JSON.stringify(after) }],
      messages: [{ message: JSON.stringify(after) }],
      refreshed: [],
    });
    const [entries, whole] = [[{ fact: before }], [{ fact: after }]];
    expect(present({ kind: 'alerts', entries })).toEqual(present({ kind: 'alerts', entries: whole }));
  }
  const waiting = JSON.stringify({ kind: 'alerts', entries: [{ key: 'stale/acc_one', fact: { kind: 'stale' } }] });
  expect(parseStored(waiting)).toMatchObject({
    entries: [{ card: { title: 'alert stale/acc_one: "costbook alerts" shows it', sentences: [] } }],
  });
  const values = { fact: 'not JSON' };
  expect(withPresentNames({ number: 1, event: 'alerts_evaluated', values }).values).toEqual({
    ...values,
    refreshed: [],
  });
});

test('the command and step digest becomes summarize in every event', () => {
  const values = { step: 'digest', command_line: 'digest --period monthly', alert_key: 'run/digest' };
  expect(withPresentNames({ number: 1, event: 'step_began', values }).values).toEqual({
    step: 'summarize',
    command_line: 'summarize --period monthly',
    alert_key: 'run/summarize',
  });
});
