import { compiled } from '../compiled.ts';
import type { Bench, Figure } from '../figures.ts';
import {
  addedRecall,
  clearDeviations,
  type Detector,
  labelledYear,
  measureYear,
  type Recall,
} from '../labelled-year.ts';
import { mean } from '../scores.ts';
import { measureStarts, type Product, startKinds } from '../starts.ts';
import { measureUnruly, peerAlarms, productAlarms, unrulySeries } from '../unruly-series.ts';

const scopes = 100;
const days = 365;
// Others than those that the detector was tuned or mended on (1 to 40, 101 to 128, 201 to 210, 501 to 520, 601 to 616,
// 701 to 740), and than those of the test.
const seeds = Array.from({ length: 10 }, (_, index) => 1301 + index);

/** What is reported in a year with known events. */
export const anomaliesBench: Bench = {
  name: 'anomalies',
  about: 'planted events told in time, and false ones, in labelled years of 100 scopes',
  async run({ quick, tell }) {
    const parts = await compiled(
      ...(['anomalies/detect', 'anomalies/evaluate-scope', 'anomalies/notices', 'anomalies/rules'] as const),
      'anomalies/beginning',
    );
    const detector: Detector = {
      ...parts['anomalies/detect'],
      ...parts['anomalies/evaluate-scope'],
      ...parts['anomalies/notices'],
      ...parts['anomalies/rules'],
    };
    const asked = quick ? seeds.slice(0, 1) : seeds;
    const begun = performance.now();
    const years = asked.map((seed) => measureYear(labelledYear({ seed, scopes, days }), detector));
    const seconds = (performance.now() - begun) / 1000;
    const recall = addedUp(years.map((year) => year.recall));
    const byNoise = addedUp(years.map((year) => year.recallByNoise));
    tell(
      `events of at least 5 USD and 30 %, ${asked.length} seeds; clear: on their first day at least ${clearDeviations} deviations of the scope's own chance`,
    );
    tellRows(tell, 'kind', recall);
    tellRows(
      tell,
      'days apart',
      new Map([...byNoise].map(([noise, row]) => [`${noise * 100} %`.padStart(4), row] as const)),
    );
    const clear = [...recall.values()].reduce((sum, row) => sum + row.clear, 0);
    const inTime = [...recall.values()].reduce((sum, row) => sum + row.clearInTime, 0);
    const hidden = [...recall.values()].reduce((sum, row) => sum + row.hidden, 0);
    // Where 30 % is as far from chance as that whatever the day, nothing may be hidden by it.
    const calm = [...byNoise].filter(([noise]) => Math.log(1.3) >= clearDeviations * noise).map(([, row]) => row);
    const calmPlanted = calm.reduce((sum, row) => sum + row.clear + row.hidden, 0);
    const calmInTime = calm.reduce((sum, row) => sum + row.clearInTime + row.hiddenInTime, 0);
    const caught = [...recall.values()].reduce((sum, row) => sum + row.hiddenInTime + row.hiddenLater, 0);
    const messages = years.reduce((sum, year) => sum + year.messages, 0);
    const again = years.reduce((sum, year) => sum + year.again, 0);
    const falseMessages = years.flatMap((year) => year.falseAlarms);
    const falseOf = (words: readonly string[]) => words.filter((one) => one.endsWith(', first')).length;
    const bySeed = years.map((year) => falseOf(year.falseAlarms) / 12);
    tell(`false alarms in a month, by seed from ${asked[0]} on: ${bySeed.map((value) => value.toFixed(2)).join(', ')}`);
    const figures: Figure[] = [
      {
        measured: `planted events not told within a day, of all ${calmPlanted} in scopes in which 30 % stands out of chance`,
        value: calmPlanted - calmInTime,
        unit: 'events',
        target: 0,
      },
      {
        measured: `planted events not told within a day, of ${clear} of at least ${clearDeviations} deviations in all scopes`,
        value: clear - inTime,
        unit: 'events',
        target: 0,
      },
      {
        measured: 'false alarms in a month of 100 scopes',
        value: mean(bySeed),
        unit: 'alarms',
        target: 0.3,
      },
      {
        measured: `the same with the worst of ${asked.length} seeds`,
        value: Math.max(...bySeed),
        unit: 'alarms',
        target: 0.3,
      },
      {
        measured: 'messages about false alarms in a month of 100 scopes, with those that repeat them',
        value: falseMessages.length / asked.length / 12,
        unit: 'alarms',
        target: 1,
      },
      {
        measured: `messages that report an anomaly again, of ${messages}`,
        value: (100 * again) / Math.max(1, messages),
        unit: '%',
      },
      {
        measured: `told, in time or later, of ${hidden} events below ${clearDeviations} deviations, which chance may hide`,
        value: (100 * caught) / Math.max(1, hidden),
        unit: '%',
      },
      { measured: `a year of ${scopes} scopes, night by night`, value: seconds / asked.length, unit: 's' },
      ...unrulyFigures(asked, detector, tell),
      ...startFigures(asked, {
        ...parts['anomalies/detect'],
        ...parts['anomalies/rules'],
        ...parts['anomalies/beginning'],
      }),
    ].map((figure) => ({ bench: 'anomalies', ...figure }));
    return figures;
  },
};

