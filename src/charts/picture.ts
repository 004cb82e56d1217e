import type { EChartsCoreOption } from 'echarts/core';
import { usdUnit } from '../money/money.ts';
import { shownInstant } from '../time/time.ts';
import { type ExpectedBand, expectedBand, expectedBandKeys } from './expected-band.ts';
import { type MonthSoFar, monthKeys, monthSoFar } from './month-so-far.ts';
import { lightTheme } from './theme.ts';

/** The numbers of a chart, with what they show as a sentence, and as a description for people who do not see it. */
export interface DrawnRows<Rows> {
  readonly title: string;
  readonly description: string;
  readonly rows: Rows;
}

/** A chart that becomes a picture later, perhaps in another process: plain data that travels as JSON. */
export type Picture = {
  /** Its numbers are complete through this instant; null if nothing is complete yet. */
  readonly completeThrough: string | null;
} & (({ readonly shape: 'month' } & DrawnRows<MonthSoFar>) | ({ readonly shape: 'band' } & DrawnRows<ExpectedBand>));

export interface PictureSize {
  /** In CSS pixels. */
  readonly width: number;
  readonly height: number;
}

/** What a picture says in words: its finding, its description, and through when it is complete. */
export function wordsOf({ title, description, completeThrough }: Picture): string {
  return `${title}. ${description}${completeThrough === null ? '' : ` Complete through ${completeThrough}.`}`;
}

const margin = 16;
const titleSize = 15;
const titleLine = 20;
const titleLines = 2;
/** Labels on the time axis: as many as can be read on a phone. */
const timeLabels = 8;

/**
 * A chart as one self-contained drawing: finding, legend, chart, and through when it is complete. The font does not have
 * every character: a finding that it cannot show is left to the text around the picture.
 */
export function pictureOption(picture: Picture, { width }: PictureSize): EChartsCoreOption {
  const { completeThrough } = picture;
  const title = isDrawable(picture.title) ? picture.title : '';
  const lines = wrapped(title, (width - 2 * margin) / titleSize);
  const option =
    picture.shape === 'month' ? monthSoFar(picture.rows, lightTheme) : expectedBand(picture.rows, lightTheme);
  const keys = picture.shape === 'month' ? monthKeys(picture.rows) : expectedBandKeys;
  const top = margin + lines.length * titleLine;
  const { xAxis, series } = option as { xAxis: { axisLabel: object; data: unknown[] }; series: object[] };
  return {
    ...option,
    // Without symbols, which the legend would show at each line.
    series: series.map((each) => ('type' in each && each.type === 'line' ? { ...each, symbol: 'none' } : each)),
    xAxis: {
      ...xAxis,
      axisLabel: { ...xAxis.axisLabel, hideOverlap: false, interval: Math.ceil(xAxis.data.length / timeLabels) - 1 },
    },
    backgroundColor: lightTheme.background,
    title: [
      {
        ...{ text: lines.join('\n'), left: margin - 5, top: margin - 7 },
        textStyle: { color: lightTheme.text, fontSize: titleSize, fontWeight: 'bold', lineHeight: titleLine },
      },
      {
        text: `${picture.shape === 'month' ? (picture.rows.unit ?? usdUnit) : usdUnit}. ${completeThrough === null ? 'No complete hour yet' : `Complete through ${shownInstant(completeThrough)}`}`,
        ...{ left: margin - 5, bottom: margin - 8 },
        textStyle: { color: lightTheme.muted, fontSize: 12, fontWeight: 'normal' },
      },
    ],
    legend: {
      ...{ show: true, type: 'plain', left: margin - 5, top: top + 2, itemWidth: 18, itemHeight: 9, itemGap: 16 },
      textStyle: { color: lightTheme.text, fontSize: 13 },
      selectedMode: false,
      data: keys.map(({ name, look }) => ({ name, ...iconOf[look] })),
    },
    grid: {
      ...{ left: margin, right: margin + 4, top: top + 34, bottom: margin + 26 },
      ...{ outerBoundsMode: 'same', outerBoundsContain: 'axisLabel' },
    },
    tooltip: { show: false },
  };
}

const line = { icon: 'path://M0 0h18v3h-18z' };
/** The legend's signs: a legend of ECharts has no dashed line. */
const iconOf: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  'series-1': line,
  rest: line,
  forecast: { icon: 'path://M0 0h7.5v3h-7.5zM10.5 0h7.5v3h-7.5z' },
  before: { icon: 'path://M0 0h7.5v3h-7.5zM10.5 0h7.5v3h-7.5z' },
  band: { icon: 'roundRect', itemStyle: { color: lightTheme.rest, opacity: 0.3 } },
  mark: { icon: 'circle' },
};

/** A text as lines of at most `width` times its size, with `…` if it needs too many. */
function wrapped(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(' ').filter((each) => each !== '')) {
    const longer = `${lines.at(-1)} ${word}`;
    if (lines.length > 0 && widthOf(longer) <= width) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  const shown = lines.slice(0, titleLines);
  const isCut = lines.length > titleLines;
  return shown.map((each, index) => cutToWidth(isCut && index === titleLines - 1 ? `${each} …` : each, width));
}

function cutToWidth(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  const signs = [...text];
  while (signs.length > 0 && widthOf(`${signs.join('')}…`) > width) signs.pop();
  return `${signs.join('').trimEnd()}…`;
}

/** The width of a bold text as a multiple of its size, rather too much than too little. */
function widthOf(text: string): number {
  return [...text].reduce((sum, sign) => {
    if (/[MW@%…]/.test(sign)) return sum + 0.95;
    if (/[A-Z]/.test(sign)) return sum + 0.72;
    return sum + (/[ .,:;ijl|'-]/.test(sign) ? 0.33 : 0.58);
  }, 0);
}

/** Whether the font of pictures has every character: Latin, Greek, Cyrillic, Hebrew, and common signs. */
function isDrawable(text: string): boolean {
  return /^[\u0020-\u024f\u0370-\u0377\u0384-\u03ce\u0400-\u04ff\u1e00-\u1eff\u2010-\u2026\u2030\u20ac]*$/u.test(text);
}
