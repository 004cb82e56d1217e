// How a forecast did on what was held out.

/** A forecast as the command and the engine both have it. */
export interface Told {
  readonly points: readonly { readonly forecast: number; readonly low: number; readonly high: number }[];
  /** The sum over the horizon. */
  readonly sum: { readonly forecast: number; readonly low: number; readonly high: number };
}

export interface Score {
  /** Mean absolute error as a multiple of that of the season before, repeated, on the same steps; undefined where that is 0. */
  readonly ofNaive: number | undefined;
  /** Mean absolute error as a multiple of what a season's distance differs in the history. */
  readonly mase: number | undefined;
  /** 0 to 200. */
  readonly smape: number;
  /** Share of the steps within their intervals. */
  readonly pointsHeld: number;
  readonly isSumHeld: boolean;
  /** The width of the sum's interval as a share of the sum; undefined if the sum is 0. */
  readonly sumWidth: number | undefined;
  /** The error of the sum; and as a share of the sum, undefined if that is 0. */
  readonly sumOff: number;
  readonly sumError: number | undefined;
}

/** Scores a forecast of the values after `history`, whose longest season has this many steps. */
export function scoreOf(history: readonly number[], outcomes: readonly number[], told: Told, season: number): Score {
  const [errors, naive, percent]: [number[], number[], number[]] = [[], [], []];
  let held = 0;
  let total = 0;
  for (const [step, outcome] of outcomes.entries()) {
    const { forecast = 0, low = 0, high = 0 } = told.points[step] ?? {};
    const both = Math.abs(outcome) + Math.abs(forecast);
    errors.push(Math.abs(outcome - forecast));
    naive.push(Math.abs(outcome - (history[history.length - season + (step % season)] ?? 0)));
    percent.push(both === 0 ? 0 : (200 * Math.abs(outcome - forecast)) / both);
    if (outcome >= low && outcome <= high) held += 1;
    total += outcome;
  }
  const differences = history.slice(season).map((value, index) => Math.abs(value - (history[index] ?? 0)));
  // What is smaller than this is how a processor adds.
  const nothing = 1e-9 * mean(outcomes.map(Math.abs));
  const share = (part: number, whole: number) => (whole > nothing ? part / whole : undefined);
  return {
    ofNaive: share(mean(errors), mean(naive)),
    mase: share(mean(errors), mean(differences)),
    smape: mean(percent),
    pointsHeld: held / outcomes.length,
    isSumHeld: total >= told.sum.low && total <= told.sum.high,
    sumWidth: share(told.sum.high - told.sum.low, total),
    sumOff: Math.abs(total - told.sum.forecast),
    sumError: share(Math.abs(total - told.sum.forecast), total),
  };
}

export function mean(values: readonly number[]): number {
  return values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** Whether it was more accurate than repeating the previous season; a tie without errors counts as yes. */
export function beatsNaive({ ofNaive, smape }: Score): boolean {
  return ofNaive === undefined ? smape < 1e-6 : ofNaive < 1;
}
