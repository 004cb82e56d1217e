export { commandLineOf, inputOf, type Job, type Step, type StepName, stepRules } from './definition.ts';
export { serveHealth } from './health.ts';
export { jobNames, readJobs, readNamedJob } from './load.ts';
export type { JobReading } from './parse.ts';
export { outcomeOf, runSteps, type StepResult } from './run.ts';
export { doneThroughOf, type JobState, openScheduler, startRun } from './scheduler.ts';
export { farAheadMs, lastSlots, nextSlot } from './slots.ts';
