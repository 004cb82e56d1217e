import {
  countWords,
  deliverAll,
  exitCodeOfDeliveries,
  loadAlertingConfig,
  newMessage,
  originOf,
  undeliveredIn,
  unstoredStill,
  type WaitingAlert,
} from '../alerts/index.ts';
import { feedbackSentences } from '../anomalies/index.ts';
import { exitCodes, UsageError } from '../base/errors.ts';
import { parseStored } from '../base/former-formats.ts';
import { nextWords } from '../base/next-step.ts';
import type { Severity } from '../base/severity.ts';
import { loadReadable } from '../config/index.ts';
import {
  type AlertFact,
  currentCauses,
  isExplainedByAnomaly,
  parseFact,
  wordsOf,
  wordsOfKind,
} from '../findings/index.ts';
import { keysOf, type Problem } from '../health/index.ts';
import { actionOf, reading } from '../options/read.ts';
import { actions, options } from '../options/table.ts';
import { completenessOf, describeCompleteness } from '../reports/formats/index.ts';
import { writingRun } from '../runs/index.ts';
import type { Message } from '../sinks/index.ts';
import { folded } from '../terminal/index.ts';
import { oneOf } from '../text/choices.ts';
import { forTerminal } from '../text/safe-text.ts';
import { shellWord } from '../text/shell-word.ts';
import { dayMs, formatInstant, formatSecond } from '../time/time.ts';
import { expectBooks, openBooks } from '../warehouse/integrity/index.ts';
import { readSql } from '../warehouse/sql/index.ts';
import type { Connection, SqlRow } from '../warehouse/store/index.ts';
import { type StoredAnswer, storedAnswers } from '../warehouse/watch/index.ts';
import { acknowledge } from './alerts-ack.ts';
import { noSuchKey, preview, sendTest } from './alerts-sinks.ts';
import type { Command, CommandContext } from './command.ts';
import { statusNow } from './status-now.ts';

const ofAlerts = { actions: actions.alerts, options: options.alerts };

export const alertsCommand: Command = {
  name: 'alerts',
  summary:
    'List alerts; test a sink (test <sink>), show what it would get (preview <sink>), acknowledge an alert until a date or say what it was (ack <key>), send one again (resend <key>).',
  arguments: [
    {
      name: '[action]',
      summary: `${actions.alerts.join(', ')}; without one, list alerts`,
      choices: actions.alerts,
    },
    { name: '[name]', summary: 'test and preview: a sink; ack and resend: the key of an alert' },
  ],
  examples: [
    'costbook alerts --open',
    'costbook alerts test finops',
    'costbook alerts preview mail --out message.html',
    'costbook alerts ack stale/acc_main --until 2026-12-01',
    'costbook alerts ack anomaly/acc_main/research/agent/agent_compute_runtime_gbs/2026-11-15 --as expected',
    'costbook alerts resend stale/acc_main',
  ],
  async run(input, context) {
    const asked = reading(options.alerts, input, context);
    const { values, isGiven, problem, check } = asked;
    const { open, until, as, wait: waitMs, ...previewed } = values;
    const action = actionOf('alerts', ofAlerts, asked, input);
    const [, name] = input.arguments;
    const isOfSink = action === 'test' || action === 'preview';
    if (action !== undefined && name === undefined) {
      problem(`${action}: name ${isOfSink ? 'a sink' : 'the key of an alert'}`);
    }
    if (action === 'ack' && !isGiven.until && !isGiven.as) {
      problem(`ack: expected --until <date>, such as 2026-12-01, or --as ${oneOf(options.alerts.as.choices)}`);
    }
    if (isGiven.key && isGiven.period) problem('--key: found next to --period, expected one of the two');
    if (until !== undefined && until <= context.effects.now()) {
      const now = formatInstant(context.effects.now());
      problem(`--until: ${formatInstant(until)} is in the past; expected an instant after ${now}`);
    }
    check();
    if (action === 'test') return sendTest(name ?? '', context);
    if (action === 'preview') return preview({ sink: name ?? '', ...previewed }, context);
    if (action === 'ack') return acknowledge({ key: name ?? '', until, as, waitMs }, context);
    if (action === 'resend') return resend(name ?? '', waitMs, context);
    return list(open, context);
  },
};

