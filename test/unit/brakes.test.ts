import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';

// What a machine holds so that the tree does not grow by itself. A ceiling goes down with each change that shrinks a room.
// It goes up only in a commit of its own whose message gives the reason.

const root = fileURLToPath(new URL('../..', import.meta.url));
const ceilings = JSON.parse(readFileSync(join(root, 'test/support/ceilings.json'), 'utf8')) as {
  /** The lines of each room of src, and of sql and test. */
  readonly lines: Readonly<Record<string, number>>;
  /** The names that the face of a room exports, where they are more than `usual`. */
  readonly names: { readonly usual: number; readonly beyond: Readonly<Record<string, number>> };
  /** How often a file searches in sentences. All others never do. */
  readonly prose: Readonly<Record<string, number>>;
};
/** A ceiling may be this much above what is there, so that a small change does not move it. */
const slack = 60;

function filesOf(folder: string): readonly string[] {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.(ts|sql)$/.test(entry.name))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)));
}

function textOf(path: string): string {
  return readFileSync(join(root, path), 'utf8');
}

const folders = readdirSync(join(root, 'src'), { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map((entry) => relative(join(root, 'src'), join(entry.parentPath, entry.name)));
const rooms = folders.filter((folder) => !folder.includes('/'));

test('no room has more lines than its ceiling, and no ceiling is far above its room', () => {
  const linesOf = (folder: string) =>
    filesOf(folder).reduce((sum, path) => sum + textOf(path).split('\n').length - 1, 0);
  const found = Object.fromEntries(
    [...rooms.map((room) => `src/${room}`), 'sql', 'test'].map((at) => [at, linesOf(at)]),
  );
  expect(Object.keys(ceilings.lines).sort()).toEqual(Object.keys(found).sort());
  const wrong = Object.entries(found).filter(([at, lines]) => {
    const ceiling = ceilings.lines[at] ?? 0;
    return lines > ceiling || lines < ceiling - slack * (at === 'test' ? 10 : 1);
  });
  expect(wrong).toEqual([]);
});

test('no face exports more names than its ceiling', () => {
  const namesOf = (room: string) => {
    const face = textOf(`src/${room}/index.ts`);
    const named = [...face.matchAll(/^export (?:type )?\{([^}]*)\}/gm)].flatMap(([, list = '']) => list.split(','));
    const whole = [...face.matchAll(/^export \* from '\.\/([^']*)'/gm)].flatMap(([, file = '']) => [
      ...textOf(`src/${room}/${file}`).matchAll(
        /^export (?:async )?(?:function\*?|const|class|interface|type) (\w+)/gm,
      ),
    ]);
    return named.filter((name) => name.trim() !== '').length + whole.length;
  };
  const faces = folders.filter((room) => existsSync(join(root, 'src', room, 'index.ts')));
  const beyond = faces
    .map((room) => [room, namesOf(room)] as const)
    .filter(([, names]) => names > ceilings.names.usual);
  expect(Object.fromEntries(beyond)).toEqual(ceilings.names.beyond);
});

describe('a sentence', () => {
  const holds = '(?:message|found|reason|words|sentence|error|next)';
  const search = new RegExp(
    String.raw`\b${holds}(?:\)|\?)?\.(?:includes|split|match|matchAll|replace|replaceAll|startsWith|search|indexOf)\(` +
      String.raw`|\.(?:test|exec)\((?:\w+\.)?(?:${holds}|messageOf\(\w+\)|firstSentence\(\w+\))\)`,
    'g',
  );

  test('is never searched, but in the files and as often as named', () => {
    const found = Object.fromEntries(
      filesOf('src').flatMap((path) => {
        const count = textOf(path).match(search)?.length ?? 0;
        return count === 0 ? [] : [[path, count]];
      }),
    );
    expect(found).toEqual(ceilings.prose);
  });
});
