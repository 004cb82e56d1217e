export type { RunContext, RunUnderWay } from './context.ts';
export { type Outcome, openEnd, openForRun, withStepOfRun, writingRun } from './writing-run.ts';
