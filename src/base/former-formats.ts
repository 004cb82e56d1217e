/**
 * The formats of journal and landing folder that Costbook once wrote, translated to those of today. Neither is ever
 * rewritten, so `rebuild` and `repair` still read all of them; nothing else of the program knows them:
 *
 * - Events and loads with other names for events, keys and commands, and sentences in place of check codes.
 * - Events, and facts of alerts, without values that were added later.
 * - Failures as one text with a code, and next steps as words: in events, in restored rows, and in facts of alerts.
 * - Lines of the journal without a hash, before the first line that has one (`changeOf` in journal-lines.ts).
 * - Loads without the platform's clock.
 * - Messages without cards.
 */

type Scalar = string | number | boolean | null;
type Values = Readonly<Record<string, Scalar | readonly (string | Readonly<Record<string, Scalar>>)[]>>;

/** An event as the journal stores it, with the names of today or of then. */
export interface StoredEvent {
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

/** Values that some events do not have: a sentence contained them. */
const added: Readonly<Record<string, Values>> = {
  account_changed: { has_ended: null },
  run_began: { command_line: null },
  window_read: { cost_difference: null },
  alerts_evaluated: { refreshed: [] },
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
export function withPresentNames({ number, event, values }: StoredEvent): StoredEvent {
  // In a close it is a SHA-256, in a message the name of a summary.
  const all = { ...keys, digest: event === 'month_closed' ? 'sha256' : 'summary' };
  const name = presentWord(events, event);
  const present = { ...added[name], ...renamed(values, all) };
  return { number, event: name, values: withFailures(event, present) };
}

/** The events, and the tables with restored rows, that have failures, and the name of the text that they had. */
const textOfFailures: Readonly<Record<string, string>> = {
  ...{ run_ended: 'error', step_ended: 'error', account_run: 'error', slot_missed: 'reason' },
  ...{ runs: 'error', steps: 'error', account_runs: 'error' },
};

/** Values of an event with failures, and with next steps, as records. */
function withFailures(event: string, values: Values): Values {
  if (event === 'rows_restored') {
    const rows = Array.isArray(values['rows']) ? (values['rows'] as readonly Values[]) : [];
    return { ...values, rows: rows.map((row) => withFailures(String(values['table']), row)) as Values[string] };
  }
  if (event === 'listing_read' || event === 'listings') {
    const step = stepIn(values['next_step']);
    return step === undefined ? values : { ...values, next_step: JSON.stringify(step) };
  }
  const text = textOfFailures[event];
  if (text === undefined || values[text] === undefined) return values;
  const { [text]: found, error_code: code, next_step: next, ...others } = values;
  return { ...others, failures: found === null ? null : JSON.stringify(failuresIn(found, code, next)) };
}

/** A failure that was stored as text with a code and a step. */
function failuresIn(found: unknown, code: unknown, next: unknown): readonly unknown[] {
  return [{ code: code ?? 'unknown', subject: null, found: String(found), next: stepIn(next) ?? null }];
}

/** A step that was stored as words: `Act: run "costbook repair".` Undefined for a record. */
function stepIn(words: unknown): { readonly who: string; readonly words: string } | undefined {
  const [, who, step] = /^(Act|Wait|No action needed): ([\s\S]+)$/.exec(String(words)) ?? [];
  return who === undefined || step === undefined ? undefined : { who, words: step };
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

type Fact = Record<string, unknown>;
type Entry = { readonly key?: string; readonly fact: Fact; card?: object };
type Document = Fact & { readonly entries?: readonly Entry[] };

/** What a message that waits since before messages had cards says of an alert: where to read it. */
function formerCard(key = ''): object {
  const title = `alert ${key}: "costbook alerts" shows it`;
  return { icon: '⚠', title, sentences: [], fields: [], warnings: [], notes: [], answers: [] };
}

/** What facts of alerts once did not have, by kind. A month of costs that do not match has one alert per account now. */
const addedToFacts: Readonly<Record<string, (fact: Fact) => Fact>> = {
  unproven: ({ month }) => ({ months: [month ?? ''], difference: null, outOfDate: [] }),
  check: ({ check, error }) => ({
    errorCode: typeof error !== 'string' ? null : error.startsWith(`check ${check} `) ? 'machine' : 'sql',
  }),
  run: (fact) => ({ outOfDate: [], ...failuresInFact(fact) }),
  books: (fact) => failuresInFact(fact),
  closed_month: ({ month, differs }) => (differs === undefined ? { billed: [], reopen: [month] } : {}),
};

function failuresInFact({ error, errorCode = null, nextStep = null }: Fact): Fact {
  const failures = error === null || error === undefined ? [] : failuresIn(error, errorCode, nextStep);
  return { failures, errorCode, nextStep };
}

/** A fact of an alert, or a message with such facts, as JSON of the ledger, which may be older than this version. */
export function parseStored<T>(json: string): T {
  const document = JSON.parse(presentDocument(json)) as Document;
  for (const entry of document.entries ?? []) entry.card ??= formerCard(entry.key);
  return document as T;
}

/** Adds to a fact what it does not have; returns whether that is anything. */
function addMissing(fact: Fact): boolean {
  const missing = Object.entries(addedToFacts[String(fact['kind'])]?.(fact) ?? {}).filter(
    ([name]) => fact[name] === undefined,
  );
  Object.assign(fact, Object.fromEntries(missing));
  return missing.length > 0;
}

/** A fact of an alert, or a message with such facts, as JSON. */
function presentDocument(json: string): string {
  const text = withPresentKeys(json);
  const document = parsed(text);
  const changes = [document, ...(document.entries ?? []).map(({ fact }) => fact)].map(addMissing);
  return changes.includes(true) ? JSON.stringify(document) : text;
}

/** A document; without anything if it is none: the ledger takes any text. */
function parsed(text: string): Document {
  try {
    return (JSON.parse(text) ?? {}) as Document;
  } catch {
    return {};
  }
}

/** A key is followed by a colon; inside a text its quotes would be escaped. */
function withPresentKeys(json: string): string {
  return json
    .replaceAll('"because":', '"reason":')
    .replaceAll('"lacking":', '"gaps":')
    .replaceAll('"run/digest"', '"run/summarize"')
    .replaceAll('"command":"digest"', '"command":"summarize"')
    .replaceAll('"kind":"digest"', '"kind":"summary"')
    .replaceAll('"digest":', '"summary":');
}

/** Sentences in place of check codes, and their current codes; `$1` is the query. */
const sentences: readonly (readonly [RegExp, string])[] = [
  [/^pages of (.+) and the rows they leave out = their total$/, 'pages_match_total.$1.with_left_out'],
  [/^pages of (.+) = their total$/, 'pages_match_total.$1'],
  [/^hours of a group = the group \((.+)\)$/, 'hours_match_group.$1'],
  [/^buckets of a group = the group \((.+)\)$/, 'buckets_match_group.$1'],
  [/^groups are named once \((.+)\)$/, 'groups_are_unique.$1'],
  [/^all rows = the total of detail, which leaves some out$/, 'all_rows_match_total.detail'],
  [/^hours = the control$/, 'hours_match_control'],
  [/^rows = the control's total$/, 'rows_match_control'],
  [/^rows without uuid have no negative usage$/, 'usage_is_not_negative'],
  [/^days = the platform's daily totals$/, 'days_match_platform'],
  [/^series = the platform's totals of them$/, 'series_match_platform'],
  [/^names = the platform's totals of them$/, 'names_match_platform'],
  [/^month of a billing dimension = the platform's total$/, 'month_dimension_matches_platform'],
  [/^month = the platform's total$/, 'month_matches_platform'],
];

/** The current check code for a sentence that was stored. Pure. */
function presentCheckCode(compared: string): string {
  for (const [sentence, code] of sentences) {
    if (sentence.test(compared)) return compared.replace(sentence, code).replaceAll(' ', '_');
  }
  return compared;
}

/** Translates a `load.json` to today's names; `platformAt` may be missing in it. Pure. */
export function loadWithPresentNames(record: unknown): Readonly<Record<string, unknown>> {
  if (typeof record !== 'object' || record === null || !('reading' in record)) {
    return record as Readonly<Record<string, unknown>>;
  }
  const { reading, amounts, proofs, ...rest } = record as Record<string, unknown>;
  const reconciliations = Array.isArray(proofs)
    ? proofs.map(({ amounts: rowCount, compared, ...measured }: Record<string, unknown>) => ({
        checkCode: presentCheckCode(String(compared)),
        ...measured,
        rowCount,
      }))
    : proofs;
  return { ...rest, attempt: reading, rowCount: amounts, reconciliations };
}
