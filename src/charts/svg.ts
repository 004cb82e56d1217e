import { BarChart, LineChart, ScatterChart } from 'echarts/charts';
import {
  AriaComponent,
  GridComponent,
  LegendComponent,
  MarkLineComponent,
  TitleComponent,
  TooltipComponent,
} from 'echarts/components';
import * as echarts from 'echarts/core';
import { LabelLayout } from 'echarts/features';
import { SVGRenderer } from 'echarts/renderers';
import { escapeMarkup } from '../text/markup.ts';
import type { Chart } from './chart.ts';

echarts.use([
  ...[BarChart, LineChart, ScatterChart, GridComponent, LegendComponent, MarkLineComponent],
  ...[AriaComponent, TitleComponent, TooltipComponent, LabelLayout, SVGRenderer],
]);

/**
 * Draws a chart as the text of one SVG element, without a DOM. Equal charts give equal text. It contains no style, class
 * or script, so that a strict Content-Security-Policy admits it, and all text in it is escaped.
 */
export function chartToSvg(chart: SvgChart, size: { readonly width: number; readonly height: number }): string {
  const instance = echarts.init(null, null, { renderer: 'svg', ssr: true, ...size });
  try {
    instance.setOption(chart.option);
    return tidy(instance.renderToSVGString({ useViewBox: true }), chart);
  } finally {
    instance.dispose();
  }
}

const open = /^<svg width="(\d+)" height="(\d+)"/;

/** What a drawing needs of a chart. */
export type SvgChart = Pick<Chart, 'id' | 'title' | 'description' | 'option'>;

/** The SVG with a name for screen readers, ids of its own, and attributes where ECharts writes styles. */
function tidy(svg: string, { id, title, description }: SvgChart): string {
  return svg
    .replace(open, `<svg role="img" aria-labelledby="${id}-title ${id}-text" preserveAspectRatio="xMidYMid meet"`)
    .replace(
      '>',
      `><title id="${id}-title">${escapeMarkup(title)}</title><desc id="${id}-text">${escapeMarkup(description)}</desc>`,
    )
    .replace(/ class="zr\d+-cls-\d+"/g, '')
    .replace(/<style[^>]*>[\s\S]*?<\/style>/g, '')
    .replace(/\bzr\d+-/g, `${id}-`)
    .replace(/ style="([^"]*)"/g, (_, style: string) => attributes(style));
}

/** `font-size:12px;font-family:x;` as presentation attributes. */
function attributes(style: string): string {
  return style
    .split(';')
    .map((rule) => /^\s*(font-(?:size|family|weight|style)|opacity|fill|stroke)\s*:\s*(.+?)\s*$/.exec(rule))
    .map((found) => (found === null ? '' : ` ${found[1]}="${found[2]}"`))
    .join('');
}
