import { fullDiskWords } from '../base/errors.ts';
import { bytesWords } from './bytes.ts';

/** The room on a disk, in bytes. */
export interface Room {
  readonly free: number;
  /** What a run may need. */
  readonly needed: number;
  /** The largest files and folders of the project, largest first; only if the room is not enough. */
  readonly largest?: readonly { readonly path: string; readonly bytes: number }[] | undefined;
}

/** `the disk of this project is almost full: 60 MB free, and a run needs up to 205 MB`. Pure. */
export function roomWords(room: Room): string {
  return `The disk of this project is almost full: ${bytesWords(room.free)} free, and ${neededWords(room)}`;
}

/** What comes of it. */
export const roomFollows =
  'the next run may stop before it loads new costs; none is lost, because a later run loads them';

/** `a run needs up to 205 MB`. Pure. */
export function neededWords({ needed }: Room): string {
  return `a run needs up to ${bytesWords(needed)}`;
}

/** What ends a full disk, an imperative without a full stop: how much to free, if it is known. Pure. */
export function fullDiskRemedy(space: Room | undefined, code: string | undefined = 'disk_full'): string {
  if (code !== 'disk_full' || space === undefined || space.free >= space.needed) return fullDiskWords(code).remedy;
  const [missing, free, needed] = [space.needed - space.free, space.free, space.needed].map(bytesWords);
  return `free ${missing} (delete nothing in data/): ${free} ${free === '1 MB' ? 'is' : 'are'} free, and a run needs up to ${needed}${largestWords(space)}`;
}

/** The same where the room is said already. Pure. */
export function withRoomRemedy(room: Room): string {
  return `before the next run, free at least ${bytesWords(room.needed - room.free)}; delete nothing in data/ yourself${largestWords(room)}`;
}

/** `. The largest in the project folder: exports 70 MB, data/landing 31 MB`; of pages, what deletes old ones. */
function largestWords({ largest = [] }: Room): string {
  if (largest.length === 0) return '';
  const parts = largest.map(({ path, bytes }) => `${path} ${bytesWords(bytes)}`);
  const ofPages = largest.some(({ path }) => path === 'data/landing')
    ? '. Of data/landing, landing: { keepDays: 90 } in costbook.yaml deletes pages after 90 days'
    : '';
  return `. The largest in the project folder, of which you can move to another disk what you need no longer: ${parts.join(', ')}${ofPages}`;
}
