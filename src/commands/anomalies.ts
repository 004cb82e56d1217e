import { type AnomalyFact, anomalyFacts, anomalyWords, readKnownAnomalies } from '../anomalies/index.ts';
import { exitCodes, UsageError } from '../errors.ts';
import { usd } from '../money.ts';
import { completenessOf, describeCompleteness } from '../reports/index.ts';
import { forTerminal } from '../safe-text.ts';
import { folded } from '../terminal/index.ts';
import { dayMs, formatInstant } from '../time.ts';
import { openBooks } from '../warehouse/index.ts';
import type { Command } from './command.ts';
import { optionReader } from './options.ts';

export const anomaliesCommand: Command = {
  name: 'anomalies',
  summary: 'List open and recent anomalies, or explain one: its amount, its drivers and what was deployed before.',
  options: [{ flags: '--explain <key>', summary: 'explain this anomaly; the list has the keys' }],
  examples: [
    'costbook anomalies',
    'costbook anomalies --json',
    'costbook anomalies --explain anomaly/acc_main/research/agent/agent_compute_runtime_gbs/2026-11-15',
  ],
  async run(input, context) {
    const options = optionReader(input, context.effects.now());
    const key = options.text('explain');
    options.check();
    const books = await openBooks(context.dir, { lockedDown: true, signal: context.signal });
    try {
      const state = await completenessOf(books.connection);
      const { completeThrough, settledThrough } = state;
      const from = Date.parse(completeThrough ?? formatInstant(context.effects.now())) - recentDays * dayMs;
      // One that is asked for by its key may be of any time.
      const rows = await readKnownAnomalies(books.connection, key === undefined ? formatInstant(from) : '1970-01-01');
      const all = anomalyFacts(rows, new Map(), { notify: [], completeThroughOf: () => completeThrough });
      const facts =
        key === undefined
          ? all.toSorted(byUrgency)
          : all.filter((fact) => fact.key === key || (fact.parts ?? []).some((part) => part.key === key));
      if (key !== undefined && facts.length === 0) {
        throw new UsageError(
          `--explain: no anomaly has the key ${key}. "costbook anomalies" lists open and recent ones; corrected costs may have removed it`,
        );
      }
      if (context.json) {
        await context.write(`${JSON.stringify({ completeThrough, settledThrough, anomalies: facts.map(toJson) })}\n`);
      } else {
        const words = key === undefined ? facts.map(lineOf) : facts.map(explained);
        const shown = words.length === 0 ? none : words.join('\n\n');
        await context.write(`${folded(shown, context.layout)}\n\n${describeCompleteness(state)}\n`);
      }
      return exitCodes.done;
    } finally {
      books.close();
    }
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
function toJson(fact: AnomalyFact): object {
  const { notify: _sinks, kind: _kind, state: _state, completeThrough: _through, notice: _notice, ...anomaly } = fact;
  return { title: anomalyWords(fact).title, ...anomaly };
}

function lineOf(fact: AnomalyFact): string {
  const state = fact.isOver ? 'over' : 'open';
  return [
    `${usd(fact.impact, true)}  ${state}, ${fact.severity}  ${anomalyWords(fact).title}`,
    // Never cut: users copy it to --explain.
    `   ${fact.key}`,
  ]
    .map((line) => forTerminal(line))
    .join('\n');
}

function explained(fact: AnomalyFact): string {
  const { title, sentences, next, fields, list } = anomalyWords(fact);
  return [
    title,
    ...sentences,
    ...(next === undefined ? [] : [`→ ${next}`]),
    ...fields.map(({ label, value }) => `${label}: ${value}`),
    ...(list === undefined ? [] : [`${list.label}:`, ...list.items.map((item) => `  - ${item}`)]),
    fact.key,
  ]
    .map((line) => forTerminal(line))
    .join('\n');
}
