import { forTerminal } from '../text/safe-text.ts';
import { cutToWidth, usualWidth } from './text-width.ts';

/** The last line of a terminal, which a long command redraws to show its progress. */
export interface LiveLine {
  /** Replaces the line, cut to the width; '' removes it. Does nothing while other output has an unfinished line. */
  show(line: string): void;
  /** Removes the line: call it before other output. */
  clear(): void;
  /** Call it after other output to the same terminal: whether that output left its last line unfinished. */
  setUnfinished(isUnfinished: boolean): void;
}

/** The live line of a terminal's stream; `redact` hides secrets in it. */
export function openLiveLine(
  stream: { readonly columns?: number; write(text: string): unknown },
  redact: (text: string) => string,
): LiveLine {
  let drawn = '';
  let isBlocked = false;
  function clear(): void {
    if (drawn !== '') stream.write('\r\x1b[2K');
    drawn = '';
  }
  return {
    show(line) {
      const shown = cutToWidth(forTerminal(redact(line)), (stream.columns || usualWidth) - 1);
      if (shown === drawn || isBlocked) return;
      clear();
      drawn = shown;
      stream.write(drawn);
    },
    clear,
    setUnfinished(isUnfinished) {
      isBlocked = isUnfinished;
    },
  };
}