async function list(isOpenOnly: boolean, context: CommandContext): Promise<number> {
  const books = await openBooks(context.dir, { lockedDown: true, signal: context.signal });
  try {
    const stored = await books.connection.rows(await readSql('alerts', 'list'), { open_only: isOpenOnly });
    const rows = await withPresent(stored, books.connection, context);
    const answers = await storedAnswers(books.connection, 0);
    const state = await completenessOf(books.connection);
    const unstored = await unstoredStill(context.dir);
    const { config } = loadReadable({
      ...{ dir: context.dir, env: context.env, now: context.effects.now(), requireAccounts: false },
    });
    const { problems } = await statusNow(books, config, context);
    const waiting = unstored.map(({ key }) => key);
    const ofBooks = rows.filter((row) => row['is_open'] === true && !isOver(row));
    // As `allOpenAlerts` counts them.
    const open = [
      ...unstored.map(() => ({ severity: 'critical' as const })),
      ...ofBooks
        .filter((row) => !waiting.includes(String(row['alert_key'])))
        .map((row) => ({ severity: String(row['severity']) as Severity })),
    ];
    const known = [...waiting, ...ofBooks.map((row) => String(row['alert_key']))];
    const notSent = problems.filter((one) => one.isFailure && !keysOf([one]).some((key) => known.includes(key)));
    const { completeThrough, settledThrough } = state;
    const alerts = rows.map((row) => toJson(row, isOver(row), answers));
    await context.answer(
      { open: open.length, completeThrough, settledThrough, alerts, unstored, problems },
      async () => {
        const isNone = rows.length === 0 && unstored.length === 0;
        const none = isNone ? await noneWords(books.connection, isOpenOnly, notSent.length > 0) : '';
        const until = formatInstant(context.effects.now() + 7 * dayMs).slice(0, 10);
        const shown = [
          ...unstored.map((alert) =>
            describeUnstored(
              alert,
              problems.find((one) => one.key === alert.key),
            ),
          ),
          ...notSent.map(describeNotSent),
          `${none}${describe(rows, answers, { until, problems })}`,
        ]
          .join('')
          .trimEnd();
        const others = notSent.length === 0 ? '' : `; ${notSent.length} more above, of which nobody was notified`;
        const count = open.length === 0 ? '' : `${countWords(open)}${others}\n`;
        return `${folded(shown, context.layout)}\n\n${count}${describeCompleteness(state)}\n`;
      },
    );
    return exitCodes.done;
  } finally {
    books.close();
  }
}

/**
 * The alerts with their present words: `is_over` says whether the cause of an open one is gone. Those come after the
 * other open ones.
 */
async function withPresent(
  rows: readonly SqlRow[],
  connection: Connection,
  context: CommandContext,
): Promise<SqlRow[]> {
  const open = rows.filter((row) => row['is_open'] === true);
  const facts = open.map((row) => parseFact(String(row['fact'])));
  const now = await currentCauses(connection, facts, context.effects.now(), context);
  const present = open.map((row) => presentOf(row, now));
  return [
    ...present.filter((row) => !isOver(row)),
    ...present.filter(isOver),
    ...rows.filter((row) => row['is_open'] !== true),
  ];
}

function presentOf(row: SqlRow, { ended, facts }: Awaited<ReturnType<typeof currentCauses>>): SqlRow {
  const key = String(row['alert_key']);
  const fact = facts.get(key);
  return { ...row, is_over: ended.has(key), ...(fact === undefined ? {} : { fact: JSON.stringify(fact) }) };
}

/** Whether the cause of an open alert is gone. */
function isOver(row: SqlRow): boolean {
  return row['is_over'] === true;
}

/** The answer if there is no alert, or if `alert` has not run yet. */
async function noneWords(connection: Connection, isOpenOnly: boolean, hasNew: boolean): Promise<string> {
  const [row] = await connection.rows(await readSql('alerts', 'was_evaluated'));
  if (row?.['looked'] !== true)
    return 'No alerts yet: "costbook alert" has not run on these books. Run it to evaluate them.';
  if (hasNew) return '';
  return isOpenOnly ? 'No open alerts.' : 'No alerts so far.';
}

