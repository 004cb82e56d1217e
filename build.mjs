// Bundles the product into dist: the command line, its children and its threads share their code in chunks, so that a
// command loads only its own. Packages that are named in `dependencies` stay packages; all others become part of dist,
// with their licences in dist/THIRD_PARTY_LICENSES.
import { createHash } from 'node:crypto';
import { cpSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { build } from 'rolldown';

const root = import.meta.dirname;
const dist = join(root, 'dist');
const { resolve } = createRequire(import.meta.url);
// The types of `costbook/platform` name zod, and Costbook stands on DuckDB's client, so they are packages as well. Their code
// is bundled: each is a hundred files.
const bundledToo = ['zod', '@duckdb/node-api'];
const packages = Object.keys(readJson(join(root, 'package.json')).dependencies).filter(
  (name) => !bundledToo.includes(name),
);

/** What is read as it is: what pages load to draw charts, and the fonts of pictures. By its name in dist. */
const copied = {
  'echarts.common.min.js': resolve('echarts/dist/echarts.common.min.js'),
  'Arimo_400Regular.ttf': resolve('@expo-google-fonts/arimo/400Regular/Arimo_400Regular.ttf'),
  'Arimo_700Bold.ttf': resolve('@expo-google-fonts/arimo/700Bold/Arimo_700Bold.ttf'),
};

// The library of agents brings all of zod. Our shapes have a copy with only what they use, because every command loads it.
const ownZod = {
  name: 'own-zod',
  async resolveId(id, importer = '') {
    if (!/^zod\/(mini|v4\/locales)/.test(id) && !importer.endsWith('?own')) return undefined;
    const found = await this.resolve(id, importer.replace('?own', ''), { skipSelf: true });
    return { id: `${found.id}?own`, moduleSideEffects: false };
  },
  load: (id) => (id.endsWith('?own') ? readFileSync(id.replace('?own', ''), 'utf8') : undefined),
};

// DuckDB's client is a hundred small files, which take longer to load than the database itself. Its file requires them, so
// that they run after what it sets; here that becomes a require that is bundled.
const ownDuckdb = {
  name: 'own-duckdb',
  transform: {
    filter: { id: /\/store\/duckdb\.ts$/ },
    handler: (code) => ({ map: null, code: code.replace('const require = createRequire(import.meta.url);', '') }),
  },
};

const { output } = await build({
  cwd: root,
  plugins: [ownZod, ownDuckdb, throughFaces()],
  input: {
    cli: 'src/cli.ts',
    main: 'src/main.ts',
    child: 'src/child.ts',
    'decode-worker': 'src/fetch/decode-worker.ts',
    'emulator-worker': 'src/emulator/emulator-worker.ts',
    'forecast-worker': 'src/forecast/forecast-worker.ts',
    platform: 'src/platform/library.ts',
    emulator: 'src/emulator/index.ts',
  },
  platform: 'node',
  // Only the programs do something when they are loaded: of what a room's face names, each command loads what it uses.
  treeshake: {
    moduleSideEffects: [
      { test: /\/src\/(cli|child|emulator\/emulator-worker|fetch\/decode-worker|forecast\/forecast-worker)\.ts$/, sideEffects: true },
      { test: /\/src\//, sideEffects: false },
    ],
  },
  external: (id) => packages.some((name) => id === name || id.startsWith(`${name}/`)),
  output: {
    dir: 'dist',
    format: 'esm',
    // Maps lie beside the chunks and are read only for the stack of a bug. They need not contain the sources.
    sourcemap: 'hidden',
    sourcemapExcludeSources: true,
    minify: { compress: true, mangle: { toplevel: true, keepNames: true }, codegen: { removeWhitespace: true } },
    chunkFileNames: 'chunk-[hash].js',
    cleanDir: true,
    // What every command loads is one file: to find and read a file takes longer than to compile it.
    codeSplitting: {
      groups: [
        { name: 'main', test: /\/src\/(main|base\/addresses|options\/\w+)\.ts$/, priority: 1 },
        // The configuration needs the limits of the platform, but not its schemas.
        { name: 'limits', test: /\/src\/platform\/interface\/(limits|list-differences)\.ts$/, priority: 2 },
        { name: 'zod', test: /\/zod\/v4\/(core|mini)\/(?!.*json-schema).*\?own$/, priority: 2 },
        { name: 'schemas', test: /\/src\/platform\/interface\/operations\.ts$/ },
      ],
    },
  },
  logLevel: 'warn',
});

for (const [name, path] of Object.entries(copied)) cpSync(path, join(dist, name));

const bundled = [...output.flatMap(({ moduleIds = [] }) => moduleIds), ...Object.values(copied)];
writeFileSync(join(dist, 'THIRD_PARTY_LICENSES'), licencesOf(bundled.filter((id) => id.includes('/node_modules/'))));

// Answers that the books keep are those of this code, whatever its version is called.
const code = output.flatMap((chunk) => ('code' in chunk ? `${chunk.fileName}\n${chunk.code}` : [])).sort();
writeFileSync(join(dist, 'build.json'), JSON.stringify({ code: createHash('sha256').update(code.join('\n')).digest('hex') }));

// Help and completion read this: to load all commands takes a second.
const { allCommands } = await import(join(dist, 'main.js'));
const described = (await allCommands()).map(({ name, summary, arguments: taken, options, examples }) => ({
  ...{ name, summary, arguments: taken, options, examples },
}));
writeFileSync(join(dist, 'commands.json'), JSON.stringify(described));

/**
 * Imports of a room's face become imports of the files that it names: otherwise every command would load all that the
 * faces of its rooms name. Lines stay where they are, for the stacks of bugs.
 */
function throughFaces() {
  const faces = new Map();
  const named = /^(import|export) \{([^}]*)\} from '(\.[^']*)';$/gm;
  const namesIn = (list) => list.split(',').map((name) => name.trim()).filter((name) => name !== '' && !name.startsWith('type '));
  /** The file of each name of a face, by the face's path. */
  function filesOf(face) {
    if (!faces.has(face)) {
      const files = new Map();
      for (const [, , list, path] of readFileSync(face, 'utf8').matchAll(named)) {
        const file = join(dirname(face), path);
        for (const name of namesIn(list)) files.set(name, isFace(file) ? (filesOf(file).get(name) ?? file) : file);
      }
      faces.set(face, files);
    }
    return faces.get(face);
  }
  const isFace = (path) => path.startsWith(join(root, 'src')) && path.endsWith('/index.ts');
  return {
    name: 'through-faces',
    transform: {
      filter: { id: /\/src\/.*\.ts$/ },
      handler: (code, id) => ({
        map: null,
        code: code.replace(named, (whole, kind, list, path) => {
          const face = join(dirname(id), path);
          if (kind !== 'import' || !isFace(face)) return whole;
          const imports = namesIn(list).map((name) => {
            const file = filesOf(face).get(name.split(' as ')[0]) ?? face;
            return `import { ${name} } from ${JSON.stringify(file)};`;
          });
          return imports.join(' ') + '\n'.repeat(whole.split('\n').length - 1);
        }),
      }),
    },
  };
}

