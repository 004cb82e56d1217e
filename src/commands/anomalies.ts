import {
  type AnomalyFact,
  type AnomalyRule,
  type AnomalyRules,
  anomalyFacts,
  anomalyWords,
  barsInForce,
  excludedWords,
  exclusionsJson,
  exclusionWords,
  explanationLines,
  loadAnomalyRules,
  readFeedback,
  readKnownAnomalies,
  ruleOf,
  usualRules,
} from '../anomalies/index.ts';
import { exitCodes, UsageError } from '../base/errors.ts';
import { nextWords } from '../base/next-step.ts';
import { budgetsFile } from '../budgets/rules/index.ts';
import { usd } from '../money/money.ts';
import { read } from '../options/read.ts';
import { options } from '../options/table.ts';
import { completenessOf, describeCompleteness } from '../reports/formats/index.ts';
import { folded } from '../terminal/index.ts';
import { forTerminal } from '../text/safe-text.ts';
import { dayMs, formatInstant, type Instant } from '../time/time.ts';
import { withBooks } from '../warehouse/integrity/index.ts';
import type { Command } from './command.ts';

export const anomaliesCommand: Command = {
  name: 'anomalies',
  summary:
    'List open and recent anomalies, or explain one: its amount, its drivers, what was deployed before, its rule and its feedback.',
  examples: [
    'costbook anomalies',
    'costbook anomalies --json',
    'costbook anomalies --explain anomaly/acc_main/research/agent/agent_compute_runtime_gbs/2026-11-15',
  ],
  async run(input, context) {
    const { explain: key } = read(options.anomalies, input, context);
    return withBooks(context.dir, { lockedDown: true, signal: context.signal }, async (books) => {
      const state = await completenessOf(books.connection);
      const { completeThrough, settledThrough } = state;
      const from = Date.parse(completeThrough ?? formatInstant(context.effects.now())) - recentDays * dayMs;
      // One that is asked for by its key may be of any time.
      const rows = await readKnownAnomalies(books.connection, key === undefined ? formatInstant(from) : '1970-01-01');
      const feedback = await readFeedback(books.connection);
      // One that nobody was notified of can be explained too.
      const shown = rows.map((row) => (row.anomaly_key === key ? { ...row, is_notified: true } : row));
      const all = anomalyFacts(shown, new Map(), { notify: [], completeThroughOf: () => completeThrough, feedback });
      const facts =
        key === undefined
          ? all.toSorted(byUrgency)
          : all.filter((fact) => fact.key === key || (fact.parts ?? []).some((part) => part.key === key));
      if (key !== undefined && facts.length === 0) {
        throw new UsageError(
          `--explain: no anomaly has the key ${key}. "costbook anomalies" lists open and recent ones; corrected costs may have removed it`,
        );
      }
      const asked = rows.find((row) => row.anomaly_key === key);
      const [rules, now] = [rulesOf(context.dir), context.effects.now()];
      const rule = asked === undefined ? undefined : ruleOf(asked, rules, feedback);
      const bars = key === undefined ? barsInForce(feedback) : [];
      const exclude = key === undefined ? rules.exclude : [];
      const anomalies = facts.map((fact) => toJson(fact, rule));
      await context.answer(
        {
          completeThrough,
          settledThrough,
          anomalies,
          ...(key === undefined ? { bars, exclusions: exclusionsJson(exclude, now) } : {}),
        },
        () => {
          const words = key === undefined ? facts.map(lineOf) : facts.map((fact) => explained(fact, rule));
          const text = [
            ...(words.length === 0 ? [none] : words),
            ...barWords(bars),
            ...exclusionLines(exclude, now),
          ].join('\n\n');
          return `${folded(text, context.layout)}\n\n${describeCompleteness(state)}\n`;
        },
      );
      return exitCodes.done;
    });
  },
};

/** Anomalies that ended this many days before the last complete hour are listed. */
const recentDays = 35;

const none =
  'No open or recent anomaly. An empty list may mean that "costbook alert" has not run yet: it evaluates anomalies.';

/** Open ones first, then by amount. */
function byUrgency(a: AnomalyFact, b: AnomalyFact): number {
  return Number(a.isOver) - Number(b.isOver) || Math.abs(Number(b.impact)) - Math.abs(Number(a.impact));
}

/** An anomaly without what only its alert needs. */
function toJson(fact: AnomalyFact, rule: AnomalyRule | undefined): object {
  const { notify: _sinks, kind: _kind, state: _state, completeThrough: _through, notice: _notice, ...anomaly } = fact;
  return { title: anomalyWords(fact).title, ...anomaly, ...(rule === undefined ? {} : { rule }) };
}

function lineOf(fact: AnomalyFact): string {
  const state = fact.isOver ? 'over' : 'open';
  return [
    `${usd(fact.impact, true)}  ${state}, ${fact.severity}  ${anomalyWords(fact).title}`,
    ...(fact.excluded === undefined ? [] : [`   ${excludedWords(fact.excluded)}`]),
    // Never cut: users copy it to --explain.
    `   ${fact.key}`,
  ]
    .map((line) => forTerminal(line))
    .join('\n');
}

/** The bars that feedback raised, with what takes each back. */
function barWords(bars: ReturnType<typeof barsInForce>): string[] {
  if (bars.length === 0) return [];
  const lines = bars.flatMap(({ key, as, bar, appliesFrom, scope }) => [
    `  ${scope.billingDimension ?? 'no billing dimension'} of ${scope.resourceType ?? 'no resource type'} in ${scope.workspace ?? 'no workspace'}: above ${usd(bar ?? '0')} a day since ${appliesFrom}, because somebody called this ${as}`,
    `   ${key}`,
  ]);
  const head = 'Bars: days up to these costs are not reported. "costbook alerts ack KEY --as none" takes one back.';
  return [[head, ...lines].map((line) => forTerminal(line)).join('\n')];
}

/** The exclusions of the project, and which no longer act. */
function exclusionLines(exclude: AnomalyRules['exclude'], now: Instant): string[] {
  if (exclude.length === 0) return [];
  const head = 'Exclusions in jobs/budgets.yaml: no alert is sent about these costs.';
  return [[head, ...exclude.map((one) => `  ${exclusionWords(one, now)}`)].map((line) => forTerminal(line)).join('\n')];
}

/** The rules of the project as they are now; the usual ones if its file has mistakes, which "costbook alert" reports. */
function rulesOf(dir: string): AnomalyRules {
  try {
    return loadAnomalyRules(budgetsFile(dir), undefined);
  } catch (error) {
    if (error instanceof UsageError) return usualRules;
    throw error;
  }
}

function explained(fact: AnomalyFact, rule: AnomalyRule | undefined): string {
  const { title, sentences, next, fields, list } = anomalyWords(fact);
  return [
    title,
    ...sentences,
    // Nobody looked for the driver of what nobody was notified of.
    ...(next === undefined || rule?.isNotified === false ? [] : [`→ ${nextWords(next)}`]),
    ...fields.map(({ label, value }) => `${label}: ${value}`),
    ...(list === undefined ? [] : [`${list.label}:`, ...list.items.map((item) => `  - ${item}`)]),
    ...(rule === undefined ? [] : explanationLines(rule, fact.feedback)),
    ...(fact.excluded === undefined ? [] : [excludedWords(fact.excluded)]),
    fact.key,
  ]
    .map((line) => forTerminal(line))
    .join('\n');
}
