/** What an agent answered about an alert or a summary. */
export interface SinkAnswer {
  /** The name of the agent's sink. */
  readonly sink: string;
  /** Untrusted text of bounded length, in lines. */
  readonly text: string;
}

/** The used part of a budget. */
export interface SpentShare {
  readonly percent: number;
  /** `spent`, or `used`; empty for a cost per unit. */
  readonly word: string;
}

/** One alert as text for people. Each sink lays it out in its own way. */
export interface Card {
  readonly icon: string;
  /** One line. */
  readonly title: string;
  /** Undefined for alerts without a budget. */
  readonly share: SpentShare | undefined;
  readonly sentences: readonly string[];
  /** `Wait: the next run fetches what is missing.` Undefined if there is no next step. */
  readonly next: string | undefined;
  readonly fields: readonly { readonly label: string; readonly value: string }[];
  readonly list: { readonly label: string; readonly items: readonly string[] } | undefined;
  /** Why the numbers may be wrong: missing hours. */
  readonly warnings: readonly string[];
  /** Complete through, and the key. */
  readonly notes: readonly string[];
  readonly answers: readonly SinkAnswer[];
}

const barLength = 20;

/** `████████████████░░░░ 82.4 % spent`; it is full only from 100 % on. */
export function bar({ percent, word }: SpentShare): string {
  const filled = Math.max(0, Math.min(barLength, Math.floor((percent / 100) * barLength)));
  return `${'█'.repeat(filled)}${'░'.repeat(barLength - filled)} ${percent.toFixed(1)} %${word === '' ? '' : ` ${word}`}`;
}

/** An answer for people: whose it is, then its lines. */
export function answerLines({ sink, text }: SinkAnswer): readonly string[] {
  return [`${sink} answered:`, ...text.split('\n')];
}
