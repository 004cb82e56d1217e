import { presentCheckCode } from '../check-codes.ts';

type Scalar = string | number | boolean | null;
type Values = Readonly<Record<string, Scalar | readonly (string | Readonly<Record<string, Scalar>>)[]>>;

/** An event as the journal stores it: with today's names, or those before the migration 0006_plain_names. */
export interface EarlierEvent {
  readonly number: number;
  readonly event: string;
  readonly values: Values;
}

const events: Readonly<Record<string, string>> = {
  proofs: 'window_reconciled',
  account_is: 'account_changed',
  allocation_is: 'allocation_changed',
  past_asked: 'past_verified',
};

const keys: Readonly<Record<string, string>> = {
  because: 'reason',
  reading: 'attempt',
  proofs: 'reconciliations',
  amounts: 'row_count',
  compared: 'check_code',
  told: 'notified',
  is_told: 'is_notified',
  told_day: 'notified_day',
};

/** Values that earlier events do not have: only a sentence contained them. */
const noFailure: Values = { error_code: null, next_step: null };
const added: Readonly<Record<string, Values>> = {
  window_read: { cost_difference: null },
  run_ended: noFailure,
  step_ended: noFailure,
  listing_read: { next_step: null, shortfall: null },
};

/** Values that are names of a command or step, by their keys. */
const names: readonly string[] = ['step', 'command', 'command_line', 'alert_key'];

/** Values that are JSON documents. */
const documents: readonly string[] = ['fact', 'message'];

/**
 * Translates an event to today's names. A journal is never rewritten, so older events keep the names that they were
 * written with. Pure.
 */
export function withPresentNames({ number, event, values }: EarlierEvent): EarlierEvent {
  // In a close it is a SHA-256, in a message the name of a summary.
  const all = { ...keys, digest: event === 'month_closed' ? 'sha256' : 'summary' };
  return { number, event: presentWord(events, event), values: { ...added[event], ...renamed(values, all) } };
}

/** Looks a name up in a table; returns it unchanged if it is not there. */
function presentWord(table: Readonly<Record<string, string>>, name: string): string {
  return (Object.hasOwn(table, name) ? table[name] : undefined) ?? name;
}

function renamed(values: Values, table: Readonly<Record<string, string>>): Values {
  return Object.fromEntries(
    Object.entries(values).map(([key, value]): [string, Values[string]] => [
      presentWord(table, key),
      presentValue(key, value, table),
    ]),
  );
}

function presentValue(key: string, value: Values[string], table: Readonly<Record<string, string>>): Values[string] {
  if (typeof value === 'string') {
    if (documents.includes(key)) return presentDocument(value);
    if (key === 'kind' && value === 'digest') return 'summary';
    if (key === 'compared') return presentCheckCode(value);
    if (key === 'question') return value.replace(' by ', '_by_');
    return names.includes(key) ? presentName(value) : value;
  }
  if (typeof value !== 'object' || value === null) return value;
  return value.map((entry) =>
    typeof entry === 'string' ? entry : (renamed(entry, table) as Readonly<Record<string, Scalar>>),
  );
}

/** Translates `digest`, `digest --period monthly` and `run/digest`. */
function presentName(name: string): string {
  return name.replace(/^(run\/)?digest(?= |$)/, '$1summarize');
}

/** A key is followed by a colon; inside a text its quotes would be escaped. */
function presentDocument(json: string): string {
  return json
    .replaceAll('"because":', '"reason":')
    .replaceAll('"lacking":', '"gaps":')
    .replaceAll('"run/digest"', '"run/summarize"')
    .replaceAll('"command":"digest"', '"command":"summarize"')
    .replaceAll('"kind":"digest"', '"kind":"summary"')
    .replaceAll('"digest":', '"summary":');
}
