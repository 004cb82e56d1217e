/**
 * The colors of a chart. The series colors are those of Okabe and Ito, which people with any kind of color blindness can
 * tell apart, ordered so that neighbors differ in lightness too.
 */
export interface Theme {
  readonly series: readonly string[];
  /** What is not among the largest. */
  readonly rest: string;
  readonly text: string;
  readonly muted: string;
  readonly grid: string;
  readonly background: string;
  /** A budget's line, and what exceeds it. */
  readonly limit: string;
}

/** For paper, mail and files. */
export const lightTheme: Theme = {
  series: ['#0072b2', '#e69f00', '#009e73', '#cc79a7', '#56b4e9', '#d55e00', '#8c6d1f'],
  rest: '#9aa1ab',
  text: '#1f2430',
  muted: '#5b6472',
  grid: '#e3e6eb',
  background: '#ffffff',
  limit: '#b3261e',
};

/** For a page: the page's style sheet defines the colors, so that dark mode needs no second drawing. */
export const pageTheme: Theme = {
  series: lightTheme.series.map((_, index) => `var(--series-${index + 1})`),
  rest: 'var(--series-rest)',
  text: 'var(--text)',
  muted: 'var(--muted)',
  grid: 'var(--grid)',
  background: 'var(--surface)',
  limit: 'var(--limit)',
};

/** How many series have a color of their own; further ones repeat them. */
export const seriesColors = lightTheme.series.length;
