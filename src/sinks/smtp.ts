import { isIP } from 'node:net';
import { Readable } from 'node:stream';
import type { Attempt } from './sink.ts';
import type { PinnedAddress } from './target.ts';
import { timeLimited } from './time-limit.ts';

/** A mail, and the server to send it through. */
export interface Mail {
  readonly host: string;
  readonly port: number;
  readonly tls: 'starttls' | 'implicit' | 'none';
  readonly credentials: { readonly user: string; readonly password: string } | undefined;
  readonly from: string;
  readonly to: readonly string[];
  /** Header and body with CRLF line ends. */
  readonly data: Buffer;
}

/** An error of the library: its own code, the system's code, and the server's reply code. */
interface SmtpError extends Error {
  readonly code?: string | undefined;
  readonly originalCode?: string | undefined;
  readonly command?: string | undefined;
  readonly responseCode?: number | undefined;
}

/** For the whole conversation. */
const timeLimitMs = 20_000;
/** For the farewell of a server that has taken the mail. */
const quitLimitMs = 1000;

/**
 * Sends a mail once, to the checked address of the server. The outcome is refused only if the server certainly did not
 * accept it. Throws only the signal's reason.
 */
export async function sendMail(mail: Mail, pinned: PinnedAddress, signal: AbortSignal): Promise<Attempt> {
  signal.throwIfAborted();
  const { host, credentials, data } = mail;
  const limit = timeLimited(signal, timeLimitMs);
  const ended = limit.signal;
  const { default: SMTPConnection } = await import('nodemailer/lib/smtp-connection');
  const connection = new SMTPConnection({
    host: pinned.address,
    port: mail.port,
    secure: mail.tls === 'implicit',
    requireTLS: mail.tls === 'starttls',
    ignoreTLS: mail.tls === 'none',
    // The certificate must match the name, not the address.
    tls: isIP(host) === 0 ? { servername: host } : {},
    connectionTimeout: timeLimitMs,
    greetingTimeout: timeLimitMs,
    socketTimeout: timeLimitMs,
  });
  let isHandedOver = false;
  const body = Readable.from([data]).on('end', () => {
    isHandedOver = true;
  });
  const failed = new Promise<never>((_, reject) => {
    connection.on('error', reject);
    ended.addEventListener('abort', () => reject(ended.reason), { once: true });
  });
  failed.catch(() => undefined);
  /** Runs one step until it is answered or the connection fails. */
  function step<T>(
    begin: (done: (error: Error | null | undefined, result?: T) => void) => void,
  ): Promise<T | undefined> {
    const answered = new Promise<T | undefined>((resolve, reject) => {
      begin((error, result) => (error ? reject(error) : resolve(result)));
    });
    return Promise.race([answered, failed]);
  }
  try {
    await step((done) => connection.connect(done));
    if (credentials !== undefined) {
      const { user, password } = credentials;
      await step((done) => connection.login({ credentials: { user, pass: password } }, done));
    }
    const sent = await step<{ readonly rejected: readonly string[] }>((done) =>
      connection.send({ from: mail.from, to: [...mail.to] }, body, done),
    );
    connection.quit(); // the server has the message, and need not answer
    setTimeout(() => connection.close(), quitLimitMs).unref();
    const refused = sent?.rejected ?? [];
    return {
      outcome: 'delivered',
      reason:
        refused.length === 0
          ? undefined
          : `${host} did not accept the address${refused.length === 1 ? '' : 'es'} ${refused.join(', ')}`,
    };
  } catch (error) {
    connection.close();
    signal.throwIfAborted();
    if (ended.aborted) {
      const reason = `no answer from ${host} within ${timeLimitMs / 1000} s`;
      return { outcome: isHandedOver ? 'unknown' : 'refused', reason, isPassing: true };
    }
    return faultOf(error as SmtpError, host, isHandedOver);
  } finally {
    limit.over();
  }
}

/** The outcome of a failed conversation. The server's text is never shown, because it may repeat secrets. */
function faultOf(
  { code, command, responseCode, originalCode }: SmtpError,
  host: string,
  isHandedOver: boolean,
): Exclude<Attempt, { outcome: 'delivered' }> {
  if (responseCode !== undefined && responseCode >= 500 && command === 'STARTTLS') {
    const reason = `${host} does not offer STARTTLS, and Costbook does not send mail unencrypted`;
    return { outcome: 'refused', reason, isPassing: false };
  }
  if (responseCode !== undefined && responseCode >= 400) {
    const to = command === undefined || command === 'CONN' ? 'the connection' : isHandedOver ? 'the message' : command;
    return {
      outcome: 'refused',
      reason: `${host} answered ${responseCode} to ${to}`,
      isPassing: responseCode < 500,
    };
  }
  const outcome = isHandedOver ? 'unknown' : 'refused';
  if (code === 'EPROTOCOL') return { outcome, reason: `${host} does not speak SMTP`, isPassing: false };
  if (code === 'EAUTH') {
    return { outcome, reason: `${host} offers no login method that Costbook supports`, isPassing: false };
  }
  const why = originalCode ?? code ?? 'the connection was cut';
  return {
    outcome,
    reason: `no answer from ${host} (${why})`,
    isPassing: code !== 'ETLS' && !/CERT|SELF_SIGNED|UNABLE_TO_VERIFY/.test(why),
  };
}
