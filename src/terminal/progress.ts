import type { Log } from '../effects.ts';

/** A command that ends sooner shows nothing: nobody has begun to wonder. */
const quietMs = 2000;
/** How often the live line is drawn, where it says something new. */
const drawMs = 200;
/** How often a log says so where nothing else was said. */
const lineEveryMs = 10_000;

/** Where a command shows that it is at work. */
export interface ProgressPlace {
  readonly command: string;
  /** Draws one live line in the place of the last one; undefined where stderr is no terminal, and the log says it. */
  readonly draw: ((line: string) => void) | undefined;
  readonly log: Log;
  /** The request that is waited for, where it has taken a while. */
  waitingFor(): string | undefined;
  /** When anything was last said, by the same clock as `elapsed`. */
  lastWroteAt(): number;
  /** Milliseconds of real time; it goes on where the books' own now is fixed. */
  elapsed(): number;
}

export interface Progress {
  /** What is being done, and how far it is; the next words take the place of these. '' says only for how long. */
  show(words: string): void;
  /** Shows nothing until what is awaited is there: a person is asked for something. */
  quiet<T>(awaited: () => Promise<T>): Promise<T>;
  end(): void;
}

/** Shows from two seconds on that a command is at work: with a live line, or with a line of the log every ten seconds. */
export function openProgress({ command, draw, log, waitingFor, lastWroteAt, elapsed }: ProgressPlace): Progress {
  const begun = elapsed();
  let words = '';
  let isQuiet = false;
  let drawnAt = 0;
  function tick(): void {
    const at = elapsed();
    if (isQuiet) return;
    if (draw === undefined) {
      if (at - Math.max(begun, lastWroteAt()) >= lineEveryMs) {
        const waiting = waitingFor();
        log.info('work.continues', 'Still working', {
          ...(words === '' ? {} : { on: words }),
          ...(waiting === undefined ? {} : { waitingFor: waiting }),
          seconds: Math.floor((at - begun) / 1000),
        });
      }
    } else if (at - Math.max(begun + quietMs, drawnAt + drawMs) >= 0) {
      drawnAt = at;
      const waiting = waitingFor();
      // Somebody who waits wants to know for whom; the words last: a narrow terminal cuts the end off.
      const parts = [...(waiting === undefined ? [] : [`waiting for ${waiting}`]), ...(words === '' ? [] : [words])];
      draw([command, duration(at - begun), ...parts].join(' · '));
    }
  }
  const timer = setInterval(tick, draw === undefined ? 1000 : drawMs);
  timer.unref();
  return {
    show(now) {
      words = now;
      tick(); // who computes without a pause lets no timer through
    },
    async quiet(awaited) {
      draw?.('');
      isQuiet = true;
      try {
        return await awaited();
      } finally {
        isQuiet = false;
      }
    },
    end() {
      clearInterval(timer);
      draw?.('');
    },
  };
}

/** `12 s`, `3 min 5 s`. */
function duration(milliseconds: number): string {
  const seconds = Math.floor(milliseconds / 1000);
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}
