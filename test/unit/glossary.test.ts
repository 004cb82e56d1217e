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

/** Words and phrases that no sentence has, and what to write. As names they are in the list above; here they are prose. */
const notInSentences: readonly (readonly [pattern: RegExp, other: string])[] = [
  [/\btold\b|(?<!cannot )\btells?\b(?! apart)/i, 'notify, report, show or name'],
  [/\bheard?\b|\bhears\b/i, 'get, receive or be notified'],
  [/\bsight\b/i, 'access'],
  [/\black(?:s|ing)\b/i, 'missing, or has no'],
  [/\b(?:is|are|was|were|be|been) kept\b/i, 'stored or evaluated'],
  [/\blanded\b/i, 'stored'],
  [/\banew\b/i, 'again, recreate or rebuild'],
  [/\bproofs\b|\bthe proof\b/i, 'reconciliation'],
  [/\b(?:do|does|did)(?: not|n't) prove\b/i, 'does not match, or is unproven'],
  [/\bstretch(?:es)?\b|\bpieces?\b/i, 'window, range or part'],
  [/\bwitness(?:es)?\b/i, 'verifier'],
  [/\b(?:messages?|weekly|monthly) digests?\b|\bdigests? (?:of|for) (?:a |the )?(?:week|month)/i, 'summary'],
  [/\bunder way\b/i, 'running or in progress'],
  [/\bin force\b/i, 'active, current or applied'],
  [/\bput right\b/i, 'corrected or fixed'],
  [/\bwhence\b|\bthereby\b|\bherein\b|\bwhoever\b|\bat all times\b/i, 'a plain sentence'],
];

/** The places in which a text has one of these, and what to write. */
function bannedInSentences(text: string, where: string): string[] {
  return notInSentences.flatMap(([pattern, other]) => {
    const found = pattern.exec(text);
    const around = text.slice(Math.max(0, (found?.index ?? 0) - 40), (found?.index ?? 0) + 40).replaceAll('\n', ' ');
    return found === null ? [] : [`${where}: "${found[0]}" in "${around}": write ${other}`];
  });
}

/** `is_told` and `isTold` as words. */
function wordsOf(name: string): string[] {
  return (name.match(/[A-Z]+(?![a-z])|[A-Z]?[a-z]+/g) ?? []).map((word) => word.toLowerCase());
}

/** The word that each of these names should use, with the place of the name. */
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
  const found = filesBelow('sql', '.sql').flatMap((file) => {
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

test('the help of every command is written in plain words', async () => {
  const found = (await allCommands()).flatMap(({ name, summary, options = [], arguments: given = [], examples }) =>
    [
      summary,
      ...options.map((option) => option.summary),
      ...given.map((argument) => argument.summary),
      ...examples,
    ].flatMap((text) => bannedInSentences(text, `costbook ${name} --help`)),
  );
  expect(found).toEqual([]);
});

test('every example of a help text starts with the name of its command', async () => {
  const found = (await allCommands()).flatMap(({ name, examples }) =>
    examples.filter((example) => !new RegExp(`\\bcostbook (?:--\\S+ )*${name}\\b`).test(example)),
  );
  expect(found).toEqual([]);
});

test('comments on views, tables and columns, and the questions of reports, are written in plain words', () => {
  const comment = /^comment on [^;]*? is\s+'((?:[^']|'')*)'/gm;
  const found = filesBelow('sql', '.sql').flatMap((file) => {
    const text = readFileSync(file, 'utf8');
    return [...matchesOf(text, comment), ...matchesOf(text, /^--! about: (.+)$/gm)].flatMap((words) =>
      bannedInSentences(words.replaceAll(/\$\w+/g, '$'), file),
    );
  });
  expect(found).toEqual([]);
});

test('codes and messages of log events are written in plain words', () => {
  const event = /\b(?:log|effects\.log)\.(?:info|warn)\(\s*'([^']+)',\s*(?:'([^']*)'|"([^"]*)"|`([^`]*)`)?/g;
  const found = filesBelow('src', '.ts').flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(event)].flatMap(([, code = '', ...messages]) => [
      ...banned([code], file),
      ...messages.flatMap((message = '') => bannedInSentences(message, `${file}: ${code}`)),
    ]),
  );
  expect(found).toEqual([]);
});

test('keys of JSON answers and of webhook messages use the words of the glossary', () => {
  // An answer is made of records with these names; those of earlier versions are only read.
  const keys = /^\s+(?:readonly )?(\w+)\??:/gm;
  const commands = filesBelow('src', '.ts')
    .filter((file) => !file.endsWith('former-formats.ts'))
    .flatMap((file) => banned(matchesOf(readFileSync(file, 'utf8'), keys), file));
  const schema = 'docs/webhook-message.schema.json';
  expect([...commands, ...banned(matchesOf(readFileSync(schema, 'utf8'), /"(\w+)":/g), schema)]).toEqual([]);
});

test('docs, examples and schemas of YAML files are written in plain words', () => {
  const files = [
    ...['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md'],
    ...readdirSync('.').filter((file) => file.endsWith('.example.yaml')),
    ...filesBelow('jobs', '.yaml'),
    ...['.md', '.yaml', '.schema.json'].flatMap((ending) => filesBelow('docs', ending)),
  ];
  const found = files.flatMap((file) => {
    // Names of settings and of earlier versions are code, not prose.
    const prose = readFileSync(file, 'utf8').replaceAll(/`[^`\n]+`/g, '` `');
    return prose.split('\n').flatMap((line, index) => bannedInSentences(line, `${file}:${index + 1}`));
  });
  expect(found).toEqual([]);
});

test('messages, and all other text in the code, are written in plain words', () => {
  const text = /'([^'\\\n]*(?:\\.[^'\\\n]*)*)'|"([^"\\\n]*(?:\\.[^"\\\n]*)*)"|`([^`]*)`/g;
  const found = filesBelow('src', '.ts').flatMap((file) => {
    const code = readFileSync(file, 'utf8').replaceAll(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$|(?<=[;,{(] )\/\/ .*$/gm, ' ');
    return [...code.matchAll(text)].flatMap(([, ...texts]) =>
      texts.flatMap((words = '') => (words.includes(' ') ? bannedInSentences(words, file) : [])),
    );
  });
  expect(found).toEqual([]);
});
