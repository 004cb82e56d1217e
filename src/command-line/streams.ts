import type { Interface } from 'node:readline';
import { addAbortSignal, Writable } from 'node:stream';
import { ClosedPipeError, type CostbookError, MachineError, UsageError } from '../base/errors.ts';
import { linesOf } from '../base/lines.ts';
import type { ProgramEffects } from '../base/program-effects.ts';
import { folded } from '../terminal/fold.ts';
import { type LiveLine, openLiveLine } from '../terminal/live-line.ts';
import { usualWidth } from '../terminal/text-width.ts';
import { type Redactor, redactor } from '../text/redactor.ts';
import { forTerminal } from '../text/safe-text.ts';

/** The colours that commands use: bold, dim, red, green, yellow, and their ends. Nothing else reaches a terminal as it is. */
const colours = new RegExp(`(${'\\u001b'}\\[(?:1|2|22|31|32|33|39)m)`);

/** What a command reads from and writes to the three streams of its process. */
export interface Streams {
  readonly secrets: Redactor;
  readonly liveLine: LiveLine;
  /** Writes a log line to stderr, with secrets hidden. */
  say(line: string): void;
  /** Writes a message for people to stderr; as `tellBy` says, from there on. */
  tell(words: string): void;
  tellBy(tell: (words: string) => void): void;
  /** When stderr was last written, in real time. */
  lastWroteAt(): number;
  /**
   * Writes to stdout and waits until it is accepted; to a terminal without what moves its cursor or hides text. Throws
   * the signal's reason, or the error for the failed write.
   */
  write(data: string | Uint8Array): Promise<void>;
  /** Writes help to stdout without waiting; a failure is kept for `outputFailure`. */
  writeHelp(text: string): void;
  outputFailure(): CostbookError | undefined;
  /** Reads stdin to its end, or until it is longer than this. Throws the signal's reason if aborted. */
  readInput(maxLength: number): Promise<string>;
  /** Prompts for a line. Throws UsageError if the input ends, and the signal's reason if aborted. */
  ask(question: string, isHidden: boolean): Promise<string>;
  /** Stops reading; the streams stay open. */
  close(): void;
}

export function openStreams(
  { stdin, stdout, stderr, elapsed, interrupt }: ProgramEffects,
  signal: AbortSignal,
): Streams {
  const secrets = redactor();
  const liveLine = openLiveLine(stderr, (line) => secrets.redact(line));
  let lastWroteAt = 0;
  let tell = sayWords;
  let failure: Error | undefined;
  function onOutputFailure(error: Error): void {
    failure = error;
  }
  stdout.on('error', onOutputFailure);
  stderr.on('error', ignore); // a closed stderr does not stop the command

  function say(line: string): void {
    liveLine.clear();
    lastWroteAt = elapsed();
    stderr.write(`${secrets.redact(line)}\n`);
  }
  function sayWords(words: string): void {
    const width = stderr.isTTY ? stderr.columns || usualWidth : undefined;
    for (const line of linesOf(secrets.redact(words))) say(folded(forTerminal(line), { width }));
  }
  const decoder = new TextDecoder();
  function seen(data: string | Uint8Array): string {
    const text = typeof data === 'string' ? data : decoder.decode(data, { stream: true });
    return text
      .split(/\r?\n/)
      .map((line) =>
        line
          .split(colours)
          .map((part) => (colours.test(part) ? part : forTerminal(part)))
          .join(''),
      )
      .join('\n');
  }
  const typed = openTyping({ stdin, stderr, interrupt }, liveLine, signal);
  return {
    secrets,
    liveLine,
    say,
    tell: (words) => tell(words),
    tellBy(other) {
      tell = other;
    },
    lastWroteAt: () => lastWroteAt,
    write: (given) =>
      new Promise((done, fail) => {
        liveLine.clear();
        const data = stdout.isTTY ? seen(given) : given;
        if (stdout.isTTY && data.length > 0) liveLine.setUnfinished(data.at(-1) !== '\n');
        // A reader may have stopped without closing (a pager): a signal does not wait for it.
        const onAbort = () => fail(signal.reason);
        if (!signal.aborted) signal.addEventListener('abort', onAbort, { once: true });
        stdout.write(data, (error) => {
          signal.removeEventListener('abort', onAbort);
          if (error) fail(asOutputFailure(error));
          else done();
        });
      }),
    writeHelp: (text) => void stdout.write(text),
    outputFailure: () => failure && asOutputFailure(failure),
    async readInput(maxLength) {
      stdin.setEncoding('utf8');
      let given = '';
      try {
        for await (const piece of addAbortSignal(signal, stdin)) {
          given += piece;
          if (given.length > maxLength) break;
        }
      } catch (error) {
        signal.throwIfAborted(); // the stream would only say that it was aborted
        throw error;
      }
      return given;
    },
    ask: typed.ask,
    close() {
      typed.close();
      stdout.removeListener('error', onOutputFailure);
      stderr.removeListener('error', ignore);
      stdout.on('error', ignore); // what was written may still fail
      stderr.on('error', ignore);
    },
  };
}

/** The lines that a person types. */
function openTyping(
  { stdin, stderr, interrupt }: Pick<ProgramEffects, 'stdin' | 'stderr' | 'interrupt'>,
  liveLine: LiveLine,
  signal: AbortSignal,
): Pick<Streams, 'ask' | 'close'> {
  let isEchoHidden = false;
  /** Echoes typed input to the terminal. */
  const echo = new Writable({
    write(piece, _, done) {
      if (isEchoHidden) done();
      else stderr.write(piece, () => done());
    },
  });
  let terminal: Interface | undefined;
  let lines: AsyncIterator<string> | undefined;
  /** One reader for all prompts, so that input typed ahead is not lost. */
  async function open(): Promise<AsyncIterator<string>> {
    if (lines !== undefined) return lines;
    const { createInterface } = await import('node:readline');
    const opened = createInterface({ input: stdin, output: echo, terminal: true });
    // readline intercepts Ctrl-C; pass it on to the process.
    opened.on('SIGINT', interrupt);
    signal.addEventListener('abort', () => opened.close(), { once: true });
    terminal = opened;
    lines = opened[Symbol.asyncIterator]();
    return lines;
  }
  return {
    async ask(question, isHidden) {
      const answers = await open();
      liveLine.clear();
      stderr.write(question);
      isEchoHidden = isHidden;
      const line = await answers.next();
      if (isHidden) stderr.write('\n');
      isEchoHidden = false;
      signal.throwIfAborted();
      if (line.done) throw new UsageError('the input ended before an answer was given');
      return line.value.trim();
    },
    close: () => terminal?.close(),
  };
}

/** The error for a failed write to stdout: the reader has gone, or this machine cannot write. */
function asOutputFailure(error: NodeJS.ErrnoException): CostbookError {
  return error.code === 'EPIPE'
    ? new ClosedPipeError('the reader of the output has gone')
    : new MachineError(`could not write to stdout: ${error.message}`, { cause: error });
}

function ignore(): void {}
