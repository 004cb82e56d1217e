import { isIP } from 'node:net';
import { UsageError } from '../../base/errors.ts';
import { quoted } from '../../text/choices.ts';
import { forMail } from '../../text/safe-text.ts';
import { choice, oneOrMore, type Parse, parseText, rule, single, whole, z } from '../../yaml/index.ts';
import { type DrawnPicture, dataAddress, drawnPictures } from '../drawn-pictures.ts';
import { maxSubject, type OutgoingMessage, plainText, subjectOf } from '../message.ts';
import { allowPrivateNetwork, sinkMapping, type Target } from '../settings.ts';
import { opening, type SinkType } from '../sink.ts';

/** Sends mail through a mail server. */
export interface EmailSettings extends Target {
  readonly type: 'email';
  readonly host: string;
  readonly port: number;
  /** starttls: after a plain greeting. implicit: from the first byte. none: never. */
  readonly tls: 'starttls' | 'implicit' | 'none';
  readonly user?: string | undefined;
  readonly password?: string | undefined;
  readonly from: string;
  readonly to: readonly string[];
}

export const email: SinkType<EmailSettings> = {
  role: 'people',
  shape: emailShape,
  secrets: ({ password }) => (password === undefined ? [] : [password]),
  secretKeys: ['password'],
  place: ({ host, port, tls, allowPrivateNetwork: isPrivateAllowed }) => ({
    ...{ host, port, isTls: tls === 'implicit', allowPrivateNetwork: isPrivateAllowed },
  }),
  showsPictures: () => true,
  open: ({ host, port, tls, user, password, from, to, allowPrivateNetwork: isPrivateAllowed }, { log, signal }) =>
    opening(async () => {
      const { pinAddress, TargetFault } = await import('../target.ts');
      const { sendMail } = await import('../smtp.ts');
      const credentials = user === undefined || password === undefined ? undefined : { user, password };
      return async (message) => {
        try {
          const pinned = await pinAddress(host, isPrivateAllowed);
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
    }),
  previews: {
    html: async (message, _, log) => {
      const { mailHtml } = await import('../mail-html.ts');
      return mailHtml(message, await drawnPictures(message, log), dataAddress);
    },
    eml: async (message, { from, to }, log) => mailOf(message, from, to, await drawnPictures(message, log)),
  },
};

function emailShape() {
  const shape = sinkMapping('email', {
    host: single(parseHost),
    port: z.optional(whole(1, 65_535)),
    tls: z._default(choice(['starttls', 'implicit', 'none']), 'starttls'),
    user: z.optional(single(parseLine)),
    password: z.optional(single(parseLine)),
    from: address,
    to: mailAddresses,
    allowPrivateNetwork,
  }).check(
    rule((given, report) => {
      if ('user' in given !== 'password' in given)
        report('found only one of user and password, expected both or none; write the other one');
    }),
  );
  shape.register(z.globalRegistry, { dependentRequired: { user: ['password'], password: ['user'] } });
  return z.pipe(
    shape,
    z.transform((given) => ({ ...given, port: given.port ?? (given.tls === 'implicit' ? 465 : 587) })),
  );
}

/** A text without line breaks or other control characters. */
const parseLine: Parse<string> = (value) => {
  const text = parseText(value, 1024);
  if (/[\p{Cc}]/u.test(text)) throw new UsageError('found a control character, expected none; remove it');
  return text;
};

const parseHost: Parse<string> = (value) => {
  const text = parseText(value, 253);
  if (/^[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?$/.test(text) || isIP(text) !== 0) return text;
  throw new UsageError(`found ${quoted(text)}, expected a host name such as smtp.example.com, without scheme and port`);
};

/** A plain address for SMTP: no display name, quotes or spaces. */
const parseAddress: Parse<string> = (value) => {
  const text = parseText(value, 254);
  if (/^[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]+@[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?$/.test(text)) return text;
  throw new UsageError(`found ${quoted(text)}, expected an address such as finops@example.com`);
};

const address = single(parseAddress);
/** Those who get a mail. */
export const mailAddresses = oneOrMore(address, 'addresses such as [finops@example.com]');

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
  const { mailHtml } = await import('../mail-html.ts');
  const composer = new MailComposer({
    from: { name: 'Costbook', address: from },
    to: to.map((address) => ({ name: '', address })),
    subject: forMail(subjectOf(message), maxSubject),
    date: new Date(message.at),
    messageId: `<${message.id}@${domain}>`,
    headers: { 'Auto-Submitted': 'auto-generated' },
    text: plainText(message, forMail),
    html: mailHtml(message, pictures, (_, index) => `cid:${cidOf(index)}`),
    attachments: [
      ...pictures.map(({ png }, index) => ({
        ...{ filename: `costbook-${index + 1}.png`, content: png, contentType: 'image/png' },
        ...{ cid: cidOf(index), contentDisposition: 'inline' as const },
      })),
      ...(message.attachments ?? []).map(({ name, type, content }) => ({
        ...{ filename: forMail(name), content, contentType: type },
      })),
    ],
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
