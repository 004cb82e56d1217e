import { connect, isIP, type Socket } from 'node:net';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import type { Attempt } from './sink.ts';
import type { PinnedAddress } from './target.ts';
import { timeLimited } from './time-limit.ts';

// A small client of SMTP (RFC 5321) for handing one message to one's own mail server: EHLO, STARTTLS (RFC 3207),
// AUTH PLAIN and LOGIN (RFC 4954), MAIL, RCPT, DATA. Certificates are checked; it neither looks up MX nor relays.

/** A message for a mail server. */
export interface Mail {
  readonly host: string;
  readonly port: number;
  readonly tls: 'starttls' | 'implicit' | 'none';
  readonly credentials: { readonly user: string; readonly password: string } | undefined;
  readonly from: string;
  readonly to: readonly string[];
  /** Header and body with CRLF line ends. */
  readonly data: string;
}

/** From connecting to the last answer. */
const timeLimitMs = 20_000;
/** All that a server may say without the end of an answer. */
const maxAnswerBytes = 64 * 1024;

/** What a server said that ends it, or that it said nothing. */
class SmtpFault extends Error {
  readonly isPassing: boolean;
  constructor(message: string, isPassing: boolean) {
    super(message);
    this.isPassing = isPassing;
  }
}

interface Answer {
  readonly code: number;
  readonly lines: readonly string[];
}

/** Hands a message to a mail server once. Throws only the signal's reason. */
export async function sendMail(mail: Mail, pinned: PinnedAddress, signal: AbortSignal): Promise<Attempt> {
  signal.throwIfAborted();
  const { host } = mail;
  const sockets: Socket[] = [];
  const limit = timeLimited(signal, timeLimitMs);
  const ended = limit.signal;
  let isHandedOver = false;
  function closeAll(): void {
    for (const socket of sockets) socket.destroy();
  }
  ended.addEventListener('abort', closeAll);
  try {
    const plain = connect({ host: pinned.address, port: mail.port, family: pinned.family });
    sockets.push(plain);
    await opened(plain, 'connect', host);
    let socket: Socket = mail.tls === 'implicit' ? await secured(plain, host, sockets) : plain;
    let talk = conversation(socket, host);
    await talk.expect([220], 'the connection');
    let offers = await talk.ask(`EHLO ${clientName(socket)}`, [250], 'EHLO');
    if (mail.tls === 'starttls') {
      if (!hasOffer(offers, 'STARTTLS')) {
        throw new SmtpFault(`${host} offers no STARTTLS: it is told nothing in the clear`, false);
      }
      await talk.ask('STARTTLS', [220], 'STARTTLS');
      // What came in the clear before the handshake must not count as said behind it.
      if (talk.hasRest()) throw new SmtpFault(`${host} said more than it was asked before STARTTLS`, false);
      talk.end();
      socket = await secured(plain, host, sockets);
      talk = conversation(socket, host);
      offers = await talk.ask(`EHLO ${clientName(socket)}`, [250], 'EHLO');
    }
    if (mail.credentials !== undefined) await authenticate(talk, offers, mail.credentials, host);
    await talk.ask(`MAIL FROM:<${mail.from}>`, [250], 'MAIL FROM');
    const refused: string[] = [];
    for (const address of mail.to) {
      try {
        await talk.ask(`RCPT TO:<${address}>`, [250, 251, 252], 'RCPT TO');
      } catch (error) {
        // One address that is gone must not keep the others from being told; one that is put off is tried again.
        if (!(error instanceof SmtpFault) || error.isPassing || mail.to.length === refused.length + 1) throw error;
        refused.push(address);
      }
    }
    await talk.ask('DATA', [354], 'DATA');
    isHandedOver = true;
    try {
      await talk.ask(`${stuffed(mail.data)}\r\n.`, [250], 'the message');
    } catch (error) {
      if (error instanceof SmtpFault && / answered \d{3} /.test(error.message)) isHandedOver = false;
      throw error;
    }
    await talk.ask('QUIT', [221], 'QUIT').catch(() => undefined); // it has the message
    return {
      outcome: 'delivered',
      because:
        refused.length === 0
          ? undefined
          : `${host} did not take the address${refused.length === 1 ? '' : 'es'} ${refused.join(', ')}`,
    };
  } catch (error) {
    signal.throwIfAborted();
    const outcome = isHandedOver ? 'unknown' : 'refused';
    if (ended.aborted) {
      return { outcome, because: `no answer from ${host} within ${timeLimitMs / 1000} s`, isPassing: true };
    }
    if (error instanceof SmtpFault) return { outcome, because: error.message, isPassing: error.isPassing };
    const { code } = error as { code?: unknown };
    const why = typeof code === 'string' ? code : 'the connection was cut';
    return {
      outcome,
      because: `no answer from ${host} (${why})`,
      isPassing: !/CERT|SELF_SIGNED|UNABLE_TO_VERIFY/.test(why),
    };
  } finally {
    ended.removeEventListener('abort', closeAll);
    limit.over();
    closeAll();
  }
}