function toJson(row: SqlRow, isOverNow: boolean, answers: readonly StoredAnswer[]): Record<string, unknown> {
  return {
    key: row['alert_key'],
    occurrence: row['occurrence'],
    kind: row['kind'],
    account: row['account'],
    severity: row['severity'],
    isOpen: row['is_open'],
    /** Whether its cause is gone; the next evaluation ends it. */
    isOver: isOverNow,
    raisedAt: row['raised_at'],
    openSince: row['open_since'],
    endedAt: row['ended_at'],
    ending: row['ending'],
    acknowledgedUntil: row['acknowledged_until'],
    lastDeliveredAt: row['last_delivered_at'],
    pendingMessages: row['pending_messages'],
    deadMessages: row['dead_messages'],
    title: wordsOf(parseFact(String(row['fact']))).title,
    sinks: JSON.parse(String(row['sinks'])),
    fact: JSON.parse(String(row['fact'])),
    answers: answersTo(row, answers).map(({ sink, alert, answeredAt, text }) => ({
      sink,
      transition: alert?.transition,
      at: answeredAt,
      text,
    })),
  };
}

/** What agents and jobs answered about an occurrence of an alert, oldest first. */
function answersTo(row: SqlRow, answers: readonly StoredAnswer[]): readonly StoredAnswer[] {
  return answers.filter(
    ({ alert }) => alert?.key === row['alert_key'] && alert?.occurrence === Number(row['occurrence']),
  );
}

/** The newest answer of each sink. */
function newestOfEach(answers: readonly StoredAnswer[]): readonly StoredAnswer[] {
  return [...new Map(answers.map((answer) => [answer.sink, answer])).values()];
}

/** An answer is cut here; --json has all of it. */
const maxAnswerShown = 500;

/** How many ended alerts are shown; --json has all. */
const endedShown = 10;

/** `until`: the day to which the printed command silences an alert. */
function describe(
  rows: readonly SqlRow[],
  answers: readonly StoredAnswer[],
  shown: { readonly until: string; readonly problems: readonly Problem[] },
): string {
  const open = rows.filter((row) => row['is_open'] === true);
  const ended = rows.filter((row) => row['is_open'] !== true);
  const parts = [
    ...open.map((row) => describeOpen(row, answersTo(row, answers), shown)),
    ...(ended.length === 0 ? [] : [['Ended:', ...ended.slice(0, endedShown).map(describeEnded)].join('\n')]),
    ...(ended.length > endedShown ? [`and ${ended.length - endedShown} more ended alerts (--json lists all)`] : []),
  ];
  return parts.join('\n\n');
}

/** An alert that was sent although the books cannot store it. */
function describeUnstored({ key, title, detail, next, at }: WaitingAlert, problem: Problem | undefined): string {
  const step = problem === undefined ? next : nextWords(problem.next);
  const lines = [
    `🔴 critical  ${title}`,
    detail && `   ${detail}`,
    ...(problem?.follows ?? []).map((words) => `   So: ${words}`),
    step && `   ${step}`,
    `   open since ${at}; not in the books yet`,
  ];
  return `${[...lines, `   ${key}`].flatMap((line) => (line ? [forTerminal(line)] : [])).join('\n')}\n\n`;
}

/** A problem that no alert is about yet, such as a run that was killed since the last evaluation. */
function describeNotSent({ found, also, follows, next }: Problem): string {
  const lines = [
    ...[found, ...also].map((line) => `🔴 new       ${line}`),
    ...follows.map((words) => `   So: ${words}`),
    `   ${nextWords(next)}`,
    '   nobody was notified of this: "costbook alert" does it now',
  ];
  return `${lines.map((line) => forTerminal(line)).join('\n')}\n\n`;
}

/** The step of the problem that an alert is about: it may be newer than the alert's last message. */
function stepOf(key: string, problems: readonly Problem[]): string | undefined {
  const problem = problems.find((one) => one.key === key);
  return problem && nextWords(problem.next);
}

