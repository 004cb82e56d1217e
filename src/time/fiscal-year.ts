/** Weeks of the three months of a quarter. */
export const weekPatterns = ['4-4-5', '4-5-4', '5-4-4'] as const;
export const monthNames = [
  ...(['january', 'february', 'march', 'april', 'may', 'june'] as const),
  ...(['july', 'august', 'september', 'october', 'november', 'december'] as const),
] as const;
export const weekdayNames = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'] as const;
/** Which day starts a year of whole weeks: the weekday nearest to the first of the month, or the last one up to it. */
export const weekStarts = ['nearest', 'before'] as const;
/** The calendar year that names a fiscal year: the one in which it starts, or in which it ends. */
export const yearNames = ['start', 'end'] as const;

/** A year of finance: twelve calendar months from any month, or whole weeks in a pattern such as 4-4-5. */
export interface FiscalYear {
  readonly start: (typeof monthNames)[number];
  readonly named: (typeof yearNames)[number];
  /** Undefined for calendar months. A year of 53 weeks has its last week in the last month. */
  readonly weeks: (typeof weekPatterns)[number] | undefined;
  readonly weekday: (typeof weekdayNames)[number];
  readonly weekStart: (typeof weekStarts)[number];
}

export const fiscalKinds = ['fiscal_month', 'fiscal_quarter', 'fiscal_year'] as const;
export type FiscalKind = (typeof fiscalKinds)[number];

/** A period of local days, each written as its midnight as if the zone were UTC. The end is exclusive. */
export interface LocalPeriod {
  readonly start: number;
  readonly end: number;
  /** `FY2027`, `FY2027-Q1` or `FY2027-P03`. */
  readonly name: string;
}

/** That of time.ts, which imports this file. */
const dayMs = 86_400_000;
/** Months of each kind of period. */
const lengths: Readonly<Record<FiscalKind, number>> = { fiscal_month: 1, fiscal_quarter: 3, fiscal_year: 12 };

/** The first day of a fiscal year. Pure, like all here. */
function firstDayOf(year: number, { start, named, weeks, weekday, weekStart }: FiscalYear): number {
  const month = monthNames.indexOf(start);
  const first = Date.UTC(named === 'end' && month > 0 ? year - 1 : year, month, 1);
  if (weeks === undefined) return first;
  const after = (weekdayNames.indexOf(weekday) - new Date(first).getUTCDay() + 7) % 7;
  const isLater = weekStart === 'nearest' ? after <= 3 : after === 0;
  return first + (isLater ? after : after - 7) * dayMs;
}

/** The first days of the twelve months of a fiscal year, and of the next year. */
function monthsOf(year: number, fiscal: FiscalYear): number[] {
  const first = firstDayOf(year, fiscal);
  const next = firstDayOf(year + 1, fiscal);
  if (fiscal.weeks === undefined) {
    const date = new Date(first);
    const months = Array.from({ length: 12 }, (_, month) =>
      Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + month, 1),
    );
    return [...months, next];
  }
  const weeks = fiscal.weeks.split('-').map(Number);
  let day = first;
  const months = Array.from({ length: 12 }, (_, month) => {
    const start = day;
    day += (weeks[month % 3] ?? 0) * 7 * dayMs;
    return start;
  });
  return [...months, next];
}

function periodOf(kind: FiscalKind, year: number, place: number, fiscal: FiscalYear): LocalPeriod {
  const months = monthsOf(year, fiscal);
  const length = lengths[kind];
  const part = {
    fiscal_month: `-P${String(place + 1).padStart(2, '0')}`,
    fiscal_quarter: `-Q${place + 1}`,
    fiscal_year: '',
  };
  return {
    start: months[place * length] ?? Number.NaN,
    end: months[(place + 1) * length] ?? Number.NaN,
    name: `FY${year}${part[kind]}`,
  };
}

/** The period of a kind that contains a local day. */
export function fiscalPeriodAt(kind: FiscalKind, day: number, fiscal: FiscalYear): LocalPeriod {
  let year = new Date(day).getUTCFullYear() + 2;
  while (firstDayOf(year, fiscal) > day) year -= 1;
  const month = monthsOf(year, fiscal).findLastIndex((start) => start <= day);
  return periodOf(kind, year, Math.floor(month / lengths[kind]), fiscal);
}

const names: Readonly<Record<FiscalKind, RegExp>> = {
  fiscal_month: /^FY(\d{4})-P(0[1-9]|1[0-2])$/,
  fiscal_quarter: /^FY(\d{4})-Q([1-4])$/,
  fiscal_year: /^FY(\d{4})$/,
};

/** The period of a kind with a name; undefined if the name has another form. */
export function fiscalPeriodNamed(kind: FiscalKind, name: string, fiscal: FiscalYear): LocalPeriod | undefined {
  const [, year, place = '1'] = names[kind].exec(name) ?? [];
  if (year === undefined || Number(year) < 1000) return undefined;
  return periodOf(kind, Number(year), Number(place) - 1, fiscal);
}
