import { oneLine, shorten } from '../text/safe-text.ts';
import type { Answered } from './call-platform.ts';

/** The longest answer that is stored and shown, in characters. */
export const maxAnswerText = 2000;
/** Lines of an answer that are shown. */
const maxLines = 30;
/** Slack and mail cut longer lines. */
const maxLineLength = 400;

/** Fields in which an answer has its text; the document does not show the shape of answers. */
const textFields = [
  'choices',
  'output',
  'answer',
  'response',
  'text',
  'message',
  'content',
  'result',
  'outputs',
] as const;
const maxDepth = 4;

/** The text for people in an answer, in at most `maxAnswerText` characters; empty if it has none. Pure. */
export function answerText({ text, isCut }: Answered): string {
  const found = textIn(parsed(text)) ?? text;
  return boundedText(`${found}${isCut ? '\n…' : ''}`);
}

/** What a job says about the execution that it started: its id and status. Pure. */
export function executionText({ text }: Answered): string {
  const value = parsed(text);
  if (!isObject(value)) return '';
  const parts = ['id', 'executionId', 'status'].flatMap((name) => {
    const field = value[name];
    return typeof field === 'string' && field !== '' ? [`${name === 'status' ? 'status' : 'execution'} ${field}`] : [];
  });
  return boundedText([...new Set(parts)].join(', ')); // the id may come under both names
}

/** The text that a model wrote; undefined if the answer is cut, or has none. Pure. */
export function completionText({ text, isCut }: Answered): string | undefined {
  if (isCut) return undefined;
  const value = parsed(text);
  const found = isObject(value) ? textIn(value) : undefined;
  return found?.trim() === '' ? undefined : found;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** The first text in the usual places: of an agent, of a chat completion, of a list of parts. */
function textIn(value: unknown, depth = 0): string | undefined {
  if (typeof value === 'string') return value;
  if (depth > maxDepth) return undefined;
  if (Array.isArray(value)) {
    const texts = value.slice(0, 100).flatMap((part) => textIn(part, depth + 1) ?? []);
    return texts.length === 0 ? undefined : texts.join('\n');
  }
  if (!isObject(value)) return undefined;
  for (const field of textFields) {
    const found = textIn(value[field], depth + 1);
    if (found !== undefined) return found;
  }
  return undefined;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Lines without control and hidden characters, none too long, and not too many. */
export function boundedText(text: string): string {
  const lines = text
    .slice(0, 4 * maxAnswerText)
    .split(/\r\n|[\n\r\u2028\u2029]/)
    .flatMap((line) => folded(oneLine(line).trim()))
    .filter((line, index, all) => line !== '' || (index > 0 && all[index - 1] !== ''));
  const shown = lines.length > maxLines ? [...lines.slice(0, maxLines), '…'] : lines;
  return shorten(shown.join('\n').trim(), maxAnswerText);
}

/** A long line in several, broken at spaces where it has some. */
function folded(line: string): string[] {
  const lines: string[] = [];
  let rest = line;
  while (rest.length > maxLineLength) {
    const space = rest.lastIndexOf(' ', maxLineLength);
    const end = space > maxLineLength / 2 ? space : maxLineLength;
    lines.push(rest.slice(0, end));
    rest = rest.slice(end).trimStart();
  }
  return [...lines, rest];
}
