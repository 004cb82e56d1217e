import type { Log } from '../base/effects.ts';

/** A command that ends sooner shows no progress. */
const quietMs = 2000;
/** How often the live line is redrawn if it changed. */
const drawMs = 200;
/** How often a log line reports progress if nothing else was written. */
const lineEveryMs = 10_000;

/** Where a command shows its progress. */
export interface ProgressPlace {
  readonly command: string;
  /** Replaces the live line; undefined if stderr is not a terminal, and the log reports progress. */
  readonly draw: ((line: string) => void) | undefined;
  readonly log: Log;
  /** The pending request, if it has taken a while. */
  waitingFor(): string | undefined;
  /** When anything was last written, by the same clock as `elapsed`. */
  lastWroteAt(): number;
  /** Real time in milliseconds, also with `--now`. */
  elapsed(): number;
}

export interface Progress {
  /** Sets the progress text; '' shows only the elapsed time. */
  show(words: string): void;
  /** Hides progress while a person is prompted. */
  quiet<T>(awaited: () => Promise<T>): Promise<T>;
  end(): void;
}

/** After two seconds, shows that a command is running: with a live line, or with a log line every ten seconds. */
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
      // The pending request comes before the text, because a narrow terminal cuts off the end.
      const parts = [...(waiting === undefined ? [] : [`waiting for ${waiting}`]), ...(words === '' ? [] : [words])];
      draw([command, duration(at - begun), ...parts].join(' · '));
    }
  }
  const timer = setInterval(tick, draw === undefined ? 1000 : drawMs);
  timer.unref();
  return {
    show(now) {
      words = now;
      tick(); // timers do not fire during long computations
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
