/** A sample as a collector reads it; of labels the order is left. */
export interface ReadSample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export interface ReadMetric {
  readonly type: string;
  readonly help: string;
  readonly samples: readonly ReadSample[];
}

/**
 * Reads the text exposition format 0.0.4, written by hand from its description: strict where collectors are, and about
 * what they do not say aloud: HELP and TYPE on each metric, its samples in one piece, none twice, no timestamps.
 */
export function parseExposition(text: string): ReadonlyMap<string, ReadMetric> {
  if (text !== '' && !text.endsWith('\n')) throw new Error('the last line is not ended by a line feed');
  const metrics = new Map<string, { type: string; help: string; samples: ReadSample[] }>();
  const seen = new Set<string>();
  let help: { name: string; text: string } | undefined;
  let open: string | undefined;
  for (const line of text.split('\n').slice(0, -1)) {
    const wrong = (why: string) => new Error(`${why}: ${JSON.stringify(line)}`);
    if (line.startsWith('# HELP ')) {
      const [, name = '', words = ''] = /^# HELP ([a-zA-Z_:][a-zA-Z0-9_:]*) (\S.*)$/.exec(line) ?? [];
      if (words === '') throw wrong('no help');
      if (metrics.has(name)) throw wrong('a second piece of a metric');
      help = { name, text: words };
      open = undefined;
    } else if (line.startsWith('# TYPE ')) {
      const [, name, type] = /^# TYPE (\S+) (counter|gauge)$/.exec(line) ?? [];
      if (name === undefined || type === undefined || help?.name !== name) throw wrong('no type of what was helped');
      if ((type === 'counter') !== name.endsWith('_total')) throw wrong('counters, and they alone, end in _total');
      metrics.set(name, { type, help: help.text, samples: [] });
      open = name;
    } else {
      const sample = readSample(line, wrong);
      if (sample.name !== open) throw wrong(`a sample among those of ${open}`);
      const key = JSON.stringify([sample.name, Object.entries(sample.labels).sort()]);
      if (seen.has(key)) throw wrong('the same sample twice');
      seen.add(key);
      metrics.get(sample.name)?.samples.push(sample);
    }
  }
  for (const [name, { samples }] of metrics) if (samples.length === 0) throw new Error(`${name} has no sample`);
  return metrics;
}

function readSample(line: string, wrong: (why: string) => Error): ReadSample {
  const name = /^[a-zA-Z_:][a-zA-Z0-9_:]*/.exec(line)?.[0];
  if (name === undefined) throw wrong('no name');
  const labels: Record<string, string> = {};
  let at = name.length;
  if (line[at] === '{') {
    at += 1;
    while (line[at] !== '}') {
      const label = /^[a-zA-Z_][a-zA-Z0-9_]*/.exec(line.slice(at))?.[0];
      if (label === undefined || label in labels) throw wrong('no label, or one twice');
      at += label.length;
      if (line.slice(at, at + 2) !== '="') throw wrong('no value of a label');
      at += 2;
      let value = '';
      while (line[at] !== '"') {
        if (at >= line.length) throw wrong('a value without end');
        if (line[at] !== '\\') value += line[at];
        else {
          at += 1;
          const escaped = { '\\': '\\', '"': '"', n: '\n' }[line[at] ?? ''];
          if (escaped === undefined) throw wrong('an escape that is none');
          value += escaped;
        }
        at += 1;
      }
      labels[label] = value;
      at += 1;
      if (line[at] === ',') at += 1;
      else if (line[at] !== '}') throw wrong('neither another label nor the end');
    }
    at += 1;
  }
  const number = /^ (-?\d+(?:\.\d+)?)$/.exec(line.slice(at))?.[1];
  if (number === undefined) throw wrong('no plain number');
  return { name, labels, value: Number(number) };
}
