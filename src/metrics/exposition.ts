/** One value of a metric, told apart from the others by its labels. */
export interface Sample {
  readonly labels: Readonly<Record<string, string>>;
  /** Decimal text where it is money. */
  readonly value: number | string;
}

/** A metric as Prometheus has them; without samples it is not told at all. */
export interface Metric {
  readonly name: string;
  readonly type: 'gauge' | 'counter';
  readonly help: string;
  readonly samples: readonly Sample[];
}

/** Of one metric no more samples are told: every one is a time series for whoever keeps them. */
const maxSamples = 500;

const leftOut = 'costbook_metrics_samples_left_out';

/**
 * Metrics in the text exposition format of Prometheus, version 0.0.4, in the order in which they are given. Of one with
 * more samples than whoever keeps them would like the first are told, and how many are not.
 */
export function expositionText(metrics: readonly Metric[]): string {
  const cut = metrics
    .filter(({ samples }) => samples.length > maxSamples)
    .map(({ name, samples }) => ({ labels: { metric: name }, value: samples.length - maxSamples }));
  const help = `Samples of a metric that are not told because there are more than ${maxSamples} of them.`;
  return [...metrics, { name: leftOut, type: 'gauge' as const, help, samples: cut }]
    .filter(({ samples }) => samples.length > 0)
    .map(textOf)
    .join('');
}

/**
 * Metrics in their text with these samples in the place of those with the same labels; what is not in the text yet is
 * added behind it. Pure.
 */
export function withSamples(text: string, metrics: readonly Metric[]): string {
  return metrics.reduce(withMetric, text);
}

/** A count in a text of metrics; 0 where it is not there. */
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
