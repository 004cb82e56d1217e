/** What to do about a failure or an alert, and whether anybody has to. */
export interface NextStep {
  readonly who: 'Act' | 'Wait' | 'No action needed';
  /** An imperative sentence without capital and with a full stop: `run "costbook repair".` */
  readonly words: string;
  /** The commands that the words name: `repair`, `run nightly`. Left out if they name none. */
  readonly runs?: readonly string[];
  /** Who takes it: `team Data`. Left out if it is the operator of Costbook. */
  readonly by?: string | undefined;
}

/** Who takes a step that names nobody: its commands run where Costbook runs. */
const operator = 'operator of Costbook';

/** A step that somebody must take, and the commands that its words name. */
export function act(words: string, ...runs: readonly string[]): NextStep {
  return runs.length === 0 ? { who: 'Act', words } : { who: 'Act', words, runs };
}

/** Nobody must act: a later run continues. */
export function wait(words: string): NextStep {
  return { who: 'Wait', words };
}

/** What the next run does, until when to wait for it, and what to do if it fails too. */
export function nextRun(does: string, then = "ask the platform's support for the reason"): string {
  return `the next run, within a day, ${does}. If it fails too, ${then}.`;
}

/** The step for files that "costbook repair" heals; `what` follows its name. */
export function repair(what = ''): NextStep {
  return act(`run "costbook repair"${what}.`, 'repair');
}

/** Whether a step names "costbook repair". */
export function isRepair(next: NextStep | null | undefined): boolean {
  return next?.runs?.includes('repair') ?? false;
}

/** A step without secrets. */
export function redactedStep(step: NextStep, redact: (text: string) => string): NextStep {
  return { ...step, words: redact(step.words) };
}

/** Nobody must act. */
export function noAction(words = ''): NextStep {
  return { who: 'No action needed', words };
}

/** `Act (operator of Costbook): run "costbook repair".`, or `Wait: the next run catches up.` */
export function nextWords({ who, words, by = operator }: NextStep): string {
  if (who === 'Act') return `${who} (${by}): ${words}`;
  return words === '' ? `${who}.` : `${who}: ${words}`;
}

/** What somebody else than the operator of Costbook has the operator do: `have the operator of Costbook raise the budget`. */
export function handedOver(words: string, by: string | undefined): string {
  return by === undefined ? words : `have the ${operator} ${words}`;
}

/** The words of a step as a sentence of its own. */
export function stepSentence({ words }: NextStep): string {
  return `${words.slice(0, 1).toUpperCase()}${words.slice(1)}`;
}

/** A text with a full stop, so that the next sentence can follow. */
export function asSentence(text: string): string {
  return /[.!?…]$/.test(text) ? text : `${text}.`;
}

/** Words without their full stop, so that a sentence can go on after them. */
export function asClause(text: string): string {
  return text.endsWith('.') ? text.slice(0, -1) : text;
}

/**
 * A step and after it the command to run again: the one that failed, as its user started it (`ingest`, `run nightly`).
 * Unchanged if the step already names that command, or an ingest, and if nobody must act. Pure.
 */
export function thenAgain(step: NextStep, command: string): NextStep {
  const { who, words, runs = [] } = step;
  if (who !== 'Act' || runs.includes(command) || runs.includes('ingest')) return step;
  return act(`${asClause(words)}. Then run "costbook ${command}" again.`, ...runs, command);
}

/** Whether a later run does what this command line did: a job, an ingest, or alerts. A person starts any other. */
export function isRepeated(commandLine: string): boolean {
  return ['run', 'ingest', 'alert'].includes(commandLine.split(' ')[0] ?? '');
}

/** The step after a command that was killed and that no later run repeats, such as `close 2026-09`. */
export function startAgain(commandLine: string): NextStep {
  return act(`no later run does this by itself. Run "costbook ${commandLine}" again.`, commandLine);
}

/** The next step if the token sees less than before. */
export const reducedAccessStep: NextStep = act(
  'give the account an admin token and run "costbook ingest" again. If it shall keep this token, run "costbook ingest ' +
    '--accept-reduced-access" once: new costs without a resource UUID, such as those of volumes, then have no workspace.',
  'ingest',
);

/** The next step if the platform reports much less than the books. */
export const reducedTotalsStep: NextStep = act(
  'if the token sees less than before, use one that sees everything and run "costbook ingest" again; if the platform ' +
    'lowered its numbers, run "costbook ingest --accept-reduced-access" once to confirm.',
  'ingest',
);

/** The next step if a workspace has another name on the platform. */
export const renamedStep: NextStep = act(
  'ask an admin of the workspaces whether it was renamed. If so, run "costbook ingest --accept-renamed-workspaces" once: its ' +
    'past moves to the new name, and no amount changes. Then write the new name wherever jobs/*.yaml has the old one. If not, ' +
    'use a token that sees the old one and run "costbook ingest".',
  'ingest',
);

