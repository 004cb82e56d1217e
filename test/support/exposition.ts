/** A metric as the text format of Prometheus (0.0.4) has it. */
export interface ParsedMetric {
  readonly type: string;
  readonly help: string;
  readonly samples: readonly { readonly labels: Readonly<Record<string, string>>; readonly value: number }[];
}

const number = /^(?:[+-]?Inf|NaN|[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)$/;

/**
 * Reads a file strictly: HELP and TYPE of each metric once and before its samples, which stand together; every line ends
 * with a line feed; no sample is there twice; counters end with `_total` and nothing else does. Throws what is wrong.
 */
export function parseExposition(text: string): Map<string, ParsedMetric> {
  if (text !== '' && !text.endsWith('\n')) throw new Error('the last line has no end');
  const metrics = new Map<string, { type: string; help: string; samples: ParsedMetric['samples'][number][] }>();
  let current = '';
  for (const line of text.split('\n').slice(0, -1)) {
    const comment = /^# (HELP|TYPE) ([a-zA-Z_:][a-zA-Z0-9_:]*) (.+)$/.exec(line);
    if (comment !== null) {
      const [, kind, name = '', rest = ''] = comment;
      if (kind === 'HELP') {
        if (metrics.has(name)) throw new Error(`${name} is there twice`);
        metrics.set(name, { type: '', help: rest, samples: [] });
        current = name;
      } else {
        const metric = metrics.get(name);
        if (current !== name || metric === undefined || metric.type !== '')
          throw new Error(`TYPE of ${name} is out of place`);
        if (!['gauge', 'counter'].includes(rest)) throw new Error(`${name} is of type ${rest}`);
        if ((rest === 'counter') !== name.endsWith('_total')) throw new Error(`${name} is a ${rest}`);
        metric.type = rest;
      }
      continue;
    }
    const sample = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$/.exec(line);
    if (sample === null) throw new Error(`no sample: ${line}`);
    const [, name = '', inBraces, value = ''] = sample;
    const metric = metrics.get(name);
    if (name !== current || metric === undefined || metric.type === '') throw new Error(`${name} is out of place`);
    if (!number.test(value)) throw new Error(`no number: ${line}`);
    const labels = inBraces === undefined ? {} : parseLabels(inBraces);
    const key = JSON.stringify(Object.entries(labels).sort());
    if (metric.samples.some((other) => JSON.stringify(Object.entries(other.labels).sort()) === key)) {
      throw new Error(`the sample is there twice: ${line}`);
    }
    metric.samples.push({ labels, value: Number(value.replace('Inf', 'Infinity')) });
  }
  for (const [name, { samples, type }] of metrics) {
    if (type === '' || samples.length === 0) throw new Error(`${name} has no type or no sample`);
  }
  return metrics;
}

function parseLabels(text: string): Record<string, string> {
  const labels: Record<string, string> = {};
  let rest = text;
  while (rest !== '') {
    const pair = /^([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"(?:,|$)/.exec(rest);
    if (pair === null) throw new Error(`no label: ${rest}`);
    const [whole, name = '', value = ''] = pair;
    if (name in labels) throw new Error(`the label ${name} is there twice`);
    labels[name] = value.replaceAll(/\\(.)/g, (_, letter: string) => (letter === 'n' ? '\n' : letter));
    rest = rest.slice(whole.length);
  }
  return labels;
}
