import { readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { basename, dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { shipped } from './places.ts';

/**
 * A stack of the compiled program with the places in our files, `src/main.ts:12:5`, by the maps that lie beside the
 * compiled files. A place that no map knows stays as it is. Throws nothing.
 */
export function sourceStack(stack: string): string {
  const maps = new Map<string, SourceMap | undefined>();
  const compiled = dirname(shipped('dist/main.js'));
  return stack.replace(/(?:file:\/\/)?\/[^\s()]*\.js:(\d+):(\d+)/g, (place, line: string, column: string) => {
    try {
      const address = place.replace(/:\d+:\d+$/, '');
      const path = address.startsWith('file:') ? fileURLToPath(address) : address;
      if (dirname(path) !== compiled) return place;
      if (!maps.has(path)) maps.set(path, readMap(`${path}.map`));
      const found = maps.get(path)?.findEntry(Number(line) - 1, Number(column) - 1);
      if (found === undefined || !('originalSource' in found)) return place;
      // Sources are named from the folder of the compiled files.
      const source = normalize(join(basename(compiled), found.originalSource));
      return `${source}:${found.originalLine + 1}:${found.originalColumn + 1}`;
    } catch {
      return place;
    }
  });
}

function readMap(path: string): SourceMap {
  return new SourceMap(JSON.parse(readFileSync(path, 'utf8')));
}
