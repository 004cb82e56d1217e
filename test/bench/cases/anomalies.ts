import type { Bench, Figure } from '../figures.ts';
import {
  clearDeviations,
  type Detector,
  labelledYear,
  type Measured,
  measureYear,
  type Recall,
} from '../labelled-year.ts';

const scopes = 100;
const days = 365;
// Others than those that the detector was tuned on (1 to 12), and than those of the test.
const seeds = [201, 202, 203, 204, 205, 206, 207, 208, 209, 210];

/** What is told of a year in which it is known what happened. */
export const anomaliesBench: Bench = {
  name: 'anomalies',
  about: 'planted events told in time, and false ones, in labelled years of 100 scopes',
  async run({ quick, tell }) {
    const product = new URL('../../../dist/reports/index.js', import.meta.url);
    const detector = (await import(product.href)) as Detector;
    const asked = quick ? seeds.slice(0, 1) : seeds;
    const begun = performance.now();
    const years = asked.map((seed) => measureYear(labelledYear({ seed, scopes, days }), detector));
    const seconds = (performance.now() - begun) / 1000;
    const recall = addedUp(years);
    tell(
      `events of at least 5 USD and 30 %, ${asked.length} seeds; clear: at least ${clearDeviations} deviations of the scope's own chance`,
    );
    tell('kind         clear  in time   hidden by chance  in time  later');
    for (const [kind, { clear, clearInTime, hidden, hiddenInTime, hiddenLater }] of recall) {
      const cells = [clear, clearInTime].map((count) => String(count).padStart(7));
      const more = [hidden, hiddenInTime, hiddenLater].map((count) => String(count).padStart(9));
      tell(`${kind.padEnd(10)}${cells.join('  ')}  ${more.join('')}`);
    }
    const clear = [...recall.values()].reduce((sum, row) => sum + row.clear, 0);
    const inTime = [...recall.values()].reduce((sum, row) => sum + row.clearInTime, 0);
    const hidden = [...recall.values()].reduce((sum, row) => sum + row.hidden, 0);
    const caught = [...recall.values()].reduce((sum, row) => sum + row.hiddenInTime + row.hiddenLater, 0);
    const falseAlarms = years.reduce((sum, year) => sum + year.falseAlarms.length, 0);
    const figures: Figure[] = [
      {
        measured: `planted events not told within a day, of ${clear} clear ones`,
        value: clear - inTime,
        unit: 'events',
        target: 0,
      },
      {
        measured: 'false alarms in a month of 100 scopes',
        value: falseAlarms / asked.length / 12,
        unit: 'alarms',
        target: 1,
      },
      {
        measured: `told of ${hidden} events that chance hides on the day`,
        value: (100 * caught) / Math.max(1, hidden),
        unit: '%',
      },
      { measured: `a year of ${scopes} scopes, night by night`, value: seconds / asked.length, unit: 's' },
    ].map((figure) => ({ bench: 'anomalies', ...figure }));
    return figures;
  },
};

function addedUp(years: readonly Measured[]): ReadonlyMap<string, Recall> {
  const sums = new Map<string, Recall>();
  for (const year of years) {
    for (const [kind, row] of year.recall) {
      const before = sums.get(kind);
      sums.set(
        kind,
        before === undefined
          ? row
          : {
              clear: before.clear + row.clear,
              clearInTime: before.clearInTime + row.clearInTime,
              hidden: before.hidden + row.hidden,
              hiddenInTime: before.hiddenInTime + row.hiddenInTime,
              hiddenLater: before.hiddenLater + row.hiddenLater,
            },
      );
    }
  }
  return new Map([...sums].sort(([a], [b]) => (a < b ? -1 : 1)));
}