function opened(socket: Socket, event: 'connect' | 'secureConnect', host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.once(event, resolve);
    socket.once('error', reject);
    socket.once('close', () => reject(new SmtpFault(`${host} ended the connection`, true)));
  });
}

async function secured(plain: Socket, host: string, sockets: Socket[]): Promise<TLSSocket> {
  const socket = connectTls({ socket: plain, host, ...(isIP(host) === 0 ? { servername: host } : {}) });
  sockets.push(socket);
  await opened(socket, 'secureConnect', host);
  return socket;
}

/** Our end of the connection, as RFC 5321 4.1.3 writes an address in the place of a name. */
function clientName({ localAddress = '127.0.0.1' }: Socket): string {
  return isIP(localAddress) === 6 ? `[IPv6:${localAddress}]` : `[${localAddress}]`;
}

function hasOffer({ lines }: Answer, name: string): boolean {
  return lines.some((line) => line.toUpperCase().split(/[ =]/)[0] === name);
}

interface Conversation {
  /** Says a line and waits for an answer. Throws SmtpFault for any other than those expected; it never shows what was said. */
  ask(line: string, codes: readonly number[], what: string): Promise<Answer>;
  expect(codes: readonly number[], what: string): Promise<Answer>;
  hasRest(): boolean;
  /** Leaves the socket to somebody else. */
  end(): void;
}

/** Reads answers, which may have several lines, from a socket. */
function conversation(socket: Socket, host: string): Conversation {
  let rest = '';
  let lines: string[] = [];
  const answers: Answer[] = [];
  let waiting: { resolve(answer: Answer): void; reject(error: unknown): void } | undefined;
  let failure: unknown;

  function fail(error: unknown): void {
    failure ??= error;
    waiting?.reject(failure);
    waiting = undefined;
  }
  function onData(piece: Buffer): void {
    rest += piece.toString('latin1');
    if (rest.length > maxAnswerBytes) {
      fail(new SmtpFault(`${host} does not end its answer`, false));
      return;
    }
    for (let at = rest.indexOf('\n'); at !== -1; at = rest.indexOf('\n')) {
      const line = rest.slice(0, at).replace(/\r$/, '');
      rest = rest.slice(at + 1);
      const [, code, mark, text = ''] = /^(\d{3})([ -]?)(.*)$/.exec(line) ?? [];
      if (code === undefined || lines.length > 1000) {
        fail(new SmtpFault(`${host} does not speak SMTP`, false));
        return;
      }
      lines.push(text);
      if (mark === '-') continue;
      answers.push({ code: Number(code), lines });
      lines = [];
    }
    give();
  }
  function give(): void {
    const answer = waiting === undefined ? undefined : answers.shift();
    if (answer === undefined) return;
    waiting?.resolve(answer);
    waiting = undefined;
  }
  function onClose(): void {
    fail(new SmtpFault(`${host} ended the connection`, true));
  }
  socket.on('data', onData);
  socket.on('error', fail);
  socket.on('close', onClose);

  async function expect(codes: readonly number[], what: string): Promise<Answer> {
    const answer = await new Promise<Answer>((resolve, reject) => {
      if (failure !== undefined) {
        reject(failure);
        return;
      }
      waiting = { resolve, reject };
      give();
    });
    if (codes.includes(answer.code)) return answer;
    throw new SmtpFault(`${host} answered ${answer.code} to ${what}`, answer.code >= 400 && answer.code < 500);
  }
  return {
    ask(line, codes, what) {
      socket.write(`${line}\r\n`);
      return expect(codes, what);
    },
    expect,
    hasRest: () => rest !== '' || lines.length > 0 || answers.length > 0,
    end() {
      socket.removeListener('data', onData);
      socket.removeListener('error', fail);
      socket.removeListener('close', onClose);
    },
  };
}

async function authenticate(
  talk: Conversation,
  offers: Answer,
  { user, password }: { readonly user: string; readonly password: string },
  host: string,
): Promise<void> {
  const methods = offers.lines
    .filter((line) => /^AUTH[ =]/i.test(line))
    .flatMap((line) => line.slice(5).toUpperCase().split(/\s+/));
  const base64 = (text: string) => Buffer.from(text).toString('base64');
  if (methods.includes('PLAIN')) {
    await talk.ask(`AUTH PLAIN ${base64(`\0${user}\0${password}`)}`, [235], 'AUTH');
  } else if (methods.includes('LOGIN')) {
    await talk.ask('AUTH LOGIN', [334], 'AUTH');
    await talk.ask(base64(user), [334], 'AUTH');
    await talk.ask(base64(password), [235], 'AUTH');
  } else throw new SmtpFault(`${host} offers neither AUTH PLAIN nor AUTH LOGIN`, false);
}

/** A line that begins with a point has another one before it (RFC 5321 4.5.2). */
function stuffed(data: string): string {
  return data.replace(/(^|\r\n)\./g, '$1..');
}
