import type { LocalConfig } from '../config/index.ts';
import { incidentSinksOf } from '../config/index.ts';
import {
  type AlertFacts,
  type AlertFactsOptions,
  readAlertFacts,
  type Transitions,
  transitionsOf,
} from '../findings/index.ts';
import { completenessOf } from '../reports/formats/index.ts';
import type { Origin } from '../sinks/index.ts';
import { formatSecond, type Instant } from '../time/time.ts';
import type { Connection } from '../warehouse/store/index.ts';
import type { KnownAlert, NewMessage } from '../warehouse/watch/index.ts';
import { maxAlertsOfAgent, messagesOf } from './message.ts';
import { readPictures } from './pictures.ts';
import { asKnown, type UnstoredAlert } from './unstored-alerts.ts';

/** What an evaluation needs besides the books. */
export interface ToEvaluate {
  readonly asked: AlertFactsOptions;
  /** The alerts of the ledger. */
  readonly stored: readonly KnownAlert[];
  /** The alerts that a run sent, and that the ledger could not have. */
  readonly waiting: readonly UnstoredAlert[];
  readonly config: LocalConfig;
  /** The default sinks. */
  readonly everybody: readonly string[];
  readonly origin: Origin;
  /** When it is evaluated, by the clock of the books. */
  readonly at: Instant;
  readonly log: Parameters<typeof readPictures>[3]['log'];
}

/** What was found, what of it is news, and what each sink is sent. */
export interface Evaluated extends AlertFacts {
  readonly transitions: Transitions;
  readonly messages: readonly NewMessage[];
  readonly state: Awaited<ReturnType<typeof completenessOf>>;
  /** The waiting alerts that the ledger still has to store. */
  readonly unstored: readonly UnstoredAlert[];
  /** How many alerts are open afterwards. */
  readonly open: number;
  /** Agents that do not get every alert, with the number of alerts. */
  readonly beyondAgents: readonly { readonly agent: string; readonly count: number }[];
}

/** The one evaluation of alerts: a dry run shows it, a run stores and sends it. Writes nothing. */
export async function evaluateAlerts(
  connection: Connection,
  { asked, stored, waiting, config, everybody, origin, at, log }: ToEvaluate,
): Promise<Evaluated> {
  const unstored = waiting.flatMap((alert) => notStored(alert, stored) ?? []);
  const sent = unstored.map(asKnown);
  const known = [...stored.filter(({ key }) => !sent.some((alert) => alert.key === key)), ...sent];
  const found = await readAlertFacts(connection, known, asked);
  const transitions = transitionsOf(known, found.facts, { now: at, everybody });
  const { entries, raised, ended } = transitions;
  const pictures = await readPictures(connection, entries, config.sinks, { ...asked, forecasts: found.forecasts, log });
  const state = await completenessOf(connection);
  const agents = config.sinks.flatMap(({ name, type }) => (type === 'agent' ? [name] : []));
  const messages = messagesOf(entries, { ...state, at: formatSecond(at), origin }, pictures, {
    agents,
    incidents: incidentSinksOf(config.sinks),
  });
  const open = new Set(known.flatMap(({ isOpen, key }) => (isOpen ? [key] : [])));
  for (const { key } of ended) open.delete(key);
  for (const { key } of raised) open.add(key);
  const beyondAgents = agents
    .map((agent) => ({ agent, count: entries.filter(({ sinks }) => sinks.includes(agent)).length }))
    .filter(({ count }) => count > maxAlertsOfAgent);
  return { ...found, transitions, messages, state, unstored, open: open.size, beyondAgents };
}

/** An alert that was sent without the books, as it will be stored; undefined if a killed run already stored it. */
function notStored(alert: UnstoredAlert, known: readonly KnownAlert[]): UnstoredAlert | undefined {
  const stored = known.find(({ key }) => key === alert.fact.key);
  if (stored === undefined) return { ...alert, occurrence: Math.max(1, alert.occurrence) };
  if (alert.occurrence > stored.occurrence) return alert;
  // Without books, or in an empty file, nothing says which occurrence it is: one that was raised before it is another one.
  const isIt = stored.isOpen || (alert.occurrence > 0 && stored.raisedAt >= Date.parse(alert.state.at));
  return isIt ? undefined : { ...alert, occurrence: stored.occurrence + 1 };
}
