import { inUnit, moneyText } from '../../money/money.ts';
import { type ForecastAnomaly, type PeriodForecast, toTrillionths } from '../../outlook/index.ts';
import { dayMs, dayName, type Instant } from '../../time/time.ts';
import type { KnownAnomaly } from './known-anomalies.ts';

/**
 * A forecast that did not learn from anomalies, with what goes on of them: its daily rate on every day to come, as likely as it
 * still does so. The upper end of the interval has all of it. The lower end stays: an anomaly may stop at any time. Pure.
 */
export function withGoingOn<T extends Pick<PeriodForecast, 'mean' | 'path' | 'anomalies'> & { readonly high?: bigint }>(
  forecast: T,
  anomalies: readonly KnownAnomaly[],
  { since, completeThrough, end: periodEnd }: GoingOnAsked,
): T {
  const ours = anomalies.filter(
    ({ firstDay, impacts, goingOn }) => goingOn !== undefined || (firstDay + impacts.length) * dayMs > since,
  );
  if (ours.length === 0) return forecast;
  const path = forecast.path.map(({ spent }) => spent);
  const shown = ours.map((anomaly): ForecastAnomaly => {
    const { goingOn, impacts } = anomaly;
    const from = Math.max(completeThrough, goingOn?.from ?? 0);
    const until = goingOn?.until ?? periodEnd;
    const addedBy = (at: Instant, chances?: readonly number[]) =>
      toTrillionths((goingOn?.daily ?? 0) * likelyDays((Math.min(at, until) - from) / dayMs, chances));
    for (const [index] of path.entries()) {
      path[index] = (path[index] ?? 0n) + addedBy(forecast.path[index + 1]?.start ?? periodEnd, goingOn?.chances);
    }
    const { key, workspace, resourceType, driver } = anomaly;
    return {
      ...{ key, workspace, resourceType, driver },
      ...{ firstDay: dayName(anomaly.firstDay), lastDay: dayName(anomaly.lastDay) },
      impact: toTrillionths(impacts.reduce((sum, impact) => sum + impact, 0)),
      daily: goingOn === undefined ? undefined : toTrillionths(goingOn.daily),
      added: addedBy(periodEnd, goingOn?.chances),
      addedIfItGoesOn: addedBy(periodEnd),
    };
  });
  const sum = (of: (one: ForecastAnomaly) => bigint) => shown.reduce((total, one) => total + of(one), 0n);
  return {
    ...forecast,
    mean: forecast.mean + sum((one) => one.added),
    ...(forecast.high === undefined ? {} : { high: forecast.high + sum((one) => one.addedIfItGoesOn) }),
    path: forecast.path.map((step, index) => ({ ...step, spent: path[index] ?? step.spent })),
    anomalies: shown,
  };
}

/** So many days, each as likely as its chance; the last chance is that of all later days. */
function likelyDays(days: number, chances: readonly number[] = []): number {
  let sum = 0;
  for (let day = 0; day < days; day += 1) sum += Math.min(1, days - day) * (chances[day] ?? chances.at(-1) ?? 1);
  return sum;
}

interface GoingOnAsked {
  /** The start of the hours that it is made from: anomalies that ended before are not named. */
  readonly since: Instant;
  readonly completeThrough: Instant;
  /** The end of the period. */
  readonly end: Instant;
}

/** Sentences name so many anomalies of one forecast. */
const mostNamed = 3;

/** What anomalies change in forecasts: a sentence for each forecast that leaves some out, and for each that they go on in. */
export function describeAnomalies(
  lines: readonly {
    readonly name: string;
    readonly forecast: Pick<PeriodForecast, 'kind' | 'anomalies'> | { readonly kind: 'none' };
  }[],
): string[] {
  return lines.flatMap(({ name, forecast }) => {
    const all = forecast.kind === 'forecast' ? (forecast.anomalies ?? []) : [];
    const anomalies = bySubject(all);
    const named = anomalies.slice(0, mostNamed).map(({ subject, span, impact }) => {
      const size = impact < 0n ? `${inUnit(-impact)} less than usual` : inUnit(impact);
      return `${subject} (${size} ${span})`;
    });
    const more = anomalies.length - named.length;
    const others = more === 0 ? [] : [`${more} more`];
    const goingOn = anomalies
      .filter(({ added }) => added > 0n)
      .map(({ subject, daily, added, whole }) => {
        const less = added < whole ? `, as earlier ones often ended by then; ${inUnit(whole)} if it goes on` : '';
        return `${subject} ${inUnit(daily)} a day, ${inUnit(added)} in all${less}`;
      });
    return [
      ...(named.length === 0
        ? []
        : [`${name}: the forecast does not learn from unusual costs: ${[...named, ...others].join('; ')}`]),
      ...(goingOn.length === 0 ? [] : [`${name}: the forecast adds what goes on: ${goingOn.join('; ')}`]),
    ];
  });
}

/** Anomalies as people read them: one line for each cause, the largest first. */
function bySubject(anomalies: readonly ForecastAnomaly[]) {
  const groups = new Map<
    string,
    { subject: string; span: string; impact: bigint; daily: bigint; added: bigint; whole: bigint }
  >();
  for (const { workspace, resourceType, driver, firstDay, lastDay, impact, daily = 0n, ...toCome } of anomalies) {
    const subject = driver ?? `${resourceType ?? 'costs without a type'} in ${workspace ?? 'no workspace'}`;
    const span =
      daily > 0n ? `since ${firstDay}` : firstDay === lastDay ? `on ${firstDay}` : `from ${firstDay} to ${lastDay}`;
    const key = JSON.stringify([subject, span]);
    const own = groups.get(key) ?? { subject, span, impact: 0n, daily: 0n, added: 0n, whole: 0n };
    groups.set(key, {
      ...own,
      ...{ impact: own.impact + impact, daily: own.daily + daily },
      ...{ added: own.added + toCome.added, whole: own.whole + toCome.addedIfItGoesOn },
    });
  }
  const size = ({ impact }: { readonly impact: bigint }) => (impact < 0n ? -impact : impact);
  return [...groups.values()].toSorted((a, b) => Number(size(b) - size(a)));
}

/** An anomaly of a forecast as data, USD as decimal text. */
export function anomalyJson(anomaly: ForecastAnomaly): Record<string, unknown> {
  const { key, firstDay, lastDay, impact, daily, added, addedIfItGoesOn } = anomaly;
  return {
    ...{ key, firstDay, lastDay },
    impact: moneyText(impact),
    goesOn: daily !== undefined,
    // For scripts that ask: what became the usual level is no longer among them.
    isNewLevel: false,
    daily: daily === undefined ? null : moneyText(daily),
    added: moneyText(added),
    addedIfItGoesOn: moneyText(addedIfItGoesOn),
  };
}
