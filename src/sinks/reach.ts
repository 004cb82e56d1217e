import { connect as connectPlain, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { pinAddress, TargetFault } from './target.ts';
import { timeLimited } from './time-limit.ts';

const timeLimitMs = 10_000;

/** Where a sink is. */
export interface Place {
  readonly host: string;
  readonly port: number;
  /** Whether it speaks TLS from the first byte. */
  readonly isTls: boolean;
  readonly allowPrivateNetwork: boolean;
}

/**
 * Checks that a sink can be reached, without sending a message: name, address, port and, for TLS, the certificate.
 * Returns undefined if it can, otherwise why not, without secrets. Throws the signal's reason.
 */
export async function placeFault(
  { host, port, isTls, allowPrivateNetwork }: Place,
  signal: AbortSignal,
): Promise<string | undefined> {
  const limit = timeLimited(signal, timeLimitMs);
  let socket: Socket | undefined;
  try {
    const { address } = await pinAddress(host, allowPrivateNetwork);
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
