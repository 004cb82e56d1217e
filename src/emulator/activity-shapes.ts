// How busy a resource is in each hour of a UTC week from Monday; 1 is its typical busy hour.

/** Hours of a week; the tables below have this many entries. */
export const hoursPerWeek = 168;

// 1970-01-01 was a Thursday: hour 0 of our count is three days into a week that starts on Monday.
const epochOffsetHours = 72;

/** The position of an hour (counted since 1970) in its week: 0 is Monday 00:00 UTC. */
export function hourOfWeek(hour: number): number {
  const place = (hour + epochOffsetHours) % hoursPerWeek;
  return place < 0 ? place + hoursPerWeek : place;
}

function week(level: (day: number, hour: number) => number): Float64Array {
  return Float64Array.from({ length: hoursPerWeek }, (_, i) => level(Math.floor(i / 24), i % 24));
}

const workday = [
  0, 0, 0, 0, 0, 0.05, 0.2, 0.55, 0.85, 1, 1, 0.9, 0.7, 0.9, 1, 1, 0.95, 0.7, 0.4, 0.25, 0.15, 0.08, 0.03, 0,
];
const evening = [
  0.32, 0.25, 0.2, 0.18, 0.18, 0.22, 0.3, 0.42, 0.55, 0.65, 0.72, 0.78, 0.8, 0.8, 0.82, 0.85, 0.9, 0.97, 1, 1, 0.92,
  0.75, 0.58, 0.42,
];

function isWeekend(day: number): boolean {
  return day >= 5;
}

/** The weekly patterns of the story's resources. */
export const shapes = {
  /** Always on: storage, domains, instances kept warm. */
  steady: week(() => 1),
  /** People at work: nothing at night, hardly anything at weekends. */
  office: week((day, hour) => (workday[hour] ?? 0) * (isWeekend(day) ? 0.08 : 1)),
  /** Customers: a low night, a high evening, a quieter weekend. */
  customers: week((day, hour) => (evening[hour] ?? 0) * (isWeekend(day) ? 0.62 : 1)),
  /** A batch every night at two. */
  nightly: week((_, hour) => [0, 0, 1, 1, 0.7, 0.2][hour] ?? 0),
  /** A batch every Monday morning. */
  mondays: week((day, hour) => (day === 0 && hour >= 4 && hour < 9 ? 1 : 0)),
  /** A short batch every six hours. */
  sixHourly: week((_, hour) => (hour % 6 === 1 ? 1 : 0)),
  /** Demos on some weekday afternoons. */
  demos: week((day, hour) => (!isWeekend(day) && hour >= 13 && hour < 18 ? ([0.6, 1, 0.9, 1, 0.5][day] ?? 0) : 0)),
} as const;

export type ShapeName = keyof typeof shapes;
