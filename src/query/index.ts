export { runChecks } from './checks.ts';
export { isExitCode } from './child-words.ts';
export type { Parent, Services } from './protocol.ts';
export { type Answered, type AnswerFormat, answerFormats, type TableAnswer } from './question.ts';
export { type ChildLimits, runChild } from './run-child.ts';
export { askRows, askStatement } from './run-query.ts';
export { serveParent } from './serve-parent.ts';
export { askToFile, askToStream } from './write-answer.ts';
