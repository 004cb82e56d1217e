/** A successful answer of the platform; errors are Refusals. */
export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** A JSON value, a text of another type, or nothing. */
  readonly content:
    | { readonly kind: 'json'; readonly value: unknown }
    | { readonly kind: 'text'; readonly type: string; readonly text: string }
    | { readonly kind: 'nothing' };
}

/** A JSON answer; 200 by default. */
export function json(value: unknown, status = 200, headers: Readonly<Record<string, string>> = {}): Reply {
  return { status, headers, content: { kind: 'json', value } };
}

/** An answer without a body. */
export function nothing(status: number, headers: Readonly<Record<string, string>> = {}): Reply {
  return { status, headers, content: { kind: 'nothing' } };
}

/** A stream of server-sent events, each with this data. */
export function eventStream(data: readonly string[], headers: Readonly<Record<string, string>> = {}): Reply {
  const text = data.map((each) => `event: message\ndata: ${each}\n\n`).join('');
  return { status: 200, headers, content: { kind: 'text', type: 'text/event-stream', text } };
}
