import type { EmailSettings } from '../../config/index.ts';
import { forMail } from '../../safe-text.ts';
import { type OutgoingMessage, plainText, subjectOf } from '../message.ts';
import type { SendMessage, SinkEffects } from './sink.ts';
import { sendMail } from './smtp.ts';
import { pinAddress, TargetFault } from './target.ts';

/** Characters of a subject that mail clients show. */
const maxSubject = 150;

/** A message as mail (RFC 5322, UTF-8). The Message-ID is the message's id, so that clients recognise repeats. Pure. */
export function mailOf(message: OutgoingMessage, from: string, to: readonly string[]): string {
  const domain = from.slice(from.lastIndexOf('@') + 1);
  const body = Buffer.from(plainText(message, forMail).replaceAll('\n', '\r\n')).toString('base64');
  return [
    `From: Costbook <${from}>`,
    `To: ${to.join(',\r\n ')}`,
    `Subject: ${encodedWords(forMail(subjectOf(message), maxSubject))}`,
    `Date: ${new Date(message.at).toUTCString().replace('GMT', '+0000')}`,
    `Message-ID: <${message.id}@${domain}>`,
    'Auto-Submitted: auto-generated',
    'MIME-Version: 1.0',
    'Content-Type: text/plain; charset=utf-8',
    'Content-Transfer-Encoding: base64',
    '',
    ...(body.match(/.{1,76}/g) ?? []),
    '',
  ].join('\r\n');
}

/** In base64, these and `Subject: ` fit on one line. */
const maxWordBytes = 39;

/** Encodes a text as RFC 2047 words: no character can end the header, and no line exceeds 76 characters. */
function encodedWords(text: string): string {
  const words: string[] = [];
  let word = '';
  for (const character of text) {
    if (Buffer.byteLength(word + character) > maxWordBytes) {
      words.push(word);
      word = '';
    }
    word += character;
  }
  words.push(word);
  return words.map((part) => `=?utf-8?B?${Buffer.from(part).toString('base64')}?=`).join('\r\n ');
}

/** Opens a sink that sends mail through a mail server. */
export function openEmail(settings: EmailSettings, { signal }: SinkEffects): SendMessage {
  const { host, port, tls, user, password, from, to, allowPrivateNetwork } = settings;
  const credentials = user === undefined || password === undefined ? undefined : { user, password };
  return async (message) => {
    try {
      const pinned = await pinAddress(host, allowPrivateNetwork);
      if (tls === 'none' && !pinned.isPrivate) {
        throw new TargetFault(`${host} is a public address, which requires TLS`);
      }
      return await sendMail(
        { host, port, tls, credentials, from, to, data: mailOf(message, from, to) },
        pinned,
        signal,
      );
    } catch (error) {
      if (!(error instanceof TargetFault)) throw error;
      return { outcome: 'refused', reason: error.message, isPassing: error.isPassing };
    }
  };
}
