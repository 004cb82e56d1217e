import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { parseAst } from 'vitest/node';

const root = fileURLToPath(new URL('../..', import.meta.url));
const sources = filesBelow(join(root, 'src'), '.ts').map((path) => relative(root, path));

/** Where each third-party package is at home in src: one file, or one folder. */
const homes: Readonly<Record<string, RegExp>> = {
  '@aws-sdk/client-s3': /^src\/storage\//,
  '@aws-sdk/lib-storage': /^src\/storage\//,
  undici: /^src\/platform\//,
  '@duckdb/node-api': /^src\/warehouse\/store\//,
  '@duckdb/node-bindings': /^src\/warehouse\/store\//,
  'p-limit': /^src\/ingest\//,
  'ical.js': /^src\/config\/calendar-file\.ts$/,
  'date-fns': /^src\/time\/time\.ts$/,
  '@date-fns/utc': /^src\/time\/time\.ts$/,
  commander: /^src\/command-line\//,
  yaml: /^src\/yaml\/yaml\.ts$/,
  'fastest-levenshtein': /^src\/text\/choices\.ts$/,
  zod: /^src\/(platform\/|yaml\/shape\.ts$)/,
  'apache-arrow': /^src\/reports\/formats\/arrow\.ts$/,
  'csv-stringify': /^src\/reports\/formats\/csv\.ts$/,
  'node-cron': /^src\/jobs\/every-minute\.ts$/,
  'csv-parse': /^src\/forecast\/read-series\.ts$/,
  'string-width': /^src\/terminal\/text-width\.ts$/,
  echarts: /^src\/(charts|serve)\//,
  '@modelcontextprotocol/server': /^src\/mcp\//,
  hono: /^src\/serve\//,
  'openid-client': /^src\/serve\/oidc\.ts$/,
  '@hono/node-server': /^src\/serve\//,
  fflate: /^src\/workbook\//,
  nodemailer: /^src\/sinks\/(smtp|kinds\/email)\.ts$/,
  '@resvg/resvg-js': /^src\/charts\/png\.ts$/,
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
  const named = /(?:^(?:import|export)\b[^;']*\bfrom |^import |\bimport\()'([^']+)'/gm;
  const specifiers = [...text.matchAll(named)].map((match) => match[1] ?? '');
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

/** Large rooms have rooms of their own. */
const houses = ['budgets', 'closing', 'fetch', 'platform', 'reports', 'serve', 'warehouse'];

/** A room of one file: what fetch hands to the warehouse. */
const pageRoom = 'src/warehouse/page';

/** The room that a file is in, `src/fetch` or `src/reports/lake`; undefined for files at the top. */
function folderOf(path: string): string | undefined {
  if (path === `${pageRoom}.ts`) return pageRoom;
  return new RegExp(`^src/((${houses.join('|')})/[a-z]+(?=/)|[^/]+(?=/))`).exec(path)?.[0];
}

const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Record<
  'dependencies' | 'devDependencies',
  Record<string, string>
> & { readonly files?: readonly string[] };

/** The packages that are part of the bundle, as the build lists them with their licences. */
function bundledPackages(): string[] {
  const licences = readFileSync(join(root, 'dist/THIRD_PARTY_LICENSES'), 'utf8');
  return [...licences.matchAll(/^=+\n(\S+) \S+ \(.*\)\n=+$/gm)].map(([, name = '']) => name);
}

describe('third-party packages', () => {
  test('all have a rule about their importers', () => {
    const imported = new Set(imports.filter(({ isOurs }) => !isOurs).map(({ of }) => of));
    expect(Object.keys(homes).sort()).toEqual([...imported].sort());
    // What is installed with Costbook is imported by it.
    expect(Object.keys(manifest.dependencies).filter((name) => !imported.has(name))).toEqual([]);
  });

  test('are installed with Costbook or part of its bundle, and at most 14 are installed', () => {
    const bundled = bundledPackages();
    const { dependencies, devDependencies } = manifest;
    expect(Object.keys(homes).filter((name) => !(name in dependencies) && !bundled.includes(name))).toEqual([]);
    // The code of both is bundled. DuckDB's client is installed too, as Costbook stands on it; zod for the types of
    // `costbook/platform`.
    expect(bundled.filter((name) => name in dependencies).sort()).toEqual(['@duckdb/node-api', 'zod']);
    const unnamed = bundled.filter((name) => name in homes && !(name in devDependencies));
    expect(unnamed.sort()).toEqual(['@duckdb/node-api', 'zod']);
    expect(Object.keys(dependencies).length).toBeLessThanOrEqual(14);
  });

  test.each(Object.entries(homes))('%s is only imported where its rule allows it', (name, home) => {
    const importers = [...new Set(imports.filter((found) => found.of === name).map(({ from }) => from))];
    expect(importers.length).toBeGreaterThan(0);
    expect(importers.filter((from) => !home.test(from))).toEqual([]);
    // Shapes of the platform's answers, of what `costbook/platform` returns, and of YAML files.
    const rooms = name === 'zod' ? 3 : 1;
    expect(new Set(importers.map((from) => folderOf(from) ?? from)).size).toBe(rooms);
  });

  test('have exact versions', () => {
    const all = Object.entries({ ...manifest.dependencies, ...manifest.devDependencies });
    expect(all.filter(([, version]) => !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version))).toEqual([]);
  });
});

describe('the package', () => {
  test('names only files and folders that exist', () => {
    expect((manifest.files ?? []).filter((name) => !existsSync(join(root, name)))).toEqual([]);
  });
});

/** The ground floor: closets whose files every room imports by name, and what each closet may import. */
const closets: Readonly<Record<string, readonly string[]>> = {
  base: [],
  tables: ['money'],
  text: ['base'],
  money: ['base', 'text'],
  time: ['base', 'text'],
  options: ['base', 'tables', 'text', 'time'],
};

/** What each room of src may import, besides the ground floor. CONTRIBUTING.md says what each room is for. */
const rooms: Readonly<Record<string, readonly string[]>> = {
  terminal: [],
  'platform/interface': [],
  platform: ['platform/interface'],
  forecast: [],
  emulator: ['platform', 'platform/interface'],
  'fetch/plan': ['platform/interface', 'warehouse/page'],
  fetch: ['fetch/plan', 'platform', 'platform/interface', 'warehouse/page'],
  yaml: [],
  charts: [],
  sinks: ['charts', 'platform', 'platform/interface', 'yaml'],
  config: ['platform', 'platform/interface', 'sinks', 'yaml'],
  'warehouse/page': [],
  'warehouse/sql': [],
  'warehouse/store': ['platform/interface', 'warehouse/sql'],
  'warehouse/journal': ['warehouse/sql', 'warehouse/store'],
  'warehouse/load': ['warehouse/journal', 'warehouse/page', 'warehouse/sql', 'warehouse/store'],
  'warehouse/ledger': ['warehouse/journal', 'warehouse/load', 'warehouse/page', 'warehouse/sql', 'warehouse/store'],
  'warehouse/watch': ['warehouse/journal', 'warehouse/ledger', 'warehouse/sql', 'warehouse/store'],
  'warehouse/integrity': [
    'warehouse/journal',
    'warehouse/ledger',
    'warehouse/load',
    'warehouse/sql',
    'warehouse/store',
  ],
  warehouse: [
    'warehouse/integrity',
    'warehouse/journal',
    'warehouse/ledger',
    'warehouse/load',
    'warehouse/sql',
    'warehouse/store',
    'warehouse/watch',
  ],
  'closing/billed': ['warehouse/ledger', 'warehouse/page', 'warehouse/sql', 'warehouse/store'],
  closing: [
    'allocation',
    'closing/billed',
    'config',
    'currency',
    'query',
    'reports/exports',
    'reports/questions',
    'runs',
    'statement',
    'warehouse',
    'warehouse/integrity',
    'warehouse/ledger',
    'warehouse/load',
    'warehouse/sql',
    'warehouse/store',
  ],
  currency: ['config', 'warehouse/ledger', 'warehouse/store', 'yaml'],
  allocation: ['terminal', 'warehouse/sql', 'warehouse/store', 'yaml'],
  jobs: ['config', 'sinks', 'warehouse', 'warehouse/ledger', 'yaml'],
  'budgets/rules': ['forecast', 'outlook', 'platform/interface', 'yaml'],
  'budgets/spend': ['budgets/rules', 'outlook', 'warehouse/ledger', 'warehouse/sql', 'warehouse/store'],
  'budgets/forecasts': [
    'budgets/rules',
    'budgets/spend',
    'forecast',
    'outlook',
    'warehouse/ledger',
    'warehouse/sql',
    'warehouse/store',
    'warehouse/watch',
  ],
  'budgets/show': [
    'budgets/forecasts',
    'budgets/rules',
    'budgets/spend',
    'outlook',
    'terminal',
    'warehouse/sql',
    'warehouse/store',
  ],
  outlook: ['forecast'],
  metrics: [
    'budgets/rules',
    'budgets/spend',
    'config',
    'jobs',
    'warehouse/integrity',
    'warehouse/sql',
    'warehouse/store',
  ],
  anomalies: [
    'budgets/forecasts',
    'budgets/rules',
    'budgets/show',
    'budgets/spend',
    'terminal',
    'warehouse/ledger',
    'warehouse/sql',
    'warehouse/store',
    'warehouse/watch',
    'yaml',
  ],
  storage: ['config', 'reports/exports', 'warehouse/journal', 'warehouse/store'],
  workbook: [],
  'reports/formats': ['currency', 'warehouse/ledger', 'warehouse/sql', 'warehouse/store', 'workbook'],
  'reports/questions': ['anomalies', 'reports/formats', 'warehouse/ledger', 'warehouse/sql', 'warehouse/store'],
  'reports/exports': ['reports/formats', 'reports/questions', 'warehouse/journal', 'warehouse/sql', 'warehouse/store'],
  'reports/lake': [
    'reports/exports',
    'reports/formats',
    'warehouse/ledger',
    'warehouse/load',
    'warehouse/sql',
    'warehouse/store',
  ],
  'reports/publishing': [
    'closing/billed',
    'currency',
    'reports/exports',
    'reports/formats',
    'reports/lake',
    'reports/questions',
    'terminal',
    'warehouse/integrity',
    'warehouse/ledger',
    'warehouse/sql',
    'warehouse/store',
  ],
  engine: ['config', 'reports/exports', 'warehouse/sql', 'warehouse/store'],
  query: [
    'engine',
    'reports/formats',
    'terminal',
    'warehouse/integrity',
    'warehouse/ledger',
    'warehouse/sql',
    'warehouse/store',
  ],
  findings: [
    'anomalies',
    'budgets/forecasts',
    'budgets/rules',
    'budgets/spend',
    'outlook',
    'platform/interface',
    'query',
    'reports/formats',
    'sinks',
    'warehouse/integrity',
    'warehouse/ledger',
    'warehouse/sql',
    'warehouse/store',
    'warehouse/watch',
  ],
  alerts: [
    'anomalies',
    'budgets/forecasts',
    'budgets/rules',
    'budgets/spend',
    'charts',
    'config',
    'currency',
    'findings',
    'jobs',
    'platform',
    'query',
    'reports/exports',
    'reports/formats',
    'reports/questions',
    'sinks',
    'terminal',
    'warehouse',
    'warehouse/integrity',
    'warehouse/ledger',
    'warehouse/store',
    'warehouse/watch',
  ],
  health: [
    'alerts',
    'allocation',
    'anomalies',
    'budgets/rules',
    'config',
    'currency',
    'fetch',
    'findings',
    'ingest',
    'jobs',
    'platform',
    'platform/interface',
    'query',
    'reports/exports',
    'reports/questions',
    'sinks',
    'warehouse/integrity',
    'warehouse/journal',
    'warehouse/ledger',
    'warehouse/sql',
    'warehouse/store',
  ],
  mcp: [],
  'serve/books': ['warehouse/integrity', 'warehouse/sql', 'warehouse/store'],
  serve: [
    'alerts',
    'anomalies',
    'budgets/forecasts',
    'budgets/rules',
    'budgets/show',
    'budgets/spend',
    'charts',
    'config',
    'findings',
    'health',
    'mcp',
    'metrics',
    'outlook',
    'query',
    'reports/exports',
    'reports/formats',
    'reports/publishing',
    'reports/questions',
    'serve/books',
    'warehouse/integrity',
    'warehouse/ledger',
    'warehouse/sql',
    'warehouse/store',
    'yaml',
  ],
  answers: [
    'allocation',
    'anomalies',
    'budgets/forecasts',
    'budgets/rules',
    'budgets/show',
    'budgets/spend',
    'config',
    'currency',
    'engine',
    'health',
    'reports/exports',
    'reports/formats',
    'reports/publishing',
    'reports/questions',
    'statement',
    'terminal',
    'warehouse/integrity',
    'warehouse/ledger',
    'warehouse/sql',
    'warehouse/store',
  ],
  statement: [
    'charts',
    'closing/billed',
    'currency',
    'reports/exports',
    'reports/formats',
    'reports/publishing',
    'reports/questions',
    'warehouse/ledger',
    'warehouse/sql',
    'warehouse/store',
    'workbook',
  ],
  demo: ['reports/formats', 'terminal', 'warehouse/integrity', 'warehouse/sql', 'warehouse/store', 'warehouse/watch'],
  ingest: [
    'config',
    'fetch',
    'fetch/plan',
    'platform',
    'platform/interface',
    'storage',
    'warehouse',
    'warehouse/integrity',
    'warehouse/journal',
    'warehouse/ledger',
    'warehouse/load',
    'warehouse/page',
    'warehouse/store',
  ],
  setup: ['config', 'health', 'platform'],
  runs: ['alerts', 'budgets/spend', 'findings', 'ingest', 'metrics', 'warehouse', 'warehouse/ledger'],
  'command-line': ['commands', 'jobs', 'platform', 'terminal'],
};

/** The programs: they are above all rooms, and nothing imports them but a program. */
const entryPoints = ['src/cli.ts', 'src/main.ts', 'src/child.ts'];

describe('rooms', () => {
  test('all have a rule, and commands may import all of them', () => {
    const found = new Set(sources.flatMap((path) => folderOf(path)?.slice('src/'.length) ?? []));
    expect([...found].sort()).toEqual([...Object.keys(rooms), ...Object.keys(closets), 'commands'].sort());
    const contributing = readFileSync(join(root, 'CONTRIBUTING.md'), 'utf8');
    expect([...found].filter((room) => !contributing.includes(`| \`src/${room}\` |`))).toEqual([]);
  });

  const allowedOf = [
    ...Object.entries(closets),
    ...Object.entries(rooms).map(([room, allowed]) => [room, [...allowed, ...Object.keys(closets)]] as const),
  ];
  test.each(allowedOf)('%s imports its allowed rooms and the ground floor only', (room, allowed) => {
    const others = imports
      .filter(({ from, isOurs }) => isOurs && folderOf(from) === `src/${room}`)
      .map(({ of }) => folderOf(of)?.slice('src/'.length))
      .filter((other) => other !== undefined && other !== room && !allowed.includes(other));
    expect([...new Set(others)]).toEqual([]);
  });

  test('hold every file but the programs, which are above all', () => {
    expect(sources.filter((path) => folderOf(path) === undefined)).toEqual([...entryPoints].sort());
  });

  test('no room holds more than 18 percent of the code', () => {
    const linesOf = (paths: readonly string[]) =>
      paths.reduce((sum, path) => sum + readFileSync(join(root, path), 'utf8').split('\n').length, 0);
    const limit = linesOf(sources) * 0.18;
    const tooLarge = [...Object.keys(rooms), 'commands'].filter(
      (room) => linesOf(sources.filter((path) => path.startsWith(`src/${room}/`))) > limit,
    );
    expect(tooLarge).toEqual([]);
  });

  test('are imported from outside only through their index.ts, but for the closets of the ground floor', () => {
    const beside = imports.filter(({ from, of, isOurs }) => {
      const folder = isOurs ? folderOf(of) : undefined;
      // The entry point names files, so that a short command loads no more than it needs.
      if (entryPoints.includes(from) || from.startsWith('src/command-line/')) return false;
      if (folder === pageRoom || Object.keys(closets).some((closet) => folder === `src/${closet}`)) return false;
      // The rooms of one house name each other's files.
      if (houses.some((house) => [folder, folderOf(from)].every((room) => room?.startsWith(`src/${house}`))))
        return false;
      return folder !== undefined && folder !== folderOf(from) && of !== `${folder}/index.ts`;
    });
    expect(beside).toEqual([]);
  });

  test('import no entry point', () => {
    expect(imports.filter(({ from, of }) => entryPoints.includes(of) && from !== 'src/cli.ts')).toEqual([]);
    expect(
      imports.filter(
        ({ from, of }) =>
          of.startsWith('src/commands/') && !/^src\/(main|child|commands\/.*|command-line\/.*)\.ts$/.test(from),
      ),
    ).toEqual([]);
  });

  test('answering a query loads neither DuckDB nor HTTP before the child process has started', () => {
    const reached = new Set<string>();
    const left = ['src/cli.ts', 'src/main.ts', 'src/commands/sql.ts'];
    for (let next = left.pop(); next !== undefined; next = left.pop()) {
      if (reached.has(next)) continue;
      reached.add(next);
      left.push(...staticImportsOf(next));
    }
    expect(reached).toContain('src/query/run-query.ts');
    expect(
      [...reached].filter((path) =>
        /^src\/((warehouse|reports|platform|fetch|ingest|alerts|budgets)\/|config\/(index|config)\.ts)/.test(path),
      ),
    ).toEqual([]);
  });

  test('a report that stays on this machine loads DuckDB in the child process only', () => {
    const reached = new Set<string>();
    const left = ['src/commands/report.ts', 'src/commands/exports-in-store.ts'];
    for (let next = left.pop(); next !== undefined; next = left.pop()) {
      if (reached.has(next)) continue;
      reached.add(next);
      left.push(...staticImportsOf(next));
    }
    expect(reached).toContain('src/config/config.ts');
    expect([...reached].filter((path) => /^src\/(warehouse|reports|storage)\//.test(path))).toEqual([]);
  });

  test('alerts load what draws pictures only when they draw one', () => {
    const reached = new Set<string>();
    const left = ['src/alerts/index.ts'];
    for (let next = left.pop(); next !== undefined; next = left.pop()) {
      if (reached.has(next)) continue;
      reached.add(next);
      left.push(...staticImportsOf(next));
    }
    expect(reached).toContain('src/sinks/drawn-pictures.ts');
    expect([...reached].filter((path) => path.startsWith('src/charts/'))).toEqual([]);
    expect(readFileSync(join(root, 'src/charts/png.ts'), 'utf8')).not.toMatch(/^import .*resvg/m);
  });

  test('no files import each other, directly or indirectly', () => {
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
  // To import them from node:process costs milliseconds at every start: it opens the standard streams.
  const own = /^(pid|getuid|execPath|kill|constrainedMemory|versions)$/;

  test('is used only by the entry points, except for its number, its user, its own path, its machine, and signals to children', () => {
    const touched = sources
      // Children that run SQL of users are programs of their own.
      .filter((path) => path !== 'src/cli.ts' && path !== 'src/query/serve-parent.ts')
      .flatMap((path) =>
        [...withoutComments(readFileSync(join(root, path), 'utf8')).matchAll(/(?<![\w.'`])process\.(\w+)/g)]
          .filter(([, member = '']) => !own.test(member))
          .map(([text]) => `${path}: ${text}`),
      )
      // The script that a child runs to copy the snapshot is text here; it ends that child and not us.
      .filter(
        (place) =>
          !/^src\/warehouse\/integrity\/copy-script\.ts: process\.(argv|stdin|stdout|stderr|on|ppid|kill|exit)$/.test(
            place,
          ),
      )
      // DuckDB's allocator reads its settings there when DuckDB is loaded, whoever loads it.
      .filter((place) => place !== 'src/warehouse/store/duckdb.ts: process.env');
    expect(touched).toEqual([]);
  });

  test('keeps nothing from one command line to the next but what costs time to make again', () => {
    const kept = sources.flatMap((path) =>
      [
        ...withoutComments(readFileSync(join(root, path), 'utf8')).matchAll(
          /^(?:export )?let (\w+)|^(?:export )?const (\w+) = new (?:Map|Set|WeakMap)(?:<[^(]*>)?\(\)/gm,
        ),
      ].map(([, name, set]) => `${path}: ${name ?? set}`),
    );
    expect(kept.sort()).toEqual([
      'src/emulator/assets.ts: mountersOf', // forgets each world with it
      'src/emulator/fault-answers.ts: spaces', // a compressed constant
      'src/fetch/decode-elsewhere.ts: decoder', // a thread without work
      'src/fetch/decode.ts: lastColumns', // memory without content
      'src/serve/layout.ts: drawings', // pictures by their content, the last 60
      'src/warehouse/sql/sql-files.ts: builtIn', // texts that come with Costbook
      'src/warehouse/store/answer-cache.ts: program', // the name of this program
      'src/warehouse/store/database.ts: openFiles', // files that this process has open
      'src/yaml/shape.ts: indexes', // entries by name, as long as their file is held
    ]);
  });

  test('is not accessible in another way', () => {
    const found = sources.filter((path) =>
      /from 'node:process'|globalThis\.process|console\./.test(withoutComments(readFileSync(join(root, path), 'utf8'))),
    );
    expect(found).toEqual([]);
  });

  test('has no local time: Date is only used in UTC', () => {
    const local = /\.(get|set)(FullYear|Month|Date|Day|Hours|Minutes|TimezoneOffset)\(|\.toLocale|new Date\(\d+,/;
    expect(sources.filter((path) => local.test(readFileSync(join(root, path), 'utf8')))).toEqual([]);
  });
});

test('a child process inherits secrets, so each gets an environment of its own; only the command for the token inherits', () => {
  const started = sources.flatMap((file) =>
    // A call ends at the first semicolon, also that of a script in one of its arguments.
    [
      ...readFileSync(join(root, file), 'utf8').matchAll(
        /\b(?:spawn|fork|execFile|spawnSync|execFileSync)\)?\([^;]*;/g,
      ),
    ].map(([call]) => ({ file, call })),
  );
  expect(started.length).toBeGreaterThan(5);
  expect(started.filter(({ call }) => !/\benv\b/.test(call)).map(({ file }) => file)).toEqual([
    'src/config/secrets.ts',
  ]);
});

describe('silent behavior of DuckDB', () => {
  function sourcesWith(pattern: RegExp): string[] {
    return sources.filter((path) => pattern.test(withoutComments(readFileSync(join(root, path), 'utf8'))));
  }

  test('two instances of one file lose rows, so one module creates instances, and other threads only decode, forecast or play the platform', () => {
    expect(sourcesWith(/DuckDBInstance\.(create|fromCache)/)).toEqual(['src/warehouse/store/database.ts']);
    expect(sourcesWith(/node:(worker_threads|cluster)/)).toEqual([
      'src/demo/emulated-platform.ts',
      'src/emulator/emulator-worker.ts',
      'src/fetch/decode-elsewhere.ts',
      'src/fetch/decode-worker.ts',
      'src/forecast/forecast-worker.ts',
      'src/forecast/side-by-side.ts',
    ]);
  });

  test('JavaScript values turn decimals into doubles, so rows are read as JSON or as DuckDB’s own values', () => {
    expect(
      sourcesWith(/\.(getRow|getRowObjects|getRows|getColumns|getColumnsObject|convertRow\w*)JS\b|\.toDouble\(/),
    ).toEqual([]);
  });

  test('closing another descriptor of the writer’s file drops its lock, so only DuckDB opens it in this process', () => {
    // Who knows the file's path hands it to openDatabase, to stat, or to the child process that copies it.
    const knowing = [
      'src/ingest/repair.ts',
      'src/warehouse/integrity/compare.ts',
      'src/warehouse/integrity/unended-run.ts',
      'src/warehouse/integrity/warehouse-file.ts',
      'src/warehouse/warehouse.ts',
    ];
    expect(sourcesWith(/\bwarehouseFile\(/)).toEqual(knowing);
    expect(sourcesWith(/warehouse\.duckdb'/)).toEqual(['src/warehouse/integrity/warehouse-file.ts']);
    for (const path of knowing) {
      const imported = /import \{([^}]*)\} from 'node:fs(?:\/promises)?'/.exec(readFileSync(join(root, path), 'utf8'));
      expect(imported?.[1]?.trim() ?? 'stat').toBe('stat');
    }
  });

  test('names have U+2028, at which readline of newer Node ends a line, so it reads only what a person types', () => {
    expect(sourcesWith(/node:readline'\)/)).toEqual(['src/command-line/streams.ts']);
    expect(sourcesWith(/import \{.*\} from 'node:readline'/)).toEqual([]);
  });

  test('busy queries starve files and DNS, so windows load one at a time', () => {
    // The queue of the warehouse is the construction; every work of an ingest on the warehouse passes through it.
    expect(sourcesWith(/openExclusively\(\)/)).toEqual([
      'src/warehouse/store/exclusive.ts',
      'src/warehouse/warehouse.ts',
    ]);
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

  test.each(queries)('%s starts with an about line', (path) => {
    expect(readFileSync(join(root, path), 'utf8')).toMatch(/^--! about: \S.{10,}/);
  });

  test('every named file exists, and every file that is not read by folder is named', () => {
    const text = sources.map((path) => readFileSync(join(root, path), 'utf8')).join('\n');
    const named = [...text.matchAll(/\breadSql\(\s*'(\w+)',\s*'(\w+)'/g)].map(
      ([, folder, name]) => `sql/${folder}/${name}.sql`,
    );
    expect(named.length).toBeGreaterThan(50);
    expect(named.filter((path) => !queries.includes(path))).toEqual([]);
    const unnamed = queries
      .filter(
        (path) => !/^sql\/(migrations|views|reports|checks|journal|figures|fragments|lake|lake_views)\//.test(path),
      )
      .filter((path) => !text.includes(`'${basename(path, '.sql')}'`));
    expect(unnamed).toEqual([]);
  });

  test('at least two files include each fragment, and no migration includes one: it would change with it', () => {
    const includes = queries.flatMap((path) =>
      [...readFileSync(join(root, path), 'utf8').matchAll(/^\s*--! include: (\w+)$/gm)].map(([, name = '']) => ({
        path,
        name,
      })),
    );
    const fragments = queries.filter((path) => path.startsWith('sql/fragments/')).map((path) => basename(path, '.sql'));
    expect(fragments.length).toBeGreaterThan(3);
    const rare = fragments.filter((name) => includes.filter((each) => each.name === name).length < 2);
    expect(rare, 'a query gets it instead of another fragment').toEqual(['given_owners']);
    expect(includes.filter(({ path }) => path.startsWith('sql/migrations/'))).toEqual([]);
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

describe('SQL in TypeScript', () => {
  /** The one file whose strings may be SQL: statements that DuckDB cannot take from a file. */
  const home = 'src/warehouse/sql/statements.ts';
  const beginnings = [
    /select\s/,
    /with( recursive)? \w+( \([^)]*\))? as( materialized)? \(/,
    /(insert (or \w+ )?into|delete from|truncate|alter (table|view)|describe|summarize) [\w".$]+/,
    /update [\w".$]+ set\s/,
    /(create|drop) (or replace )?(temp(orary)? )?(table|view|schema|macro|function|type|index|sequence)\s/,
    /(attach|detach)( database)?( if (not )?exists)? ['"$\w]/,
    /copy (\(|\S+ (\([^)]*\) )?(to|from)\s)/,
    /(pragma|call) \w+/,
    /explain( analyze)? (select|with|from|\$)/,
    /(set|reset) ((global|session|local|variable) )?\w+ =/,
    /set (global|session|local|variable)\s/,
    /use \w+$/,
    /begin( transaction( read only)?)?$/,
    /(commit|rollback)( transaction)?;?$/,
    /(force )?checkpoint( \w+)?$/,
    /(install|load) \w+;?$/,
    /from (\(|\$ limit\s|(wh|temp|ledger)\.|\w+ (where|join|select|limit)\s)/,
    /(left |inner |cross |asof |anti |semi )?join \S+ (as \w+ )?(using|on)\s/,
    /(where|having|qualify|and|or)\s.*(<|>|=| is (not )?(null|distinct)|\blike\b| in \()/,
    /where \w+$/,
    /(group|order|partition) by\s/,
    /(union|except|intersect)( all)?( by name)? (select|from)\s/,
    /(values|cast|sum|count|min|max|avg|coalesce|epoch_ms|strftime|list|unnest|to_json|json_extract_string|query)\(/,
  ];
  const sql = new RegExp(`^(\\s|--.*\\n|\\(+)*(${beginnings.map(({ source }) => source).join('|')})`, 'i');

  /** The strings of a file of TypeScript, with `$` for each value that is put into a template. */
  function stringsOf(text: string): { readonly line: number; readonly value: string }[] {
    const found: { line: number; value: string }[] = [];
    function visit(node: unknown): void {
      if (typeof node !== 'object' || node === null) return;
      const { type, start, value, quasis } = node as Record<string, unknown>;
      const line = () => text.slice(0, Number(start)).split('\n').length;
      if (type === 'Literal' && typeof value === 'string') found.push({ line: line(), value });
      if (type === 'TemplateLiteral') {
        const parts = (quasis as { value: { cooked: string } }[]).map((quasi) => quasi.value.cooked);
        found.push({ line: line(), value: parts.join('$') });
      }
      Object.values(node).forEach(visit);
    }
    visit(parseAst(text, { lang: 'ts' }).body);
    return found;
  }

  function sqlOf(path: string): string[] {
    return stringsOf(readFileSync(join(root, path), 'utf8'))
      .filter(({ value }) => sql.test(value))
      .map(({ line, value }) => `${path}:${line}: ${value.replace(/\s+/g, ' ').trim().slice(0, 80)}`);
  }

  test.each([
    'select 1 from ledger.loads',
    '\n    with tries as (select job from runs)',
    "attach ':memory:' as wh; use wh",
    'update ledger.journal set applied = cast($number as bigint)',
    'create or replace temp table pivoted as (\n$\n)',
    'insert into ledger.unit_suffixes values ($suffix, $unit)',
    'copy ($\n) to $path (format parquet)',
    'set global threads = $',
    'begin transaction read only',
    'from $ limit $',
    'where is_open',
    ' group by $ order by $',
    'cast($ as $) as $',
    '-- why\nselect 1',
  ])('%j is found', (text) => {
    expect(text).toMatch(sql);
  });

  test.each([
    'Set the clock (NTP), or leave out --now, and run "costbook ingest" again.',
    'show this help',
    'from $ to $',
    'from $',
    'abort',
    ' and $ more',
    'and $, $ together',
    'costs since $',
    'Create a project: a commented costbook.yaml and jobs/, with the settings checked against the platform.',
    'explain: a name, uuid, display name or external id',
    'load $ of account $, window $',
    'or COSTBOOK_URL (account or url in costbook.yaml)',
    'values with their other spellings, such as checkout: [chekout]',
    'group',
    'update',
    'EXPLAIN does not support PIVOT without a list of values; add IN (…)',
  ])('%j is not mistaken for SQL', (text) => {
    expect(text).not.toMatch(sql);
  });

  test('is in one file with a reason; all other statements are files in sql', () => {
    // These write the SQL of another engine from a parse tree.
    const isOtherEngine = (path: string) => /^src\/engine\/(spark-|to-spark)/.test(path);
    expect(sources.filter((path) => path !== home && !isOtherEngine(path)).flatMap(sqlOf)).toEqual([]);
    expect(sqlOf(home).length).toBeGreaterThan(0);
  });

  test('a statement without inserted names or queries is a file in sql, also in the exempt file', () => {
    const whole = stringsOf(readFileSync(join(root, home), 'utf8')).filter(
      ({ value }) =>
        sql.test(value) && !value.includes('$') && !/^\s*(set|use|begin|commit|rollback|checkpoint)\b/.test(value),
    );
    expect(whole).toEqual([]);
  });
});
