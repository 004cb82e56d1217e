import { type AnomalyFact, anomalyOverWords, anomalyWords } from '../../anomalies/index.ts';
import { anomalyAddress } from '../../text/dashboard-address.ts';
import type { WordsOfKind } from '../kind.ts';

/** Unusual costs: the room of anomalies finds them. */
export const anomaly: WordsOfKind<AnomalyFact> = {
  words: anomalyWords,
  over: (fact) => ({ ...anomalyOverWords(fact), isNeutral: fact.isUsual === true }),
  amount: ({ impact }) => impact,
  size: ({ impact }) => Math.abs(Number(impact)),
  isDated: true,
  page: ({ key }) => anomalyAddress(key),
};
