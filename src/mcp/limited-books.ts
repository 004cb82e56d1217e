// What an agent may ask whose token sees some costs only: the dashboard answers it, and the MCP tools ask it.

/** Rows as JSON, with the state of the books. Decimals are text. */
export interface LimitedAnswer {
  readonly completeThrough: string | null;
  readonly settledThrough: string | null;
  /** The page of the dashboard that shows the same, or the statement behind it. */
  readonly source: string;
  readonly data: unknown;
  /** Whether there are more rows. */
  readonly isCut: boolean;
}

/** A question about costs, as on the page Explore. */
export interface CostsAsked {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly step?: string | undefined;
  readonly groupBy?: string | undefined;
  readonly top?: number | undefined;
  /** The values that costs must have, and those that they must not have. */
  readonly filters?: Readonly<Record<string, string | readonly string[]>> | undefined;
  readonly except?: Readonly<Record<string, string | readonly string[]>> | undefined;
}

/** The books for an agent whose token sees some costs only: everything is computed from those alone. */
export interface LimitedBooks {
  status(signal: AbortSignal): Promise<LimitedAnswer>;
  costs(asked: CostsAsked, maxRows: number, signal: AbortSignal): Promise<LimitedAnswer>;
  /** What changed most between the last `days` complete days and as many before. */
  changes(days: number, maxRows: number, signal: AbortSignal): Promise<LimitedAnswer>;
  resource(name: string, workspace: string | undefined, signal: AbortSignal): Promise<LimitedAnswer>;
}
