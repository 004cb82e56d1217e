import { type Bench, type Figure, groupedBy } from '../figures.ts';
import { isKnowable, monthKinds, monthSeries } from '../month-series.ts';
import { asksPublicMethods } from '../peers.ts';
import { mean, type Score } from '../scores.ts';
import { forecastAll, known, numbers, peersText, percent, type Scored } from './forecast.ts';

/** The most that the total of a month may err, in per cent, from each of its days on. */
const monthGoals = new Map([
  [5, 8],
  [10, 6.5],
  [20, 4],
]);

/** The errors of whole months from some of their days on, and how often their intervals hold: by kind. */
export const monthsBench: Bench = {
  name: 'months',
  about: 'error and coverage of the total of a month from its day 5, 10 and 20, by kind, next to peers',
  async run({ quick, tell }) {
    const isPublic = await asksPublicMethods(quick, tell);
    const figures: Figure[] = [];
    for (const [day, target] of quick ? [...monthGoals].slice(0, 1) : monthGoals) {
      const all = monthKinds.flatMap((kind) => numbers(quick).map((number) => monthSeries(kind, number, day)));
      const { scores } = await forecastAll(all, isPublic);
      const wholes = new Map(all.map(({ id, month: whole }) => [id, whole]));
      // Per cent; of a month without costs there is no share.
      const errorOf = ({ sumOff }: Score, { id }: Scored) =>
        wholes.get(id) ? (100 * sumOff) / (wholes.get(id) ?? 1) : undefined;
      const meanOf = (some: readonly Scored[]) => mean(known(some.map((one) => errorOf(one.score, one))));
      for (const [kind, own] of groupedBy(scores, ({ family }) => family)) {
        const value = meanOf(own);
        const held = percent(own.map(({ score }) => (score.isSumHeld ? 1 : 0)));
        const what = `from day ${day}, ${kind}`;
        const others = peersText(own, errorOf);
        tell(`${what.padEnd(50)} errs by ${value.toFixed(1)} %, ${held.toFixed(0)} % held; ${others}`);
        figures.push(
          { bench: 'months', measured: `error of a month ${what}`, value, unit: '%' },
          {
            ...{ bench: 'months', measured: `within 80 % intervals ${what}`, value: held, unit: '%' },
            ...(isKnowable(kind, day) ? { least: 76, target: 84 } : {}),
          },
        );
      }
      const counted = scores.filter(({ family }) => isKnowable(family, day));
      tell(`from day ${day}, all kinds of which something can be known: ${peersText(counted, errorOf)}`);
      figures.push({
        bench: 'months',
        measured: `error of a month from day ${day}, all kinds of which something can be known`,
        value: meanOf(counted),
        unit: '%',
        target,
      });
    }
    return figures;
  },
};
