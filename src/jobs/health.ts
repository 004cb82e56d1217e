import type { RequestListener } from 'node:http';
import { isLoopbackHost } from '../base/addresses.ts';
import { messageOf } from '../base/errors.ts';
import { type Listening, listen } from '../base/listen.ts';

/** The answers by path. */
export type HealthAnswers = Readonly<
  Record<string, () => Promise<{ readonly status: number; readonly type?: string; readonly body: string }>>
>;

/**
 * Serves GET and HEAD for a few paths over plain HTTP. On an address of this machine alone, it answers only to names of this
 * machine: a page of the web may have one that leads here (DNS rebinding). Throws MachineError if the port is not available.
 */
export function serveHealth(
  { host, port }: { readonly host: string; readonly port: number },
  answers: HealthAnswers,
  redact: (text: string) => string,
): Promise<Listening> {
  const isThisMachine = isLoopbackHost(host.includes(':') ? `[${host}]` : host);
  return listen(answerFrom(answers, isThisMachine, redact), { host, port, option: '--health-port' });
}

function answerFrom(answers: HealthAnswers, isThisMachine: boolean, redact: (text: string) => string): RequestListener {
  return (request, response) => {
    const path = (request.url ?? '').replace(/\?.*$/, '');
    const answer = Object.hasOwn(answers, path) ? answers[path] : undefined;
    function send(status: number, type: string, given: string): void {
      const body = redact(given);
      response.writeHead(status, { 'content-type': type, 'content-length': Buffer.byteLength(body) });
      response.end(request.method === 'HEAD' ? undefined : body);
    }
    const plain = 'text/plain; charset=utf-8';
    const asked = `http://${request.headers.host ?? 'localhost'}`;
    if (isThisMachine && !(URL.canParse(asked) && isLoopbackHost(new URL(asked).hostname))) {
      return send(
        421,
        plain,
        'expected localhost or an address of this machine; for others, start with --health-host\n',
      );
    }
    if (answer === undefined) return send(404, plain, `expected one of ${Object.keys(answers).join(', ')}\n`);
    if (request.method !== 'GET' && request.method !== 'HEAD') return send(405, plain, 'expected GET\n');
    answer().then(
      ({ status, type = plain, body }) => send(status, type, body),
      (error: unknown) => send(500, plain, `${messageOf(error)}\n`),
    );
  };
}
