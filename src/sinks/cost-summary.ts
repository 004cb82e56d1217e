/** A week or a month compared with the one before. USD is decimal text; null means unknown. */
export interface CostSummary {
  /** `weekly/2026-W47`. Each summary is sent once. */
  readonly name: string;
  readonly title: string;
  readonly start: string;
  /** Exclusive. */
  readonly end: string;
  readonly spent: string | null;
  readonly spentBefore: string | null;
  /** How much the month has changed since it was closed, which later months bill. Missing if it has not. */
  readonly changedSinceClose?: string | undefined;
  readonly movers: readonly { readonly name: string; readonly cost: string; readonly costBefore: string }[];
  /** Budgets in their current periods. */
  readonly budgets: readonly {
    readonly budget: string;
    readonly period: string;
    /** Of the amounts, if it is not USD. */
    readonly unit?: string;
    readonly spent: string | null;
    readonly amount: string;
    /** Percent. */
    readonly share: string | null;
    readonly state: string | null;
    /** The forecast in a sentence, if the budget is at risk; otherwise null. */
    readonly forecast: string | null;
  }[];
  /** Anomalies that were worth a notification; null if none were evaluated yet. */
  readonly anomalies: {
    readonly open: number;
    readonly openImpact: string;
    /** Ended since the start of the summary's period. */
    readonly over: number;
    readonly overImpact: string;
  } | null;
  /** Missing data, one sentence per gap. */
  readonly gaps: readonly string[];
  /** The whole summary as plain text, for a fixed-width font. */
  readonly text: string;
  /** The first paragraph, which a model wrote; only in a message on its way. */
  readonly opening?: string | undefined;
  /** What agents answered; only in a message on its way. */
  readonly answers?: readonly { readonly sink: string; readonly text: string }[] | undefined;
}
