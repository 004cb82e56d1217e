import { connect as connectPlain, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { isActing, type SinkSettings } from '../../config/index.ts';
import { pinAddress, TargetFault } from './target.ts';
import { timeLimited } from './time-limit.ts';

const timeLimitMs = 10_000;

/**
 * Checks that a sink can be reached, without sending a message: name, address, port and, for TLS, the certificate.
 * Returns undefined if it can, otherwise why not, without secrets. A sink on the platform is not checked here. Throws the
 * signal's reason.
 */
export async function sinkFault(settings: SinkSettings, signal: AbortSignal): Promise<string | undefined> {
  if (settings.type === 'log' || isActing(settings)) return undefined;
  const isMail = settings.type === 'email';
  const target = isMail ? undefined : new URL('apiUrl' in settings ? settings.apiUrl : settings.url);
  const host = isMail ? settings.host : (target?.hostname ?? '');
  const isTls = isMail ? settings.tls === 'implicit' : target?.protocol === 'https:';
  const port = isMail ? settings.port : Number(target?.port || (isTls ? 443 : 80));
  const limit = timeLimited(signal, timeLimitMs);
  let socket: Socket | undefined;
  try {
    const { address } = await pinAddress(host, settings.allowPrivateNetwork);
    await new Promise<void>((resolve, reject) => {
      limit.signal.throwIfAborted();
      limit.signal.addEventListener('abort', () => reject(limit.signal.reason), { once: true });
      socket = isTls
        ? connectTls({ host: address, port, servername: host.replace(/^\[|\]$/g, '') }, resolve)
        : connectPlain({ host: address, port }, resolve);
      socket.on('error', reject);
    });
    return undefined;
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof TargetFault) return error.message;
    if (limit.signal.aborted) return `${host}:${port} did not answer within ${timeLimitMs / 1000} s`;
    return `${host}:${port} could not be reached (${(error as NodeJS.ErrnoException).code ?? 'unknown error'})`;
  } finally {
    limit.over();
    socket?.destroy();
  }
}
