import type { EmailSettings } from '../../config/index.ts';
import { forMail } from '../../text/safe-text.ts';
import { type OutgoingMessage, plainText, subjectOf } from '../message.ts';
import { type DrawnPicture, drawnPictures } from './drawn-pictures.ts';
import { mailHtml } from './mail-html.ts';
import type { SendMessage, SinkEffects } from './sink.ts';
import { sendMail } from './smtp.ts';
import { pinAddress, TargetFault } from './target.ts';

/** Characters of a subject that mail clients show. */
const maxSubject = 150;
/** A mail with pictures has at most this many bytes. */
const maxMailBytes = 300_000;

/**
 * A message as mail (MIME): plain text, and HTML with its pictures inside, as many as fit. Equal messages give equal
 * bytes. The Message-ID is the message's id, so that clients recognize repeats.
 */
export async function mailOf(
  message: OutgoingMessage,
  from: string,
  to: readonly string[],
  pictures: readonly DrawnPicture[],
): Promise<Buffer> {
  const mail = await composed(message, from, to, pictures);
  return mail.length <= maxMailBytes || pictures.length === 0 ? mail : mailOf(message, from, to, pictures.slice(0, -1));
}

async function composed(
  message: OutgoingMessage,
  from: string,
  to: readonly string[],
  pictures: readonly DrawnPicture[],
): Promise<Buffer> {
  const domain = from.slice(from.lastIndexOf('@') + 1);
  const cidOf = (index: number) => `picture-${index + 1}.${message.id}@${domain}`;
  const { default: MailComposer } = await import('nodemailer/lib/mail-composer');
  const composer = new MailComposer({
    from: { name: 'Costbook', address: from },
    to: to.map((address) => ({ name: '', address })),
    subject: forMail(subjectOf(message), maxSubject),
    date: new Date(message.at),
    messageId: `<${message.id}@${domain}>`,
    headers: { 'Auto-Submitted': 'auto-generated' },
    text: plainText(message, forMail),
    html: mailHtml(message, pictures, (_, index) => `cid:${cidOf(index)}`),
    attachments: pictures.map(({ png }, index) => ({
      ...{ filename: `costbook-${index + 1}.png`, content: png, contentType: 'image/png' },
      ...{ cid: cidOf(index), contentDisposition: 'inline' },
    })),
    textEncoding: 'base64',
    // Not random, so that a repeat has the same bytes.
    baseBoundary: message.id,
    // Only what is passed here is sent.
    disableFileAccess: true,
    disableUrlAccess: true,
    newline: 'windows',
  });
  return composer.compile().build();
}

/** Opens a sink that sends mail through a mail server. */
export function openEmail(settings: EmailSettings, { log, signal }: SinkEffects): SendMessage {
  const { host, port, tls, user, password, from, to, allowPrivateNetwork } = settings;
  const credentials = user === undefined || password === undefined ? undefined : { user, password };
  return async (message) => {
    try {
      const pinned = await pinAddress(host, allowPrivateNetwork);
      if (tls === 'none' && !pinned.isPrivate) {
        throw new TargetFault(`${host} is a public address, which requires TLS`);
      }
      const data = await mailOf(message, from, to, await drawnPictures(message, log));
      return await sendMail({ host, port, tls, credentials, from, to, data }, pinned, signal);
    } catch (error) {
      if (!(error instanceof TargetFault)) throw error;
      return { outcome: 'refused', reason: error.message, isPassing: error.isPassing };
    }
  };
}