/** Starts of each kind and seed. */
const eachStart = 200;

/** How often the start that is told of an anomaly is close to the planted one, of all that are found. */
function startFigures(asked: readonly number[], product: Product): Omit<Figure, 'bench'>[] {
  const within = { triples: 1, 'adds half': 6 } as const;
  return startKinds.map((kind) => {
    const apart = asked.flatMap((seed) => measureStarts(kind, seed, eachStart, product));
    const close = apart.filter((hours) => hours <= within[kind]).length;
    return {
      measured: `starts told within ${within[kind]} h, of ${apart.length} anomalies whose start ${kind === 'triples' ? 'at least triples the cost of its hour' : 'adds half'}`,
      value: (100 * close) / Math.max(1, apart.length),
      unit: '%',
      least: 95,
    };
  });
}

/** Series of each family and seed. */
const eachFamily = 20;

/** What is found of changes that double or halve a day, in series of other shapes, beside a simple peer. */
function unrulyFigures(
  asked: readonly number[],
  detector: Detector,
  tell: (line: string) => void,
): Omit<Figure, 'bench'>[] {
  const all = asked.flatMap((seed) => unrulySeries(seed, eachFamily));
  const peer = measureUnruly(all, peerAlarms);
  tell('family     months  planted   found  false in a month   simple peer: found  false in a month');
  return [...measureUnruly(all, productAlarms(detector))].flatMap(
    ([family, { months, planted, found, falseAlarms }]) => {
      const other = peer.get(family);
      const numbers = [months.toFixed(0), planted, found, (falseAlarms / months).toFixed(3)];
      const others = [other?.found ?? 0, ((other?.falseAlarms ?? 0) / months).toFixed(3)];
      tell(`${family.padEnd(9)}${[...numbers, ...others].map((cell) => String(cell).padStart(9)).join('')}`);
      return [
        {
          measured: `changes that double or halve a day found within two days, ${family} series`,
          value: (100 * found) / Math.max(1, planted),
          unit: '%',
          least: 50,
        },
        {
          measured: `false alarms in a month of one of ${family} series`,
          value: falseAlarms / months,
          unit: 'alarms',
          target: 0.05,
        },
      ];
    },
  );
}

function tellRows(tell: (line: string) => void, title: string, rows: ReadonlyMap<string, Recall>): void {
  tell(`${title.padEnd(10)}   clear  in time   hidden by chance  in time  later`);
  for (const [name, { clear, clearInTime, hidden, hiddenInTime, hiddenLater }] of rows) {
    const cells = [clear, clearInTime].map((count) => String(count).padStart(7));
    const more = [hidden, hiddenInTime, hiddenLater].map((count) => String(count).padStart(9));
    tell(`${name.padEnd(10)}${cells.join('  ')}  ${more.join('')}`);
  }
}

function addedUp<Key extends string | number>(years: readonly ReadonlyMap<Key, Recall>[]): ReadonlyMap<Key, Recall> {
  const sums = new Map<Key, Recall>();
  for (const year of years) {
    for (const [key, row] of year) sums.set(key, addedRecall(sums.get(key), row));
  }
  return new Map([...sums].sort(([a], [b]) => (a < b ? -1 : 1)));
}