/** The licences and notices of the packages that these files belong to, sorted by name. Throws if a package has none. */
function licencesOf(paths) {
  const folders = [...new Set(paths.map((path) => packageFolder(path.replace(/^\0/, '').replace(/\?.*$/, ''))))];
  const entries = folders.map((folder) => {
    const { name, version, license } = readJson(join(folder, 'package.json'));
    const texts = readdirSync(folder, { withFileTypes: true, recursive: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .filter((path) => /^\/(licenses\/)?(licen[cs]e|copying|notice)[^/]*$/i.test(path.slice(folder.length)))
      .sort()
      .map((path) => readFileSync(path, 'utf8').trim());
    // The text of this licence is the same for everybody, and our own.
    if (texts.length === 0 && license === 'Apache-2.0') texts.push(readFileSync(join(root, 'LICENSE'), 'utf8').trim());
    if (texts.length === 0) throw new Error(`${name} ${version} has no licence file: it cannot be bundled`);
    return [`${name} ${version} (${license})`, texts.join('\n\n')];
  });
  const sorted = [...new Map(entries)].sort(([one], [other]) => (one < other ? -1 : 1));
  const line = '='.repeat(80);
  return `Costbook contains parts of these packages.\n\n${sorted
    .map(([title, text]) => `${line}\n${title}\n${line}\n\n${text}\n`)
    .join('\n')}`;
}

/** The folder of the package that a file belongs to: the nearest with a manifest that names a package. */
function packageFolder(path) {
  for (let folder = dirname(path); folder !== dirname(folder); folder = dirname(folder)) {
    const manifest = join(folder, 'package.json');
    if (existsSync(manifest) && readJson(manifest).version !== undefined) return folder;
  }
  throw new Error(`${path} belongs to no package`);
}

function readJson(path) {
  return JSON.parse(readFileSync(path, 'utf8'));
}
