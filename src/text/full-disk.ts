import { fullDiskWords } from '../base/errors.ts';
import { bytesWords } from './bytes.ts';

/** The room on a disk, in bytes. */
interface Room {
  readonly free: number;
  readonly needed: number;
}

/** What ends a full disk, an imperative without a full stop: how much to free, if it is known. Pure. */
export function fullDiskRemedy(space: Room | undefined, code: string | undefined = 'disk_full'): string {
  if (code !== 'disk_full' || space === undefined || space.free >= space.needed) return fullDiskWords(code).remedy;
  const [missing, free, needed] = [space.needed - space.free, space.free, space.needed].map(bytesWords);
  return `free ${missing} (delete nothing in data/): ${free} ${free === '1 MB' ? 'is' : 'are'} free, and a run needs up to ${needed}`;
}
