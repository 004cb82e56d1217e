/** One value of a metric, identified by its labels. */
export interface Sample {
  readonly labels: Readonly<Record<string, string>>;
  /** Decimal text for money. */
  readonly value: number | string;
}

/** A Prometheus metric; without samples it is left out. */
export interface Metric {
  readonly name: string;
  readonly type: 'gauge' | 'counter';
  readonly help: string;
  readonly samples: readonly Sample[];
}

/** The most samples of one metric: each is a time series for the collector. */
const maxSamples = 500;

const leftOut = 'costbook_metrics_samples_left_out';

/**
 * Metrics in the text exposition format of Prometheus, version 0.0.4, in the given order. A metric with too many samples
 * is cut, and another metric counts those left out.
 */
export function expositionText(metrics: readonly Metric[]): string {
  const cut = metrics
    .filter(({ samples }) => samples.length > maxSamples)
    .map(({ name, samples }) => ({ labels: { metric: name }, value: samples.length - maxSamples }));
  const help = `Samples of a metric that were left out because it has more than ${maxSamples}.`;
  return [...metrics, { name: leftOut, type: 'gauge' as const, help, samples: cut }]
    .filter(({ samples }) => samples.length > 0)
    .map(textOf)
    .join('');
}

/**
 * The text of metrics with these samples replacing those with the same labels; new ones are appended. Pure.
 */
export function withSamples(text: string, metrics: readonly Metric[]): string {
  return metrics.reduce(withMetric, text);
}

/** A count in a text of metrics; 0 if it is missing. */
export function sampleIn(text: string, name: string, labels: Sample['labels']): number {
  const head = `${nameOf(name, { labels, value: 0 })} `;
  const line = text.split('\n').find((one) => one.startsWith(head));
  const count = Number(line?.slice(head.length) ?? 0);
  return Number.isSafeInteger(count) ? count : 0;
}

function withMetric(text: string, { name, type, help, samples }: Metric): string {
  const own = new RegExp(`^# HELP ${name} .*\\n# TYPE .*\\n(?:${name}[{ ].*\\n)*`, 'm');
  const [before = ''] = own.exec(text) ?? [];
  const added = textOf({ name, type, help, samples });
  const heads = samples.map((sample) => `${nameOf(name, sample)} `);
  const others = before
    .split('\n')
    .slice(2)
    .filter((line) => line !== '' && !heads.some((head) => line.startsWith(head)));
  const block = `${added}${others.map((line) => `${line}\n`).join('')}`;
  return before === '' ? `${text}${block}` : text.replace(own, () => block);
}

function textOf({ name, type, help, samples }: Metric): string {
  const lines = samples.slice(0, maxSamples).map((sample) => `${nameOf(name, sample)} ${sample.value}\n`);
  const said = help.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
  return `# HELP ${name} ${said}\n# TYPE ${name} ${type}\n${lines.join('')}`;
}

function nameOf(name: string, { labels }: Sample): string {
  const pairs = Object.entries(labels).map(([label, text]) => `${label}="${escaped(text)}"`);
  return `${name}${pairs.length === 0 ? '' : `{${pairs.join(',')}}`}`;
}

function escaped(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}
