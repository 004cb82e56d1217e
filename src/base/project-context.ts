import type { Effects } from './effects.ts';

/** What work on a project gets of the outside world, and how it speaks to a person. */
export interface ProjectContext {
  readonly effects: Effects;
  /** The project folder (`--dir`), absolute. */
  readonly dir: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Aborted by SIGINT and SIGTERM with an InterruptedError. */
  readonly signal: AbortSignal;
  /** Writes a message for people to stderr. */
  tell(text: string): void;
  /**
   * Sets the progress text, which replaces the previous one; '' shows only that the command is running. Shown after two
   * seconds: as one live line on a terminal, otherwise as an occasional log line.
   */
  progress(words: string): void;
  /** Registers a secret: messages, logs and errors show `***` instead. */
  keepSecret(secret: string): void;
  /** The text with every registered secret replaced. `tell` and the log do this themselves; `write` does not. */
  redact(text: string): string;
}
