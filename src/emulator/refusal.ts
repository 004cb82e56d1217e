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
