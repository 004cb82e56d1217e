import { createHmac } from 'node:crypto';
import { request } from 'node:http';
import { messageOf } from '../base/errors.ts';

/** An answer that goes to a callback address, with the secret that signs it. */
export interface Callback {
  readonly callbackUrl: string;
  readonly callbackSecret: string;
  /** JSON. */
  readonly body: string;
  /** Seconds since 1970 by the emulator's clock. */
  readonly time: number;
}

/** What became of a callback. */
export interface SentCallback {
  readonly url: string;
  /** Undefined if nobody answered or it was not sent. */
  readonly status: number | undefined;
  readonly problem?: string;
}

/** Sends callbacks after the request that asked for them was answered. */
export interface Callbacks {
  send(callback: Callback): void;
  /** The newest thousand. */
  readonly sent: readonly SentCallback[];
  /** Waits for those that are on their way. */
  settle(): Promise<void>;
}

const timeLimitMs = 5_000;
const maxSent = 1_000;

/** An address of this machine: nobody else shall get requests from an emulator. */
export function isLoopback(url: string): boolean {
  if (!URL.canParse(url)) return false;
  const { hostname, protocol } = new URL(url);
  return protocol === 'http:' && (/^127(\.\d{1,3}){3}$/.test(hostname) || ['localhost', '[::1]'].includes(hostname));
}

/** The value of X-Service-Signature: `t=<seconds>,v1=<HMAC-SHA256 of "<seconds>.<body>" in hex>`. */
export function signatureOf({ callbackSecret, body, time }: Omit<Callback, 'callbackUrl'>): string {
  return `t=${time},v1=${createHmac('sha256', callbackSecret).update(`${time}.${body}`).digest('hex')}`;
}

/** Callbacks over HTTP, to loopback addresses only. */
export function openCallbacks(): Callbacks {
  const sent: SentCallback[] = [];
  const pending = new Set<Promise<void>>();

  function record(entry: SentCallback): void {
    sent.push(entry);
    if (sent.length > maxSent) sent.shift();
  }

  function post(callback: Callback): Promise<void> {
    const { callbackUrl: url, body } = callback;
    return new Promise((resolve) => {
      const end = (entry: Omit<SentCallback, 'url'>) => {
        record({ url, ...entry });
        resolve();
      };
      const outgoing = request(
        url,
        {
          method: 'POST',
          agent: false,
          timeout: timeLimitMs,
          headers: {
            'content-type': 'application/json',
            'content-length': Buffer.byteLength(body),
            'x-service-signature': signatureOf(callback),
          },
        },
        (response) => {
          response.resume();
          response.on('close', () => end({ status: response.statusCode }));
        },
      );
      outgoing.on('timeout', () => outgoing.destroy(new Error(`no answer within ${timeLimitMs / 1000} s`)));
      outgoing.on('error', (error) => end({ status: undefined, problem: messageOf(error) }));
      outgoing.end(body);
    });
  }

  return {
    sent,
    send(callback) {
      const { callbackUrl: url } = callback;
      if (!isLoopback(url)) {
        record({ url, status: undefined, problem: 'not sent: it is not an address of this machine' });
        return;
      }
      // After the 202 of the request itself.
      const sending = new Promise((resolve) => setImmediate(resolve)).then(() => post(callback));
      pending.add(sending);
      sending.then(() => pending.delete(sending));
    },
    async settle() {
      await Promise.all(pending);
    },
  };
}
