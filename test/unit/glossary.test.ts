import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { allCommands } from '../../src/commands/index.ts';

/** Words that docs/glossary.md has another word for, and that word. */
const otherWords: Readonly<Record<string, string>> = {
  amounts: 'hourly_costs, row_count or limits',
  because: 'reason',
  digest: 'summary or sha256',
  heard: 'received',
  kept: 'evaluated or stored',
  lacking: 'missing, or gaps',
  landed: 'stored, or landing reader and writer',
  moment: 'as of',
  piece: 'window',
  pieces: 'windows',
  proofs: 'reconciliation',
  replay: 'back-test',
  said: 'display value',
  sight: 'reduced access',
  slice: 'window',
  standing: 'change type',
  stretch: 'window',
  told: 'notified',
  turn: 'change point',
  turns: 'limiter',
  witness: 'verifier',
};

/** `is_told` and `isTold` as words. */
function wordsOf(name: string): string[] {
  return (name.match(/[A-Z]+(?![a-z])|[A-Z]?[a-z]+/g) ?? []).map((word) => word.toLowerCase());
}

/** What each of these names should say, with the place where it stands. */
function banned(names: Iterable<string>, where: string): string[] {
  return [...new Set(names)].flatMap((name) =>
    wordsOf(name).flatMap((word) => {
      const other = Object.hasOwn(otherWords, word) ? otherWords[word] : undefined;
      return other === undefined ? [] : [`${where}: ${name}: "${word}" is ${other} (docs/glossary.md)`];
    }),
  );
}

function filesBelow(folder: string, ending: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith(ending))
    .map((file) => join(folder, file))
    .sort();
}

const matchesOf = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map(([, name = '']) => name);

test('the glossary explains at most 40 terms, each once, in one line', () => {
  const terms = matchesOf(readFileSync('docs/glossary.md', 'utf8'), /^\| (.+?) \|/gm).filter((term) => term !== 'term');
  expect(terms.length).toBeLessThanOrEqual(40);
  expect(terms).toEqual([...new Set(terms)]);
});

test('commands, arguments and options use the words of the glossary', async () => {
  const found: string[] = [];
  for (const command of await allCommands()) {
    const flags = (command.options ?? []).map((option) => option.flags);
    const args = (command.arguments ?? []).map(({ name }) => name);
    found.push(...banned([command.name, ...flags, ...args], `costbook ${command.name}`));
  }
  expect(found).toEqual([]);
});

test('tables, views and columns use the words of the glossary, and so do the names of SQL files', () => {
  // A migration that was applied is never edited: the first five have the old names.
  const files = filesBelow('sql', '.sql').filter((file) => !/migrations.000[1-6]_/.test(file));
  const found = files.flatMap((file) => {
    const code = readFileSync(file, 'utf8').replaceAll(/--[^\n]*|'(?:[^']|'')*'/g, ' ');
    return banned([file, ...matchesOf(code, /(\w+)/g)], file);
  });
  expect(found).toEqual([]);
});

test('exported names and names of files use the words of the glossary', () => {
  const exported = /^export (?:async )?(?:function\*?|const|let|(?:abstract )?class|interface|type) (\w+)/gm;
  const found = filesBelow('src', '.ts').flatMap((file) =>
    banned([file, ...matchesOf(readFileSync(file, 'utf8'), exported)], file),
  );
  expect(found).toEqual([]);
});

test('fields of log events use the words of the glossary', () => {
  const found = filesBelow('src', '.ts').flatMap((file) => {
    const calls = matchesOf(readFileSync(file, 'utf8'), /\blog\.(?:info|warn)\(([^;]*?)\);/gs);
    return banned(
      calls.flatMap((call) => matchesOf(call, /[{,]\s*(\w+)\s*(?=[:,}])/g)),
      file,
    );
  });
  expect(found).toEqual([]);
});

test('docs name flags, views, columns and keys by the words of the glossary', () => {
  const files = ['README.md', ...filesBelow('docs', '.md')];
  const found = files.flatMap((file) => {
    const text = readFileSync(file, 'utf8');
    return banned([...matchesOf(text, /`([\w-]+)`/g), ...matchesOf(text, /(--[a-z][a-z-]+)/g)], file);
  });
  expect(found).toEqual([]);
});
