import type { Spend } from './thresholds.ts';

/** This many budgets are named; the rest are counted. */
const named = 3;

/** A gap that several budgets and periods share. */
export interface Gap {
  /** `budget research, 2026-10-03`, `budgets research 2026-10-03, research 2026-10-04 and 12 more`. */
  readonly of: string;
  readonly isOne: boolean;
  readonly sentence: string;
}

/** Groups the gaps of spends, so that a night without data gives one sentence, not one for each budget and day. Pure. */
export function groupGaps(spends: readonly Pick<Spend, 'budget' | 'period' | 'gaps'>[]): Gap[] {
  const sentences = [...new Set(spends.flatMap(({ gaps }) => gaps))];
  const groups = new Map<string, { readonly own: typeof spends; readonly sentences: string[] }>();
  for (const sentence of sentences) {
    const own = spends.filter(({ gaps }) => gaps.includes(sentence));
    const key = JSON.stringify(own.map(({ budget, period }) => [budget, period.name]));
    const group = groups.get(key) ?? { own, sentences: [] };
    group.sentences.push(sentence);
    groups.set(key, group);
  }
  return [...groups.values()].map(({ own, sentences: all }) => ({
    of: namesOf(own),
    isOne: own.length === 1,
    sentence: all.join('; '),
  }));
}

function namesOf(spends: readonly Pick<Spend, 'budget' | 'period'>[]): string {
  const [only] = spends;
  if (only !== undefined && spends.length === 1) return `budget ${only.budget}, ${only.period.name}`;
  const names = spends.slice(0, named).map(({ budget, period }) => `${budget} ${period.name}`);
  const more = spends.length - names.length;
  return `budgets ${names.join(', ')}${more === 0 ? '' : ` and ${more} more`}`;
}
