import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));
const sources = filesBelow(join(root, 'src'), '.ts').map((path) => relative(root, path));

/** Where each third-party package is at home in src: one file, or one folder. */
const homes: Readonly<Record<string, RegExp>> = {
  undici: /^src\/platform\//,
  '@duckdb/node-api': /^src\/warehouse\//,
  '@duckdb/node-bindings': /^src\/warehouse\//,
  'p-limit': /^src\/ingest(\.ts$|\/)/,
  'date-fns': /^src\/time\.ts$/,
  '@date-fns/utc': /^src\/time\.ts$/,
  commander: /^src\/cli\.ts$/,
  yaml: /^src\/(yaml|config)\.ts$/,
  'fastest-levenshtein': /^src\/(did-you-mean|config)\.ts$/,
  zod: /^src\/platform\//,
  'apache-arrow': /^src\/reports\/formats\/arrow\.ts$/,
  'csv-stringify': /^src\/reports\/formats\/csv\.ts$/,
  '@bsull/augurs': /^src\/reports\/forecast\/augurs\.ts$/,
  'node-cron': /^src\/schedule\.ts$/,
  'csv-parse': /^src\/reports\/forecast\/read-series\.ts$/,
  'string-width': /^src\/text-width\.ts$/,
  nodemailer: /^src\/reports\/sinks\/smtp\.ts$/,
};

interface Import {
  readonly from: string;
  /** The package's name, or the path below the repository for a file of ours. */
  readonly of: string;
  readonly isOurs: boolean;
}

const imports = sources.flatMap(importsOf);

function filesBelow(dir: string, ending: string): string[] {
  return readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(ending))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}

