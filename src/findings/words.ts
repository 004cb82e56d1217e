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

/** The words of one alert, before its state is added. */
export interface Words {
  readonly title: string;
  readonly share?: SpentShare | undefined;
  readonly sentences: readonly string[];
  /** Undefined if the next step follows from the kind of the fact. */
  readonly next?: string | undefined;
  readonly fields?: Card['fields'];
  readonly list?: Card['list'];
  readonly warnings?: Card['warnings'];
  /** Whether no hour is known to be complete because nothing can be read. */
  readonly hasNoHours?: boolean;
  /** Of an alert that is over: whether nothing was wrong after all. */
  readonly isNeutral?: boolean;
}
