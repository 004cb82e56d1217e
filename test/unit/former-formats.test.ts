import { expect, test } from 'vitest';
import { withPresentNames } from '../../src/base/former-formats.ts';

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
    messages: [
      {
        kind: 'summary',
        summary: 'weekly/2026-W47',
        message: JSON.stringify({ kind: 'summary', entries: [], summary: { gaps: ['says "because": no'] } }),
      },
    ],
  });
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
    [{ kind: 'run' }, { kind: 'run', outOfDate: [] }],
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
    });
    const [entries, whole] = [[{ fact: before }], [{ fact: after }]];
    expect(present({ kind: 'alerts', entries })).toEqual(present({ kind: 'alerts', entries: whole }));
  }
  const values = { fact: 'not JSON' };
  expect(withPresentNames({ number: 1, event: 'alerts_evaluated', values }).values).toEqual(values);
});

test('the command and step digest becomes summarize in every event', () => {
  const values = { step: 'digest', command_line: 'digest --period monthly', alert_key: 'run/digest' };
  expect(withPresentNames({ number: 1, event: 'step_began', values }).values).toEqual({
    step: 'summarize',
    command_line: 'summarize --period monthly',
    alert_key: 'run/summarize',
  });
});