function describeOpen(
  row: SqlRow,
  answers: readonly StoredAnswer[],
  { until, problems }: { readonly until: string; readonly problems: readonly Problem[] },
): string {
  const fact = parseFact(String(row['fact']));
  const { icon, title, detail, next } = wordsOf(fact);
  const occurrence = Number(row['occurrence']);
  const many = occurrence > 1 ? ` (${occurrence} messages about it so far)` : '';
  const quiet = row['acknowledged_until'] === null ? '' : `, silenced until ${row['acknowledged_until']}`;
  const words = isOver(row)
    ? [`${wordsOfKind(fact).over(fact).title}: the next run ends this alert`]
    : [detail, stepOf(fact.key, problems) ?? next];
  return [
    forTerminal(`${isOver(row) ? '✅ over' : `${icon} ${row['severity']}`}  ${title}`),
    ...words.flatMap((line) => (line === undefined ? [] : [`   ${forTerminal(line)}`])),
    ...feedbackOf(fact).map((line) => `   ${forTerminal(line)}`),
    `   open since ${row['open_since']}${many}${quiet}; notified: ${notifiedWords(row)}; to silence it for a week:`,
    ...newestOfEach(answers).map(({ sink, text }) => `   ${forTerminal(`${sink} answered: ${text}`, maxAnswerShown)}`),
    // Never cut or broken: users paste it.
    `   ${forTerminal(`costbook alerts ack ${shellWord(String(row['alert_key']))} --until ${until}`)}`,
  ].join('\n');
}

/** What people said that the anomaly was. */
function feedbackOf(fact: AlertFact): string[] {
  return fact.kind === 'anomaly' ? feedbackSentences(fact) : [];
}

function describeEnded(row: SqlRow): string {
  const { title } = wordsOf(parseFact(String(row['fact'])));
  return forTerminal(`  ${row['ended_at']}  ${row['ending']}  ${title}  ${row['alert_key']}`);
}

function notifiedWords(row: SqlRow): string {
  const [pending, dead] = [Number(row['pending_messages']), Number(row['dead_messages'])];
  // A message has several alerts: who reads of each must not add them up.
  const words = [
    ...(row['last_delivered_at'] === null ? [] : [String(row['last_delivered_at'])]),
    ...(pending === 0
      ? []
      : [`not delivered yet: ${pending === 1 ? 'a message' : `${pending} messages`} to ${row['pending_sinks']}`]),
    ...(dead === 0 ? [] : [`${dead} given up`]),
  ];
  if (words.length > 0) return words.join(', ');
  if (row['acknowledged_until'] !== null) return 'nobody, because it is silenced';
  return isExplainedByAnomaly(parseFact(String(row['fact'])))
    ? 'in the alert about unusual costs, which says it too'
    : 'nobody';
}

async function resend(key: string, waitMs: number, context: CommandContext): Promise<number> {
  const config = loadAlertingConfig(context);
  await expectBooks(context.dir);
  return writingRun('alerts', waitMs, context, async (warehouse, runNumber) => {
    const kept = await warehouse.lastMessagesAbout(key);
    const known = await warehouse.knownAlerts();
    if (kept.length === 0) {
      const alert = known.find((candidate) => candidate.key === key);
      throw new UsageError(
        alert === undefined
          ? noSuchKey(key, false, known)
          : `no message was ever sent for alert ${key}, so there is nothing to resend`,
      );
    }
    const at = await warehouse.seenAt(context.effects.now());
    const messages = kept.map(({ sink, message }) => {
      const notified = parseStored<Message>(message);
      // Only the requested alert, even if its message held others.
      const entries = notified.entries.filter((entry) => entry.key === key);
      const pictures = notified.pictures?.filter((each) => each.key === key);
      return newMessage(
        sink,
        { ...notified, entries, pictures, at: formatSecond(at), origin: originOf(config, context) },
        undefined,
      );
    });
    await warehouse.recordEvaluation({
      runNumber,
      at,
      raised: [],
      ended: [],
      notified: [],
      acknowledged: [],
      messages,
    });
    const deliveries = await deliverAll(warehouse, runNumber, config, context);
    const outcomes = deliveries.map(({ message: { id, sink }, outcome }) => ({ id, sink, outcome }));
    await context.write(
      context.json
        ? `${JSON.stringify({ key, messages: outcomes })}\n`
        : outcomes.map(({ sink, outcome }) => `${outcome}  → ${sink}\n`).join(''),
    );
    const exitCode = exitCodeOfDeliveries(deliveries);
    return { exitCode, failures: undeliveredIn(deliveries) };
  });
}