/** The next step if more than half of a listing is missing. */
export const shrunkListingStep: NextStep = act(
  'if the resources are gone, run "costbook ingest --accept-shrunk-listings" once, or wait: after three nights Costbook ' +
    'believes the listing. If they are not gone, use a token that sees them and run "costbook ingest" again.',
  'ingest',
);

/** The next step if the token may not read listings. */
export const refusedListingStep: NextStep = act(
  'ask an admin of these workspaces to let the user of this token in, or use a token that may list their resources and has the same role in the account: that role alone does not allow it. Or set inventory: false in costbook.yaml: costs then have no labels, and no owners by them.',
);

/** The next step if the platform refuses the own token of these workspaces. */
export function refusedTokenStep(workspaces: readonly string[]): NextStep {
  const names = workspaces.join(' and ');
  return act(
    `give the token of ${names} in inventory.tokens (costbook.yaml) access to ${workspaces.length === 1 ? 'that workspace' : 'these workspaces'} again, or replace it with one that has it. Then run "costbook ingest".`,
    'ingest',
  );
}

/** The next step if the platform does not take the workspace that a listing is asked for. */
export const unheardWorkspaceStep: NextStep = act(
  'set workspaceHeader in costbook.yaml to the header that names a workspace on this platform, or give each workspace a token in inventory.tokens.',
);

/** The next step if a listing could not be read to its end. */
export const unreadListingStep: NextStep = wait(nextRun('reads the listings again'));

/** The next step if the account's quota or credit is used up (402). */
export const quotaStep: NextStep = act("add credit to the platform's account, or raise its quota.");

/** The next step if the platform failed, and a later request may succeed. */
export const waitForPlatform: NextStep = wait(nextRun('loads what is missing'));

/** The next step if the platform has no agent, job or model of the name that a sink has. */
export const sinkNameStep: NextStep = act(
  'correct the sink in costbook.yaml: the platform has no agent, job or model of that name.',
);

/** The next step for windows that differ from the platform's totals. */
const unprovenStep: NextStep = wait(
  "the next run fetches these hours again, until the third night. If they still differ then, send the platform's " +
    'support what "costbook sql \'from reconciliation where not proven\'" prints.',
);

/** After so many nights, hours that differ are no longer waited for. */
const nightsOfWaiting = 3;

/** A window that differs: on how many nights in a row, and since which of them. */
interface DifferingWindow {
  readonly start: string;
  readonly end: string;
  readonly nights?: number | undefined;
  /** `2026-10-14`. */
  readonly failingSince?: string | undefined;
}

/** The window that has differed on most nights, of several the oldest. Pure. */
export function longestDiffering<T extends Pick<DifferingWindow, 'nights' | 'start'>>(
  windows: readonly T[],
): T | undefined {
  return windows.toSorted((a, b) => (b.nights ?? 0) - (a.nights ?? 0) || (a.start < b.start ? -1 : 1))[0];
}

/** What fetches the hours of an account again that is no longer configured. */
export const configureAgain = 'put it back into costbook.yaml and run "costbook ingest"';

/**
 * The next step for windows of an account that differ: to wait, and after three nights to act; it names the one that is
 * counted. No run fetches an account that is no longer configured. Pure.
 */
export function unprovenStepAfter(windows: readonly DifferingWindow[], { isConfigured = true } = {}): NextStep {
  if (!isConfigured) {
    return act(
      `no run fetches these hours again, because the account is no longer configured: ${configureAgain}.`,
      'ingest',
    );
  }
  const longest = longestDiffering(windows);
  const { nights = 0, failingSince } = longest ?? {};
  if (longest === undefined || nights === 0) return unprovenStep;
  const send = `send the platform's support what "costbook sql 'from reconciliation where not proven'" prints`;
  if (nights >= nightsOfWaiting) {
    const since = failingSince === undefined ? '' : `, since the night of ${failingSince}`;
    return act(`${send}. ${longest.start}/${longest.end} has differed longest${since}: on ${nights} nights.`);
  }
  const left = nightsOfWaiting - nights;
  return wait(
    `the next run fetches these hours again. If they still differ ${left === 1 ? 'then' : `after ${left} more nights`}, ${send}.`,
  );
}

/** The next step if this machine's clock is more than an hour ahead of the platform's, or behind it. */
export const clockStep: NextStep = act(
  'correct this machine\'s clock (NTP), then run "costbook ingest" again.',
  'ingest',
);

/** The next step for checks whose SQL failed. */
export function checkSqlStep(names: readonly string[]): NextStep {
  const files = names.map((name) => `sql/checks/${name}.sql`).join(', ');
  return act(`fix or remove ${files}, then run "costbook check" again.`, 'check');
}

/** The next step for a check that did not finish on this machine. */
export const checkMachineStep: NextStep = act('read the error, then run "costbook check" again.', 'check');
