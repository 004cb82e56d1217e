import { act, checkMachineStep, checkSqlStep } from '../../base/next-step.ts';
import { counted } from '../../text/counted.ts';
import { type Finding, findingOf } from '../finding.ts';
import type { CheckState, DataKind } from '../kind.ts';
import { isIngestFailed } from './run.ts';
import { changeWords } from './sentences.ts';

/** A check found rows, or failed. */
export interface CheckFact extends Finding<'check'> {
  readonly check: string;
  readonly about: string;
  readonly offenders: number | null;
  readonly error: string | null;
  readonly errorCode: NonNullable<CheckState['errorCode']> | null;
}

/** The findings that tell more than a check: what its rows mean, and what to do. */
const toldBetter: Readonly<Record<string, (other: Finding) => boolean>> = {
  coverage_has_no_hole: ({ kind }) => kind === 'unproven',
  closed_months_keep_their_numbers: (other) => other.kind === 'closed_month' && 'differs' in other,
  listings_are_complete: (other) => other.kind === 'listings' || isIngestFailed(other),
  workspaces_are_listed: (other) => other.kind === 'unlisted' || isIngestFailed(other),
};

export const check: DataKind<CheckFact, never> = {
  name: 'check',
  findings: (_, { checks, completeThrough }) =>
    checks
      .filter(({ offenders, error }) => offenders !== 0 || error !== null)
      .map(({ name, about, severity: ofCheck, offenders, error, errorCode = null }) => {
        const severity = ofCheck === 'fail' || error !== null ? 'critical' : 'warning';
        const head = findingOf('check', [name], { account: null, severity, completeThrough });
        return { ...head, check: name, about, offenders, error, errorCode };
      }),
  follows: ({ check: name, error }, others) => error === null && others.some((other) => toldBetter[name]?.(other)),
  isLookedFor: ({ check: name }, { checks }) => checks.some((one) => one.name === name),
  causes: ({ error, severity }) => [error === null ? `rows, ${severity}` : 'error'],
  causeWords: ({ error, offenders }) => (error === null ? `it found ${offenders} rows` : error),
  words: (fact) => ({
    title: `Check ${fact.check} ${outcomeWords(fact)}`,
    sentences: [
      ...(fact.about === '' ? [] : [`Expected: ${fact.about}`]),
      ...(fact.offenders === null ? [`Error: ${fact.error ?? 'its SQL is wrong'}`] : []),
      ...changeWords(fact),
    ],
  }),
  isRefreshed: true,
  over: ({ check: name, about }) => ({ title: `check ${name} passes again`, sentences: about === '' ? [] : [about] }),
  step: ({ check: name, error, errorCode }) => {
    if (error === null) return act('run "costbook check" to see the rows.');
    return errorCode === 'machine' ? checkMachineStep : checkSqlStep([name]);
  },
};

function outcomeWords({ offenders, error, severity }: CheckFact): string {
  if (offenders === null || error !== null) return 'cannot run';
  return `${severity === 'critical' ? 'fails' : 'warns'}: ${counted(offenders, 'row')} found, none expected`;
}
