import { engineVersion, type Forecast } from '../../forecast/index.ts';
import type { Forecaster } from '../../outlook/index.ts';
import { formatSecond } from '../../time/time.ts';
import type { AnswerCache, MadeBy } from '../../warehouse/store/index.ts';

/** The run that stored a forecast; `now` if this command computed it. */
export type ForecastOrigin = MadeBy | 'now';

/**
 * A forecaster that finds what is known and adds what it computes. What the engine is asked is the whole question: the values of
 * every step without what is unusual, the horizon, the zone and the holidays, and the version of the engine. So a stored forecast
 * is used only if the engine would make the same one again. `onMade` gets the origin of each.
 */
export function cachingForecaster(
  cache: AnswerCache,
  forecaster: Forecaster,
  onMade: (origin: ForecastOrigin) => void,
  version: string = engineVersion,
): Forecaster {
  return async (history, horizon, options) => {
    const { holidays = new Set(), ...others } = options;
    const question = [version, history, horizon, others, [...holidays].sort()];
    const known = await cache.find('forecast', question);
    onMade(known?.madeBy ?? 'now');
    if (known !== undefined) return known.answer as Forecast;
    const forecast = await forecaster(history, horizon, options);
    cache.add('forecast', question, forecast);
    return forecast;
  };
}

/** Sentences name so many forecasts that were computed now. */
const mostNamed = 5;

/** From which runs stored forecasts are, and which are computed now. Nothing if none is stored. */
export function describeOrigins(
  lines: readonly { readonly name: string; readonly origin: ForecastOrigin | undefined }[],
): string[] {
  const runs = new Map<string, string[]>();
  for (const { name, origin } of lines) {
    if (origin === undefined || origin === 'now') continue;
    const run = `the run of ${formatSecond(origin.at)}`;
    runs.set(run, [...(runs.get(run) ?? []), name]);
  }
  if (runs.size === 0) return [];
  const computed = lines.flatMap(({ name, origin }) => (origin === 'now' ? [name] : []));
  const stored = [...runs].map(([run, names]) =>
    runs.size === 1 ? `stored by ${run}` : `${namesIn(names)} by ${run}`,
  );
  const first = runs.size === 1 ? stored : [`stored: ${stored.join('; ')}`];
  return [
    `forecasts: ${[...first, ...(computed.length === 0 ? [] : [`computed now: ${namesIn(computed)}`])].join('; ')}`,
  ];
}

function namesIn(names: readonly string[]): string {
  const more = names.length - mostNamed;
  return more <= 0 ? names.join(', ') : `${names.slice(0, mostNamed).join(', ')} and ${more} more`;
}

/** The run that stored a forecast as data; null if it was computed now, or if there is none. */
export function originJson(origin: ForecastOrigin | undefined): Readonly<Record<string, unknown>> | null {
  if (origin === undefined || origin === 'now') return null;
  return { run: origin.runNumber, at: formatSecond(origin.at) };
}
