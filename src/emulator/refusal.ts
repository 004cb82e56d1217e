import { formatInstant, type Instant } from '../time/time.ts';
import { json, type Reply } from './reply.ts';

/** A request that the platform refuses: becomes an error body (2.14). */
export class Refusal extends Error {
  readonly status: number;
  /** The `error` field. */
  readonly code: string;
  readonly headers: Readonly<Record<string, string>>;
  constructor(status: number, code: string, message: string, headers: Readonly<Record<string, string>> = {}) {
    super(message);
    this.status = status;
    this.code = code;
    this.headers = headers;
  }
}

/** A refusal whose body is `{error: <message>}` alone, as the sandboxes' own API has it (4.8). */
export class BareRefusal extends Refusal {}

/** A refusal of the gateway before the workloads: its body has an object under `error`. */
export class GatewayRefusal extends Refusal {
  readonly action: string;
  constructor(status: number, code: string, message: string, action: string, headers: Refusal['headers'] = {}) {
    super(status, code, message, headers);
    this.action = action;
  }
}

/** The gateway's codes by status; a status without one has the code of the refusal in capitals. */
const gatewayCodes: Readonly<Record<number, string>> = {
  400: 'BAD_REQUEST',
  401: 'AUTHENTICATION_FAILED',
  402: 'USAGE_LIMIT_EXCEEDED',
  403: 'FORBIDDEN',
  404: 'ROUTE_NOT_FOUND',
  413: 'REQUEST_ENTITY_TOO_LARGE',
};

/** The answer that a refusal becomes; with `asObject` in the gateway's form, whatever it is about. */
export function replyOf(refusal: Refusal, { asObject, now }: { asObject: boolean; now: Instant }): Reply {
  const { status, code: error, message, headers } = refusal;
  if (refusal instanceof BareRefusal) return json({ error: message }, status, headers);
  // The public example of an unknown version is a text in each form.
  const isPlain = !asObject || error === 'invalid_api_version';
  if (!(refusal instanceof GatewayRefusal) && isPlain) return json({ error, code: status, message }, status, headers);
  const isGateway = refusal instanceof GatewayRefusal;
  const code = isGateway ? error : (gatewayCodes[status] ?? error.toUpperCase());
  const envelope = {
    ...{ code, message, status },
    action: isGateway ? refusal.action : 'Correct the request.',
    do_not: 'Do not send the same request in a loop.',
    docs_url: 'https://docs.example.com/errors',
    origin: 'platform',
    retryable: status === 429 || status >= 500 || code === 'WORKLOAD_UNAVAILABLE',
    timestamp: formatInstant(now),
  };
  const marks = { 'x-service-source': 'platform', 'x-service-error-code': code };
  return json({ error: envelope }, status, { ...marks, ...headers });
}

/** A refusal with the body of the sandboxes' own API. */
export function bareOf({ status, code, message, headers }: Refusal): BareRefusal {
  return new BareRefusal(status, code, message, headers);
}

/** 404. */
export function notFound(message: string): Refusal {
  return new Refusal(404, 'not_found', message);
}

/** 400 for a parameter or a body. */
export function invalid(code: 'invalid_parameter' | 'invalid_body', message: string): Refusal {
  return new Refusal(400, code, message);
}

/** 403. */
export function denied(message: string): Refusal {
  return new Refusal(403, 'access_denied', message);
}
