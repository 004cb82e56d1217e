import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import { afterFile } from './clean-up.ts';
import { listen } from './listen.ts';

/** A call of a method of Slack's API, or an upload, whose method is `upload`. */
export interface SlackCall {
  readonly method: string;
  readonly headers: IncomingHttpHeaders;
  readonly bytes: Buffer;
  /** The content as JSON or as a form. */
  readonly content: Readonly<Record<string, unknown>>;
}

type SlackReply = (response: ServerResponse) => unknown;

export interface SlackServer {
  /** For `apiUrl`. */
  readonly apiUrl: string;
  readonly calls: SlackCall[];
  /** The next replies of a method; without one, it succeeds as Slack's does. */
  readonly replies: Record<string, SlackReply[]>;
  methods(): string[];
}

/** An answer of Slack with status 200. */
export function answers(content: Readonly<Record<string, unknown>>): SlackReply {
  return (response) => response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(content));
}

/** The methods of Slack's API that Costbook calls, as Slack documents them. */
export async function startSlack(): Promise<SlackServer> {
  const calls: SlackCall[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const bytes = Buffer.concat(chunks);
      const method = /^\/api\/(.+)$/.exec(request.url ?? '')?.[1] ?? 'upload';
      calls.push({ method, headers: request.headers, bytes, content: contentOf(request.headers, bytes) });
      (slack.replies[method]?.shift() ?? usual[method])?.(response);
    });
  });
  const base = `http://127.0.0.1:${await listen(server)}`;
  afterFile(() => {
    server.close();
    server.closeAllConnections();
  });
  const usual: Readonly<Record<string, SlackReply>> = {
    'chat.postMessage': answers({ ok: true, channel: 'C0TRUEID', ts: '1503435956.000247', message: { text: 'x' } }),
    'files.getUploadURLExternal': answers({ ok: true, upload_url: `${base}/upload/v1/ABC`, file_id: 'F0123' }),
    upload: (response) => response.writeHead(200).end('OK - 1'),
    'files.completeUploadExternal': answers({ ok: true, files: [{ id: 'F0123' }] }),
  };
  const slack: SlackServer = {
    apiUrl: `${base}/api`,
    calls,
    replies: {},
    methods: () => calls.map(({ method }) => method),
  };
  return slack;
}

function contentOf(headers: IncomingHttpHeaders, bytes: Buffer): Readonly<Record<string, unknown>> {
  const type = headers['content-type'] ?? '';
  if (type.startsWith('application/json')) return JSON.parse(bytes.toString());
  return type.startsWith('application/x-www-form') ? Object.fromEntries(new URLSearchParams(bytes.toString())) : {};
}
