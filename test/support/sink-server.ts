import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import { afterFile } from './clean-up.ts';
import { listen } from './listen.ts';

/** A message as it came in. */
export interface Told {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  readonly body: WebhookMessage;
}

/** What a webhook is sent, as far as tests look at it; docs/webhook-message.schema.json has all of it. */
export interface WebhookMessage {
  readonly version: number;
  readonly id: string;
  readonly mayBeRepeat: boolean;
  readonly isTest: boolean;
  readonly kind: string;
  readonly subject: string;
  readonly text: string;
  readonly alerts: readonly {
    readonly key: string;
    readonly occurrence: number;
    readonly transition: string;
    readonly fact: Readonly<Record<string, unknown>>;
  }[];
  readonly blocks?: unknown;
}

/** What a server does with a message: says a status, or something worse. */
export type SinkReply = (response: ServerResponse, told: Told, request: IncomingMessage) => unknown;

export interface SinkServer {
  readonly url: string;
  readonly port: number;
  /** Everything received so far, oldest first. */
  readonly told: Told[];
  /** In turn; the last one again and again. */
  replies: SinkReply[];
  close(): Promise<void>;
}

export function says(status: number, headers: Record<string, string> = {}, body = 'SAID-BY-SINK'): SinkReply {
  return (response) => response.writeHead(status, headers).end(body);
}

/** Never answers. */
export const hangs: SinkReply = () => undefined;
/** Takes it whole, and cuts the line before any answer. */
export const cuts: SinkReply = (_, __, request) => request.socket.resetAndDestroy();

/** A real HTTP server on a free port of 127.0.0.1 that takes messages; it ends with the test file. */
export async function startSink(...replies: readonly SinkReply[]): Promise<SinkServer> {
  const told: Told[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString();
      const message: Told = {
        path: request.url ?? '',
        headers: request.headers,
        text,
        body: JSON.parse(text === '' ? '{}' : text) as WebhookMessage,
      };
      told.push(message);
      const reply = sink.replies.length > 1 ? sink.replies.shift() : sink.replies[0];
      (reply ?? says(200))(response, message, request);
    });
  });
  const port = await listen(server);
  const sink: SinkServer = {
    url: `http://127.0.0.1:${port}`,
    port,
    told,
    replies: [...replies],
    async close() {
      server.close();
      server.closeAllConnections();
    },
  };
  afterFile(() => sink.close());
  return sink;
}
