// Bundles the product into dist: the command line, its children and its threads share their code in chunks, so that a
// command loads only its own. Packages that are named in `dependencies` stay packages.
import { readFileSync, writeFileSync } from 'node:fs';
import { build } from 'rolldown';

const { dependencies } = JSON.parse(readFileSync(new URL('package.json', import.meta.url), 'utf8'));
const packages = Object.keys(dependencies);

await build({
  cwd: import.meta.dirname,
  input: {
    cli: 'src/cli.ts',
    main: 'src/main.ts',
    child: 'src/child.ts',
    'decode-worker': 'src/fetch/decode-worker.ts',
    'forecast-worker': 'src/forecast/forecast-worker.ts',
    platform: 'src/platform/library.ts',
    emulator: 'src/emulator/index.ts',
  },
  platform: 'node',
  external: (id) => packages.some((name) => id === name || id.startsWith(`${name}/`)),
  output: {
    dir: 'dist',
    format: 'esm',
    sourcemap: 'hidden',minify: { compress: false, mangle: false, codegen: { removeWhitespace: true } },
    chunkFileNames: 'chunk-[hash].js',
    cleanDir: true,
    codeSplitting: {
      groups: [
        { name: 'main', test: /\/src\/main\.ts$/, priority: 2 },
      ],
    },
  },
  logLevel: 'warn',
});

// Help and completion read this: to load all commands takes a second.
const { allCommands } = await import(new URL('dist/main.js', import.meta.url));
const described = (await allCommands()).map(({ name, summary, arguments: taken, options, examples }) => ({
  ...{ name, summary, arguments: taken, options, examples },
}));
writeFileSync(new URL('dist/commands.json', import.meta.url), JSON.stringify(described));
