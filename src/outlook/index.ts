export { expectedEnd, notBelowSpent, type PeriodEnd, toSaveDaily } from './ends.ts';
export { costAtPace, costOfDay, type KnownSpend, knownHours } from './pace.ts';
export {
  type AddedChange,
  type ForecastAnomaly,
  type Forecaster,
  forecastByEngine,
  forecastLevel,
  forecastPeriod,
  historyDays,
  type NoPeriodForecast,
  oddSteps,
  type PaceForecast,
  type PeriodAsked,
  type PeriodForecast,
  reachedOn,
  type Steps,
  stepHoursOf,
  toTrillionths,
} from './period-forecast.ts';
