import { messageOf, UsageError } from '../base/errors.ts';
import { formatInstant, hourMs, type Instant, parseDuration, parseRfc3339 } from '../time/time.ts';
import { parseJson } from './bodies.ts';
import type { SentCallback } from './callbacks.ts';
import { type Fault, parseFaults } from './fault-plan.ts';
import { invalid, notFound, Refusal } from './refusal.ts';
import { json, type Reply } from './reply.ts';
import type { SeenRequest } from './server.ts';

/** Where the emulator itself is controlled, with a token of its own. */
export const controlPath = '/_control';

/** A change of the past: the usage of these hours is multiplied. */
export interface Restated {
  /** Inclusive. */
  readonly start: Instant;
  /** Exclusive. */
  readonly end: Instant;
  readonly factor: number;
  /** Undefined for every resource. */
  readonly resourceName?: string | undefined;
}

/** Control of a running emulator, for tests; over HTTP below `/_control` as well. */
export interface Control {
  now(): Instant;
  /** Sets the clock, which runs on from there. */
  setNow(instant: Instant): void;
  /** Moves the clock. */
  advance(ms: number): void;
  /** Replaces the faults; the seed stays if none is given. */
  planFaults(faults: readonly Fault[], seed?: number): void;
  restate(restated: Restated): void;
  /** Forgets what clients did, the requests, restatements, and changes of clock and faults. */
  reset(): void;
}

/** What a request to the control path reads. */
export interface ControlParts {
  readonly control: Control;
  readonly token: string;
  readonly faults: () => { readonly faults: readonly Fault[]; readonly seed: number };
  readonly requests: readonly SeenRequest[];
  readonly callbacks: readonly SentCallback[];
}

/** Answers a request below `/_control`. Refuses with 401 another token, 404 and 400. */
export function answerControl(
  { control, token, faults, requests, callbacks }: ControlParts,
  request: {
    readonly method: string;
    readonly target: string;
    readonly authorization: string | undefined;
    readonly body: Buffer;
  },
): Reply {
  if (request.authorization !== `Bearer ${token}`) {
    throw new Refusal(401, 'unauthorized', 'The control path needs the control token');
  }
  const { pathname, searchParams } = new URL(request.target, 'http://emulator');
  const state = () => json({ now: formatInstant(control.now()), ...faults(), requests: requests.length });
  switch (`${request.method} ${pathname.slice(controlPath.length)}`) {
    case 'GET ':
      return state();
    case 'GET /requests':
      return json(newest(requests, searchParams).map((seen) => ({ ...seen, at: formatInstant(seen.at) })));
    case 'GET /callbacks':
      return json(newest(callbacks, searchParams));
    case 'POST /clock':
      moveClock(control, fieldsOf(request.body, ['now', 'advance']));
      return state();
    case 'POST /faults':
      planFrom(control, fieldsOf(request.body, ['faults', 'seed']));
      return state();
    case 'POST /restate':
      control.restate(restatedFrom(fieldsOf(request.body, ['startTime', 'endTime', 'factor', 'resourceName'])));
      return state();
    case 'POST /reset':
      control.reset();
      return state();
    default:
      throw notFound(
        `${controlPath} has GET (state), GET /requests, GET /callbacks, POST /clock, POST /faults, POST /restate and POST /reset`,
      );
  }
}

function newest<Entry>(entries: readonly Entry[], parameters: URLSearchParams): readonly Entry[] {
  const limit = Number(parameters.get('limit') ?? entries.length);
  if (!Number.isInteger(limit) || limit < 0) throw invalid('invalid_parameter', 'limit is not a whole number');
  return limit === 0 ? [] : entries.slice(-limit);
}

type Fields = Readonly<Record<string, unknown>>;

function fieldsOf(body: Buffer, known: readonly string[]): Fields {
  const fields = parseJson(body);
  if (typeof fields !== 'object' || fields === null || Array.isArray(fields)) {
    throw invalid('invalid_body', `The body is not an object with ${known.join(', ')}`);
  }
  const unknown = Object.keys(fields).filter((name) => !known.includes(name));
  if (unknown.length > 0) throw invalid('invalid_body', `${unknown.join(', ')}: expected ${known.join(', ')} only`);
  return fields as Fields;
}

function moveClock(control: Control, { now, advance }: Fields): void {
  if ((now === undefined) === (advance === undefined)) {
    throw invalid('invalid_body', 'expected either now (an instant) or advance (a duration such as 3h)');
  }
  if (now !== undefined) {
    control.setNow(instantOf('now', now));
    return;
  }
  const ms = parseDuration(String(advance));
  if (ms === undefined) throw invalid('invalid_body', `advance: found ${JSON.stringify(advance)}, expected such as 3h`);
  control.advance(ms);
}

function instantOf(name: string, value: unknown): Instant {
  const instant = typeof value === 'string' ? parseRfc3339(value) : undefined;
  if (instant !== undefined) return instant;
  throw invalid('invalid_body', `${name}: found ${JSON.stringify(value)}, expected such as 2026-10-01T00:00:00Z`);
}

function planFrom(control: Control, { faults, seed }: Fields): void {
  if (typeof faults !== 'string') {
    throw invalid('invalid_body', 'faults: expected a text such as "429=0.2,reset", or "" for none');
  }
  if (seed !== undefined && !Number.isSafeInteger(seed)) throw invalid('invalid_body', 'seed: expected a whole number');
  try {
    control.planFaults(parseFaults(faults), seed as number | undefined);
  } catch (error) {
    if (error instanceof UsageError) throw invalid('invalid_body', messageOf(error));
    throw error;
  }
}

function restatedFrom({ startTime, endTime, factor, resourceName }: Fields): Restated {
  const [start, end] = [instantOf('startTime', startTime), instantOf('endTime', endTime)];
  if (start % hourMs !== 0 || end % hourMs !== 0 || end <= start) {
    throw invalid('invalid_body', 'startTime and endTime: expected full hours, the end after the start');
  }
  if (typeof factor !== 'number' || !(factor >= 0 && factor <= 1000)) {
    throw invalid('invalid_body', `factor: found ${JSON.stringify(factor)}, expected a number from 0 to 1000`);
  }
  if (resourceName !== undefined && typeof resourceName !== 'string') {
    throw invalid('invalid_body', 'resourceName: expected a text');
  }
  return { start, end, factor, resourceName };
}
