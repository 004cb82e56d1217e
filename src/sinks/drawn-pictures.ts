import type { Log } from '../base/effects.ts';
import { messageOf } from '../base/errors.ts';
import type { OutgoingMessage } from './message.ts';

/** A picture of a message, ready to be sent. */
export interface DrawnPicture {
  /** The key of its alert; null if it belongs to the summary. */
  readonly key: string | null;
  readonly png: Buffer;
  readonly title: string;
  /** What it shows, for people who do not see it. */
  readonly alternative: string;
  /** In CSS pixels; the picture has more, for screens with a high resolution. */
  readonly width: number;
  readonly height: number;
}

/** A message has at most this many pictures. */
const maxPictures = 3;

/**
 * Draws the pictures of a message. One that cannot be drawn is left out, and the log says why: no picture may stop a
 * message.
 */
export async function drawnPictures(
  { id, pictures = [] }: OutgoingMessage,
  log: Pick<Log, 'warn'>,
): Promise<readonly DrawnPicture[]> {
  const drawn: DrawnPicture[] = [];
  for (const { key, picture } of pictures.slice(0, maxPictures)) {
    try {
      const { pictureToPng, pictureSize, wordsOf } = await import('../charts/index.ts');
      const png = await pictureToPng(picture);
      drawn.push({ key, png, title: picture.title, alternative: wordsOf(picture), ...pictureSize });
    } catch (error) {
      log.warn('alert.no_picture', 'Sent a message without a picture', {
        messageId: id,
        key,
        reason: messageOf(error),
      });
    }
  }
  return drawn;
}

/** The address of a picture in a file that opens by itself. */
export function dataAddress({ png }: DrawnPicture): string {
  return `data:image/png;base64,${png.toString('base64')}`;
}
