export type { AskOptions } from './ask.ts';
export { type Answered, type AnswerFormat, answerFormats } from './question.ts';
export { askToFile, askToStream } from './tell.ts';