function importsOf(from: string): Import[] {
  const text = withoutComments(readFileSync(join(root, from), 'utf8'));
  const specifiers = [...text.matchAll(/(?:^(?:import|export)\b[^;']*\bfrom |^import |\bimport\()'([^']+)'/gm)].map(
    (match) => match[1] ?? '',
  );
  return specifiers
    .filter((specifier) => !specifier.startsWith('node:'))
    .map((specifier) => {
      const isOurs = specifier.startsWith('.');
      const [scope = '', name = ''] = specifier.split('/');
      const packageName = specifier.startsWith('@') ? `${scope}/${name}` : scope;
      return { from, isOurs, of: isOurs ? relative(root, join(root, dirname(from), specifier)) : packageName };
    });
}

/** The files of ours that are loaded with a file: neither types nor what is loaded later. */
function staticImportsOf(from: string): string[] {
  const text = withoutComments(readFileSync(join(root, from), 'utf8'));
  return [...text.matchAll(/^(?:import|export) (?!type\b)([^;']*?) ?from '(\.[^']+)'/gm)]
    .filter(([, names = '']) => !/^\{(\s*type [^,}]+,?)+\s*\}$/.test(names))
    .map(([, , specifier = '']) => relative(root, join(root, dirname(from), specifier)));
}

function withoutComments(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/^\s*\/\/.*$/gm, '');
}

/** The folder of src that a file is in: `src/fetch`; undefined for files at the top. */
function folderOf(path: string): string | undefined {
  return /^src\/[^/]+(?=\/)/.exec(path)?.[0];
}

const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Record<
  'dependencies' | 'devDependencies',
  Record<string, string>
> & { readonly files?: readonly string[] };

describe('third-party packages', () => {
  test('the rule knows every one of them', () => {
    expect(Object.keys(homes).sort()).toEqual(Object.keys(manifest.dependencies).sort());
  });

  test.each(Object.entries(homes))('%s is imported where it is at home, and nowhere else', (name, home) => {
    const importers = [...new Set(imports.filter((found) => found.of === name).map(({ from }) => from))];
    expect(importers.length).toBeGreaterThan(0);
    expect(importers.filter((from) => !home.test(from))).toEqual([]);
    expect(new Set(importers.map((from) => folderOf(from) ?? from)).size).toBe(1);
  });

  test('nothing is imported that package.json does not name', () => {
    const named = Object.keys(manifest.dependencies);
    expect(imports.filter(({ isOurs, of }) => !isOurs && !named.includes(of))).toEqual([]);
  });

  test('have exact versions', () => {
    const all = Object.entries({ ...manifest.dependencies, ...manifest.devDependencies });
    expect(all.filter(([, version]) => !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version))).toEqual([]);
  });
});

describe('the package', () => {
  test('names no file or folder that is not there', () => {
    expect((manifest.files ?? []).filter((name) => !name.startsWith('dist/') && !existsSync(join(root, name)))).toEqual(
      [],
    );
  });
});

describe('folders', () => {
  test.each([
    ['src/fetch', 'src/warehouse'],
    ['src/fetch', 'src/reports'],
    ['src/warehouse', 'src/fetch'],
    ['src/reports', 'src/fetch'],
    ['src/platform', 'src/fetch'],
    ['src/platform', 'src/warehouse'],
    ['src/warehouse', 'src/reports'],
  ])('%s imports nothing of %s', (one, other) => {
    expect(imports.filter(({ from, of }) => from.startsWith(`${one}/`) && of.startsWith(`${other}/`))).toEqual([]);
  });

  test('are reached from outside through their index.ts', () => {
    const beside = imports.filter(({ from, of, isOurs }) => {
      const folder = isOurs ? folderOf(of) : undefined;
      // The table of commands loads all of them; the entry point asks for no more than it needs.
      if (from === 'src/cli.ts' && folder === 'src/commands') return false;
      return folder !== undefined && folder !== folderOf(from) && of !== `${folder}/index.ts`;
    });
    expect(beside).toEqual([]);
  });

  test('nobody imports the entry points', () => {
    expect(imports.filter(({ of }) => of === 'src/cli.ts' || of === 'src/query/child.ts')).toEqual([]);
    expect(
      imports.filter(({ from, of }) => of.startsWith('src/commands/') && !/^src\/(cli|commands\/.*)\.ts$/.test(from)),
    ).toEqual([]);
  });

  test('what answers a query loads neither DuckDB nor HTTP before it has started the process that answers', () => {
    const reached = new Set<string>();
    const left = ['src/cli.ts', 'src/commands/sql.ts'];
    for (let next = left.pop(); next !== undefined; next = left.pop()) {
      if (reached.has(next)) continue;
      reached.add(next);
      left.push(...staticImportsOf(next));
    }
    expect(reached).toContain('src/query/ask.ts');
    expect([...reached].filter((path) => /^src\/(warehouse|reports|platform|fetch|ingest)\//.test(path))).toEqual([]);
  });

  test('no two files import each other, directly or around', () => {
    const edges = new Map<string, Set<string>>();
    for (const { from, of, isOurs } of imports) if (isOurs) edges.set(from, (edges.get(from) ?? new Set()).add(of));
    const circles: string[] = [];
    for (const start of sources) {
      const reached = new Set<string>();
      const left = [...(edges.get(start) ?? [])];
      for (let next = left.pop(); next !== undefined; next = left.pop()) {
        if (reached.has(next)) continue;
        reached.add(next);
        left.push(...(edges.get(next) ?? []));
      }
      if (reached.has(start)) circles.push(start);
    }
    expect(circles).toEqual([]);
  });
});

describe('the process', () => {
  const own = /^(pid|execPath)$/;

  test('is touched by the entry points alone, but for its number and its own path', () => {
    const touched = sources
      // Children that run SQL of users are programs of their own.
      .filter((path) => path !== 'src/cli.ts' && path !== 'src/query/serve-parent.ts')
      .flatMap((path) =>
        [...withoutComments(readFileSync(join(root, path), 'utf8')).matchAll(/(?<![\w.'`])process\.(\w+)/g)]
          .filter(([, member = '']) => !own.test(member))
          .map(([text]) => `${path}: ${text}`),
      )
      // The script that a child runs to copy the snapshot is text here; it ends that child and not us.
      .filter((place) => !/^src\/warehouse\/snapshot\.ts: process\.(argv|stdin|stderr|on|ppid|kill|exit)$/.test(place));
    expect(touched).toEqual([]);
  });

  test('is not reached by another way', () => {
    const found = sources.filter((path) => {
      const text = readFileSync(join(root, path), 'utf8');
      const imported = /import\s+(.+?)\s+from 'node:process'/.exec(text)?.[1];
      return (
        (imported !== undefined && !/^\{ (kill|constrainedMemory|versions) \}$/.test(imported)) ||
        /globalThis\.process|console\./.test(withoutComments(text))
      );
    });
    expect(found).toEqual([]);
  });

  test('local time is used nowhere: Date is only asked in UTC', () => {
    const local = /\.(get|set)(FullYear|Month|Date|Day|Hours|Minutes|TimezoneOffset)\(|\.toLocale|new Date\(\d+,/;
    expect(sources.filter((path) => local.test(readFileSync(join(root, path), 'utf8')))).toEqual([]);
  });
});

describe('what DuckDB does in silence', () => {
  function sourcesWith(pattern: RegExp): string[] {
    return sources.filter((path) => pattern.test(withoutComments(readFileSync(join(root, path), 'utf8'))));
  }

  test('two instances of one file lose rows: one module makes instances, and the one other thread only decodes', () => {
    expect(sourcesWith(/DuckDBInstance\.(create|fromCache)/)).toEqual(['src/warehouse/connection.ts']);
    expect(sourcesWith(/node:(worker_threads|cluster)/)).toEqual([
      'src/fetch/decode-worker.ts',
      'src/fetch/decoding.ts',
    ]);
  });

  test('rows as JavaScript values make decimals doubles: rows are asked for as JSON or as DuckDB’s own values', () => {
    expect(
      sourcesWith(/\.(getRow|getRowObjects|getRows|getColumns|getColumnsObject|convertRow\w*)JS\b|\.toDouble\(/),
    ).toEqual([]);
  });

  test('closing any other descriptor of the writer’s file drops its lock: nobody but DuckDB opens it in this process', () => {
    // Who knows the file's path hands it to openDatabase, to stat, or to the child process that copies it.
    const knowing = ['src/commands/repair.ts', 'src/warehouse/compare.ts', 'src/warehouse/warehouse.ts'];
    expect(sourcesWith(/\bwarehouseFile\(/)).toEqual(knowing);
    expect(sourcesWith(/warehouse\.duckdb'/)).toEqual(['src/warehouse/warehouse.ts']);
    for (const path of knowing) {
      const imported = /import \{([^}]*)\} from 'node:fs(?:\/promises)?'/.exec(readFileSync(join(root, path), 'utf8'));
      expect(imported?.[1]?.trim() ?? 'stat').toBe('stat');
    }
  });

  test('busy queries starve files and DNS: windows load one at a time', () => {
    // The queue in ingestWindows is the construction; every work on the warehouse passes through it.
    expect(sourcesWith(/warehouseQueue = pLimit\(1\)/)).toEqual(['src/ingest/windows.ts']);
  });
});

describe('names', () => {
  test('no file is called utils, helpers, common, types, manager or service', () => {
    const vague = /^(utils?|helpers?|common|types?|interfaces?|managers?|services?|misc)\.ts$/;
    expect(sources.filter((path) => vague.test(basename(path)))).toEqual([]);
  });

  test('files are kebab-case in src and snake_case in sql', () => {
    expect(sources.filter((path) => !/^[a-z0-9]+(-[a-z0-9]+)*\.ts$/.test(basename(path)))).toEqual([]);
    const queries = filesBelow(join(root, 'sql'), '.sql').map((path) => basename(path, '.sql'));
    expect(queries.length).toBeGreaterThan(10);
    expect(queries.filter((name) => !/^[a-z0-9]+(_[a-z0-9]+)*$/.test(name))).toEqual([]);
  });
});

describe('SQL files', () => {
  const queries = filesBelow(join(root, 'sql'), '.sql').map((path) => relative(root, path));

  test.each(queries)('%s begins by saying what it is about', (path) => {
    expect(readFileSync(join(root, path), 'utf8')).toMatch(/^--! about: \S.{10,}/);
  });

  test('views and reports name their grain', () => {
    const grainless = queries
      .filter((path) => /^sql\/(views|reports)\//.test(path))
      .filter((path) => !/^--! grain: \S/m.test(readFileSync(join(root, path), 'utf8')));
    expect(grainless).toEqual([]);
  });

  test('a view is created under the name of its file', () => {
    const misnamed = queries
      .filter((path) => path.startsWith('sql/views/'))
      .filter(
        (path) =>
          // A view of the ledger is one that the public ones are made of.
          !new RegExp(`^create or replace view (ledger\\.)?${basename(path, '.sql')} as$`, 'm').test(
            readFileSync(join(root, path), 'utf8'),
          ),
      );
    expect(misnamed).toEqual([]);
  });

  test('no table has a key, an index, an enum or a sequence', () => {
    const unportable = /\b(primary key|unique|create index|create unique|create sequence|as enum|references)\b/i;
    const found = queries.filter((path) =>
      unportable.test(readFileSync(join(root, path), 'utf8').replace(/--.*$/gm, '')),
    );
    expect(found).toEqual([]);
  });
});
