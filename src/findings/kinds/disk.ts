import { act } from '../../base/next-step.ts';
import { type Room, roomWords, withRoomRemedy } from '../../text/full-disk.ts';
import { spaceOf } from '../../warehouse/integrity/index.ts';
import { type Finding, findingOf } from '../finding.ts';
import type { DataKind } from '../kind.ts';

/** The disk of the project has less room than a run may need. A disk that was full is a finding of the kind `run`. */
export type DiskFact = Finding<'disk'> & Room;

export const disk: DataKind<DiskFact, Room> = {
  name: 'disk',
  read: async (_, { dir }) => (dir === undefined ? [] : [await spaceOf(dir)]),
  findings: (rows, { completeThrough }) =>
    rows
      .filter(({ free, needed }) => free < needed)
      .map(({ free, needed, largest }) => ({
        ...findingOf('disk', ['room'], { account: null, severity: 'warning', completeThrough }),
        ...{ free, needed, largest },
      })),
  words: (fact) => ({
    title: roomWords(fact),
    sentences: ['The next run may stop before it loads new costs. None is lost, because a later run loads them.'],
  }),
  over: () => ({ title: 'the disk of this project has room for a run again', sentences: [] }),
  step: (fact) => act(`${withRoomRemedy(fact)}.`),
  isRefreshed: true,
};
