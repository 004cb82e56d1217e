const months = [
  ...['January', 'February', 'March', 'April', 'May', 'June'],
  ...['July', 'August', 'September', 'October', 'November', 'December'],
];

/** `November`, of a day or month. */
export function monthName(date: string): string {
  return months[Number(date.slice(5, 7)) - 1] ?? date;
}

/** `15 Nov`; with the year if it differs from the last day's. */
export function dayWords(day: string, lastDay: string): string {
  const year = day.slice(0, 4) === lastDay.slice(0, 4) ? '' : ` ${day.slice(0, 4)}`;
  return `${Number(day.slice(8, 10))} ${monthName(day).slice(0, 3)}${year}`;
}
