export {
  commandLineOf,
  formats,
  type Job,
  type Ping,
  type Step,
  type StepName,
  type StepOption,
  stepNames,
  stepRules,
} from './definition.ts';
export { serveHealth } from './health.ts';
export { type JobsPlace, jobNames, loadJob, loadJobs, readJobs, readNamedJob, reservedNames } from './load.ts';
export { type JobInput, type JobReading, parseJob, readJob } from './parse.ts';
export { outcomeOf, runSteps, type StepResult } from './run.ts';
export { doneThroughOf, type JobState, openScheduler, startRun } from './scheduler.ts';
export { farAheadMs, lastSlots, nextSlot, slotsBetween } from './slots.ts';
export { parseTimetable, type Timetable } from './timetable.ts';
