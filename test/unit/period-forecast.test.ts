import { expect, test } from 'vitest';
import { type Forecaster, forecastPeriod, reachedOn } from '../../src/outlook/period-forecast.ts';
import { calendarOf, dayMs, formatInstant } from '../../src/time/time.ts';

const usd = 10n ** 12n;
const november = calendarOf('monthly').periodAt(Date.parse('2026-11-05T00:00:00Z'));
const start = Date.parse('2026-09-01T00:00:00Z');
const end = Date.parse('2026-11-21T00:00:00Z');
const days = (end - start) / dayMs;

/** Expects so much of each step, with an interval of the sum that is as wide as it; remembers what it was asked. */
function forecaster(mean: number) {
  const asked: Parameters<Forecaster>[] = [];
  const forecast: Forecaster = async (...args) => {
    asked.push(args);
    const [history, horizon] = args;
    const each = { mean, lower: mean / 2, upper: mean * 1.5 };
    return {
      kind: 'forecast',
      model: 'weekday-profile',
      transform: 'none',
      seasons: [7],
      notes: [],
      points: Array.from({ length: horizon }, () => each),
      cumulative: Array.from({ length: horizon }, (_, k) => ({
        mean: mean * (k + 1),
        lower: (mean * (k + 1)) / 2,
        upper: mean * (k + 1) * 1.5,
      })),
      backtest: { folds: 3, mase: 1, smape: 5, coverage: 0.8, sumCoverage: 0.8 },
      from: history.start,
      through: formatInstant(end),
    };
  };
  return { asked, forecast };
}

function asked(values: readonly number[], beginning = { hours: 0, share: 0 }) {
  return {
    period: november,
    completeThrough: end + beginning.hours * 3_600_000,
    spent: 20n * usd,
    steps: { start, end, stepHours: 24 as const, values, beginning },
  };
}

const ones = new Array<number>(days).fill(1);

test("a period's forecast is its spend plus the forecast of the remaining days", async () => {
  const { asked: calls, forecast } = forecaster(2);
  const made = await forecastPeriod(asked(ones), forecast);
  expect(made).toMatchObject({ mean: 40n * usd, low: 30n * usd, high: 50n * usd, observations: days });
  const options = { level: 0.8, nonNegative: true, zone: 'UTC', holidays: new Set() };
  expect(calls).toEqual([[{ start: '2026-09-01T00:00:00Z', step: 'day', values: ones }, 10, options]]);
  if (made.kind === 'none') throw new Error(made.reason);
  expect([20n, 22n, 39n, 40n, 41n].map((limit) => reachedOn(made, limit * usd))).toEqual([
    end,
    end,
    end + 9 * dayMs,
    end + 9 * dayMs,
    undefined,
  ]);
});

test('a started day adds only its expected rest, and narrows the interval', async () => {
  const made = await forecastPeriod(asked(ones, { hours: 6, share: 0.5 }), forecaster(2).forecast);
  if (made.kind === 'none') throw new Error(made.reason);
  expect(made.mean).toBe(39n * usd);
  const width = 10 * Math.sqrt(9.5 / 10);
  expect([made.low, made.high].map((amount) => Number(amount) / 1e12)).toEqual([
    expect.closeTo(39 - width, 5),
    expect.closeTo(39 + width, 5),
  ]);
  expect(made.path[0]).toEqual({ start: end + 6 * 3_600_000, spent: 21n * usd });
});

test('the interval does not go below the spend if there were never credits', async () => {
  const sparse: Forecaster = async (...args) => {
    const made = await forecaster(2).forecast(...args);
    if (made.kind === 'none') return made;
    return { ...made, cumulative: made.cumulative.map(({ mean, upper }) => ({ mean, upper, lower: -5 })) };
  };
  expect(await forecastPeriod(asked(ones), sparse)).toMatchObject({ low: 20n * usd });
  const { asked: calls, forecast } = forecaster(2);
  await forecastPeriod(asked([...ones.slice(1), -1]), forecast);
  expect(calls[0]?.[2]).toMatchObject({ nonNegative: false });
  expect(await forecastPeriod(asked([...ones.slice(1), -1]), sparse)).toMatchObject({ low: 15n * usd });
});

test('a history starts with the first whole day after its first cost', async () => {
  const { asked: calls, forecast } = forecaster(2);
  await forecastPeriod(asked([0, 0, 0.5, ...ones.slice(3)]), forecast);
  expect(calls[0]?.[0]).toEqual({ start: '2026-09-04T00:00:00Z', step: 'day', values: ones.slice(3) });
});

test('there is no forecast without costs, with too little history for the rest, or without one from the engine', async () => {
  const { asked: calls, forecast } = forecaster(2);
  expect(await forecastPeriod(asked(ones.map(() => 0)), forecast)).toEqual({
    kind: 'none',
    reason: 'nothing was spent yet',
  });
  const late = ones.map((_, day) => (day >= days - 3 ? 1 : 0));
  expect(await forecastPeriod(asked(late), forecast)).toEqual({
    kind: 'none',
    reason: 'too little history: 2 complete days since its first cost, for 10 to come',
  });
  expect(calls).toEqual([]);
  const none = { kind: 'none', reason: 'nobody knows' } as const;
  expect(await forecastPeriod(asked(ones), async () => none)).toEqual(none);
});
