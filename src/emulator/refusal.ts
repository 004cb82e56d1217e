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
