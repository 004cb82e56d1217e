import { resolve } from 'node:path';
import { forecastOfBooks } from '../answers/index.ts';
import { UsageError } from '../base/errors.ts';
import { holidaysOf, parseCalendar } from '../config/index.ts';
import {
  describeStep,
  type Forecast,
  type ForecastRequest,
  forecastsInOrder,
  type GivenSeries,
  type Range,
  readSeriesFile,
  type SeriesForecast,
  stepName,
  stepsAfter,
} from '../forecast/index.ts';
import type { CommandInput } from '../options/read.ts';
import { flagOf, reading } from '../options/read.ts';
import { ofForecastOfBooks, ofForecastOfFile, options } from '../options/table.ts';
import { formatTable, type TableLayout } from '../terminal/index.ts';
import { forTerminal } from '../text/safe-text.ts';
import { type Holidays, type Zone, zoneOf } from '../time/time.ts';
import type { Command, CommandContext } from './command.ts';

export const forecastCommand: Command = {
  name: 'forecast',
  summary: 'Forecast the total of the current period by budget and resource type, or forecast any series from a file.',
  needsProject: ({ options }) => options['input'] === undefined,
  examples: [
    'costbook forecast',
    'costbook forecast --budget everything --json',
    'costbook forecast --input series.csv --horizon 31',
    'costbook forecast --input hours.csv --horizon 168 --season 24,168 --level 0.9 --json',
  ],
  async run(input, context) {
    const { isGiven } = reading(options.forecast, input, context);
    const isOfFile = isGiven.input;
    const strangers = Object.keys(isOfFile ? ofForecastOfBooks : ofForecastOfFile) as (keyof typeof isGiven)[];
    const given = strangers.filter((name) => isGiven[name]).map(flagOf);
    if (given.length > 0) {
      const they = `${given.join(', ')} can only be used for forecasts`;
      throw new UsageError(
        isOfFile ? `${they} from the books; leave out --input` : `${they} from a file; add --input <file>`,
      );
    }
    return isOfFile ? forecastOfFile(input, context) : forecastOfBooks(input, context);
  },
};

/** Forecasts every series of a file in turn, and writes each result at once. */
async function forecastOfFile(input: CommandInput, context: CommandContext): Promise<number> {
  const { values, isGiven, problem, attempt, check } = reading(options.forecast, input, context);
  const { horizon = 1, level, season: seasons, timeZone: zone = zoneOf('UTC'), calendar } = values;
  if (!isGiven.horizon) problem('--horizon is missing: expected the number of steps to forecast');
  const holidays =
    calendar === undefined
      ? undefined
      : attempt(() => holidaysOf(parseCalendar(calendar), context.folder), '--calendar: ');
  check();

  const given = await readSeriesFile(resolve(context.folder, values.input ?? ''), context.signal);
  const asked = { horizon, level, seasons, zone, holidays: holidays ?? new Set<number>() };
  if (context.json) await context.write(`{"horizon":${asked.horizon},"level":${level},"series":[`);
  const requests = given.map((series) => requestOf(series, asked));
  let number = 0;
  context.progress(`series 1 of ${given.length}`);
  for await (const made of forecastsInOrder(requests, context.signal)) {
    const series = given[number];
    if (series === undefined) break;
    const forecast = series.step === undefined ? tooShort : made;
    const told = context.json
      ? `${number > 0 ? ',' : ''}\n${JSON.stringify(toJson(series, forecast))}`
      : `${describe(series, forecast, level, context.layout)}\n`;
    await context.write(told);
    number += 1;
    context.progress(`series ${Math.min(number + 1, given.length)} of ${given.length}`);
  }
  if (context.json) await context.write('\n]}\n');
  return 0;
}

interface Asked {
  readonly horizon: number;
  readonly level: number;
  readonly seasons: readonly number[] | undefined;
  readonly zone: Zone;
  readonly holidays: Holidays;
}

const tooShort: Forecast = { kind: 'none', reason: 'too little history: only one value' };

function requestOf(
  { start, step, values }: GivenSeries,
  { horizon, level, seasons, zone, holidays }: Asked,
): ForecastRequest {
  const nonNegative = values.every((value) => value === null || value >= 0);
  const options = { level, nonNegative, zone: zone.name, holidays, ...(seasons === undefined ? {} : { seasons }) };
  return { history: { start, step: step ?? 'day', values }, horizon, options };
}

/** Twelve digits exceed any forecast's precision, and hide the order in which a processor adds. */
function rounded(value: number): number {
  return Number(value.toPrecision(12));
}

