import { readFileSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { afterFile } from './clean-up.ts';
import { listen } from './listen.ts';

/** A mail as it was handed over. */
export interface Mail {
  readonly from: string;
  readonly to: readonly string[];
  /** As it came, with the points that were stuffed into it taken out. */
  readonly data: string;
  readonly isSecure: boolean;
  readonly user: string | undefined;
}

/** What the server does at a step: a line of its own (such as `451 later`), silence, or a cut. */
export type SmtpTrouble = string | 'hang' | 'cut';

export interface SmtpServer {
  readonly port: number;
  readonly mails: Mail[];
  /** Every command line that came in, passwords included. */
  readonly lines: string[];
  /** What goes wrong, by the command (EHLO, MAIL, RCPT:<address>, DATA, END …), so many times. */
  trouble: { readonly at: string; readonly does: SmtpTrouble; times: number }[];
  offers: string[];
  /** Connections that are open now. */
  open: number;
}

const key = readFileSync(new URL('tls/key.pem', import.meta.url));
const cert = readFileSync(new URL('tls/cert.pem', import.meta.url));

/** A real SMTP server on a free port of 127.0.0.1, written from RFC 5321 by hand; it ends with the test file. */
export async function startSmtp({ implicitTls = false } = {}): Promise<SmtpServer> {
  const smtp = {
    port: 0,
    mails: [] as Mail[],
    lines: [] as string[],
    trouble: [] as SmtpServer['trouble'],
    offers: ['STARTTLS', 'AUTH LOGIN PLAIN'],
    open: 0,
  };

  function talk(socket: Socket, isSecure: boolean, greets: boolean): void {
    afterFile(() => socket.destroy());
    let rest = '';
    let from = '';
    let to: string[] = [];
    let user: string | undefined;
    let login: string[] | undefined;
    let isData = false;
    socket.on('error', () => undefined);
    const say = (line: string) => socket.write(`${line}\r\n`);
    /** Whether something else than the right answer was done. */
    function isTroubled(at: string): boolean {
      const found = smtp.trouble.find((trouble) => trouble.at === at && trouble.times > 0);
      if (found === undefined) return false;
      found.times -= 1;
      if (found.does === 'cut') socket.destroy();
      else if (found.does !== 'hang') say(found.does);
      return true;
    }
    function onLine(line: string): void {
      smtp.lines.push(line);
      const [verb = ''] = line.toUpperCase().split(/[ :]/);
      if (login !== undefined) {
        login.push(Buffer.from(line, 'base64').toString());
        if (login.length < 2) return void say('334 UGFzc3dvcmQ6');
        user = login.join(':');
        login = undefined;
        return void say('235 ok');
      }
      const address = /<(.*)>/.exec(line)?.[1] ?? '';
      if (isTroubled(verb) || isTroubled(`${verb}:${address}`)) return;
      if (verb === 'EHLO') {
        say('250-test.example');
        for (const offer of smtp.offers.filter((name) => !(isSecure && name === 'STARTTLS'))) say(`250-${offer}`);
        say('250 8BITMIME');
      } else if (verb === 'STARTTLS' && !smtp.offers.includes('STARTTLS')) say('502 not here');
      else if (verb === 'STARTTLS') {
        say('220 go');
        socket.removeAllListeners('data');
        const secure = new TLSSocket(socket, { isServer: true, key, cert });
        talk(secure, true, false);
      } else if (verb === 'AUTH') {
        const plain = /^AUTH PLAIN (.+)$/.exec(line)?.[1];
        if (plain === undefined) {
          login = [];
          return void say('334 VXNlcm5hbWU6');
        }
        user = Buffer.from(plain, 'base64').toString().split('\0').slice(1).join(':');
        say('235 ok');
      } else if (verb === 'MAIL') {
        from = address;
        to = [];
        say('250 ok');
      } else if (verb === 'RCPT') {
        to.push(address);
        say('250 ok');
      } else if (verb === 'DATA') {
        isData = true;
        say('354 end with a point');
      } else if (verb === 'QUIT') {
        say('221 bye');
        socket.end();
      } else say('502 what?');
    }
    socket.on('data', (chunk) => {
      rest += chunk.toString();
      for (;;) {
        const end = rest.indexOf(isData ? '\r\n.\r\n' : '\r\n');
        if (end === -1) return;
        const text = rest.slice(0, end);
        rest = rest.slice(end + (isData ? 5 : 2));
        if (!isData) onLine(text);
        else {
          isData = false;
          smtp.mails.push({ from, to, data: text.replace(/(^|\r\n)\.\./g, '$1.'), isSecure, user });
          if (!isTroubled('END')) say('250 taken');
        }
      }
    });
    if (greets && !isTroubled('GREETING')) say('220 test.example ESMTP');
  }

  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    smtp.open += 1;
    socket.on('close', () => (smtp.open -= 1));
    afterFile(() => socket.destroy());
    if (implicitTls) talk(new TLSSocket(socket, { isServer: true, key, cert }), true, true);
    else talk(socket, false, true);
  });
  afterFile(() => server.close());
  smtp.port = await listen(server);
  return smtp;
}
