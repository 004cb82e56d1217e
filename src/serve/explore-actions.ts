import { oneValue } from './dimensions.ts';
import { type Asked, addressOf, bucketWindow, pageOfGroup, shownWindow } from './explore-question.ts';
import { type Explored, sum, sumOf, unitPrice, usageDecimals } from './explored.ts';
import type { ChartActions } from './layout.ts';

/** What hovering, dragging and clicking need. */
export function actionsOf(asked: Asked, explored: Explored): ChartActions {
  const { measure, shape } = asked;
  const isTotal = shape === 'cumulative' && measure !== 'price';
  const decimals = measure === 'usage' ? usageDecimals : 12;
  const exact = (texts: readonly (string | undefined)[]) => {
    let total = sumOf([], decimals);
    return texts.map((text) => {
      if (text === undefined) return null;
      if (isTotal) total = sumOf([total, text], decimals);
      return isTotal ? total : text;
    });
  };
  const texts = explored.series.flatMap((series, place) => {
    const own = exact(series.texts);
    return [[`series-${place}`, own] as const, [`series-${place}-open`, own] as const];
  });
  const template = new URLSearchParams(addressOf(asked).split('?')[1]);
  for (const name of ['from', 'to', 'step']) template.delete(name);
  return {
    buckets: explored.labels.map((label) => {
      const { from, to } = shownWindow({ ...asked, ...bucketWindow(asked, Date.parse(label)) });
      return [from, to] as const;
    }),
    ...{ zoom: `/explore?${template}`, step: asked.step, finer: bucketWindow(asked, asked.from).step },
    links: explored.series.map(({ key }) => pageOfGroup(asked, explored.series, key)),
    texts: Object.fromEntries([...texts, ['before', exact(textsBefore(asked, explored))] as const]),
    ...(measure === 'price' ? {} : { totals: exact(totalsOf(explored, decimals)) }),
    unit:
      measure === 'cost'
        ? 'USD'
        : measure === 'usage'
          ? (oneValue(asked.filters['unit']) ?? '')
          : `USD per ${oneValue(asked.filters['unit']) ?? 'unit'}`,
  };
}

/** The measure of all groups together, bucket by bucket. */
function totalsOf({ labels, series }: Explored, decimals: number): (string | undefined)[] {
  return labels.map((_, index) => {
    const texts = series.map((each) => each.texts[index]);
    return texts.every((text) => text === undefined) ? undefined : sumOf(texts, decimals);
  });
}

/** The measure of all groups together in the window before, bucket by bucket; undefined where a bucket has several of them. */
export function textsBefore({ measure }: Asked, { labels, series }: Explored): (string | undefined)[] {
  const isLonger = series.some(({ before }) => before.isLonger);
  return labels.map((_, index) => {
    if (isLonger && index === labels.length - 1) return undefined;
    const costs = series.map(({ before }) => before.costs[index]).filter((cost) => cost !== undefined);
    if (costs.length === 0) return undefined;
    const usages = series.map(({ before }) => before.usages[index]);
    if (measure === 'cost') return sum(costs);
    const usage = sumOf(usages, usageDecimals);
    return measure === 'usage' ? usage : unitPrice(sum(costs), usage);
  });
}