function toJson(series: GivenSeries, forecast: Forecast): object {
  const { id, start, step, values } = series;
  const gaps = values.filter((value) => value === null).length;
  const about = { id, step: step === undefined ? null : stepName(step), from: start, steps: values.length, gaps };
  if (forecast.kind === 'none') return { ...about, kind: 'none', reason: forecast.reason };
  const { model, transform, seasons, notes, backtest, through } = forecast;
  const shares = Object.fromEntries(
    Object.entries(backtest).map(([name, value]) => [name, value === null ? null : rounded(value)]),
  );
  const range = ({ mean, lower, upper }: Range) => ({
    forecast: rounded(mean),
    low: rounded(lower),
    high: rounded(upper),
  });
  return {
    ...about,
    kind: 'forecast',
    through,
    model,
    transform,
    seasons,
    notes,
    backtest: shares,
    points: forecast.points.map((point, index) => ({
      timestamp: timestampOf(series, index),
      ...range(point),
    })),
    cumulative: forecast.cumulative.map((sum, index) => ({ steps: index + 1, ...range(sum) })),
  };
}

/** Counted from the start: a month after 28 February, a series of month ends goes on at 31 March. */
function timestampOf({ start, step, values }: GivenSeries, index: number): string {
  return stepsAfter(start, step ?? 'day', values.length + index);
}

/** A series' forecast for people: the model and its accuracy, then the steps, then their sum. */
function describe(series: GivenSeries, forecast: Forecast, level: number, layout: TableLayout): string {
  const id = forTerminal(series.id);
  if (forecast.kind === 'none') return `${id}: no forecast: ${forecast.reason}`;
  const columns = [
    { name: 'id', type: 'VARCHAR' },
    { name: 'timestamp', type: 'VARCHAR' },
    // Already rounded, by the size of the forecast.
    { name: 'forecast', type: 'DECIMAL' },
    { name: 'low', type: 'DECIMAL' },
    { name: 'high', type: 'DECIMAL' },
  ];
  const decimals = decimalsOf(forecast.points.flatMap(({ lower, upper }) => [lower, upper]));
  const row = (when: string, { mean, lower, upper }: Range) => [
    id,
    when,
    ...[mean, lower, upper].map((value) => forPerson(value, decimals)),
  ];
  const sum = forecast.cumulative.at(-1);
  const rows = [
    ...forecast.points.map((point, index) => row(timestampOf(series, index), point)),
    ...(sum === undefined ? [] : [row('sum', sum)]),
  ];
  return `${describeChoice(series, forecast, level)}\n${formatTable(columns, rows, layout)}\n`;
}

function describeChoice(
  series: GivenSeries,
  { model, transform, seasons, notes, backtest }: SeriesForecast,
  level: number,
): string {
  const { folds, mase, smape, coverage, sumCoverage } = backtest;
  const gaps = series.values.filter((value) => value === null).length;
  const percent = (share: number) => `${Math.round(100 * share)} %`;
  const parts = [
    `${series.values.length} steps of ${describeStep(series.step ?? 'day')}${gaps === 0 ? '' : `, ${gaps} of them unknown`}`,
    ...(seasons.length === 0 ? [] : [`season${seasons.length === 1 ? '' : 's'} of ${seasons.join(' and ')}`]),
    `model ${model}${transform === 'none' ? '' : ` of ${transform}`}`,
    ...(folds === 0 ? [] : [`${folds} backtests`]),
    ...(mase === null ? [] : [`MASE ${mase.toFixed(2)}`]),
    ...(smape === null ? [] : [`sMAPE ${smape.toFixed(1)}`]),
    ...(coverage === null ? [] : [`${percent(level)} intervals contained ${percent(coverage)} of steps`]),
    ...(sumCoverage === null ? [] : [`and ${percent(sumCoverage)} of sums`]),
    ...notes,
  ];
  return `${forTerminal(series.id)}: ${parts.join(', ')}`.replace(', and ', ' and ');
}

/** At least four digits of the largest value; all others get the same number of decimals. */
function decimalsOf(values: readonly number[]): number | 'exponent' {
  const largest = Math.max(...values.map(Math.abs));
  if (largest !== 0 && (largest >= 1e12 || largest < 1e-4)) return 'exponent';
  return largest >= 1000 ? 0 : largest >= 10 || largest === 0 ? 2 : largest >= 0.1 ? 4 : 6;
}

function forPerson(value: number, decimals: number | 'exponent'): string {
  return decimals === 'exponent' ? value.toExponential(3) : value.toFixed(decimals);
}
