import type { Readable } from 'node:stream';

/** The lines of a text, to be written one by one. */
export function linesOf(text: string): readonly string[] {
  return text.split('\n');
}

/** The lines of a stream. Only \n ends one: readline of Node 22 and newer also takes U+2028 and U+2029, which names may have. */
export async function* linesIn(input: Readable): AsyncGenerator<string> {
  let pieces: string[] = [];
  for await (const chunk of input.setEncoding('utf8')) {
    const [first = '', ...others] = linesOf(String(chunk));
    pieces.push(first);
    for (const next of others) {
      yield pieces.join('');
      pieces = [next];
    }
  }
  const last = pieces.join('');
  if (last !== '') yield last;
}
