import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { build } from 'rolldown';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** The modules of the product that benches load as they are shipped, with their types: a name that is lost shows. */
interface Modules {
  'warehouse/index': typeof import('../../src/warehouse/index.ts');
  'fetch/index': typeof import('../../src/fetch/index.ts');
  'fetch/plan/index': typeof import('../../src/fetch/plan/index.ts');
  'ingest/fetch-window': typeof import('../../src/ingest/fetch-window.ts');
  'time/time': typeof import('../../src/time/time.ts');
  'warehouse/integrity/index': typeof import('../../src/warehouse/integrity/index.ts');
  'reports/questions/index': typeof import('../../src/reports/questions/index.ts');
  'reports/formats/index': typeof import('../../src/reports/formats/index.ts');
  'warehouse/store/database': typeof import('../../src/warehouse/store/database.ts');
  'warehouse/store/migrate': typeof import('../../src/warehouse/store/migrate.ts');
  'warehouse/integrity/seal': typeof import('../../src/warehouse/integrity/seal.ts');
  'anomalies/beginning': typeof import('../../src/anomalies/beginning.ts');
  'anomalies/detect': typeof import('../../src/anomalies/detect.ts');
  'anomalies/evaluate-scope': typeof import('../../src/anomalies/evaluate-scope.ts');
  'anomalies/notices': typeof import('../../src/anomalies/notices.ts');
  '../test/support/scripted-platform': typeof import('../support/scripted-platform.ts');
  'anomalies/rules': typeof import('../../src/anomalies/rules.ts');
}

/** Modules of the product, compiled and loaded. `paths` start in `src`. */
export async function compiled<P extends keyof Modules>(...paths: readonly P[]): Promise<Pick<Modules, P>> {
  const addresses = await compiledTo(...paths);
  const loaded = paths.map(async (path, index) => [path, await import(addresses[index] ?? '')] as const);
  return Object.fromEntries(await Promise.all(loaded)) as Pick<Modules, P>;
}

/**
 * Modules of the product for a program that Node runs as it is: `dist` has only whole programs. They are bundled as those
 * are, into `build`, which lies where `dist` does. Returns their addresses, in the given order. `paths` start in `src`.
 */
export async function compiledTo(...paths: readonly string[]): Promise<string[]> {
  const { dependencies } = JSON.parse(await readFile(`${root}/package.json`, 'utf8')) as { dependencies: object };
  const packages = Object.keys(dependencies);
  const { output } = await build({
    cwd: root,
    input: Object.fromEntries(paths.map((path) => [nameOf(path), `src/${path}.ts`])),
    platform: 'node',
    external: (id) => packages.some((name) => id === name || id.startsWith(`${name}/`)),
    // A name says what is in the file, so that two tests at a time write equal files.
    output: { dir: 'build', format: 'esm', entryFileNames: '[name]-[hash].js', chunkFileNames: 'chunk-[hash].js' },
    logLevel: 'warn',
  });
  return paths.map((path) => {
    const file = output.find((one) => one.type === 'chunk' && one.isEntry && one.name === nameOf(path));
    if (file === undefined) throw new Error(`nothing was compiled of ${path}`);
    return new URL(`build/${file.fileName}`, `file://${root}/`).href;
  });
}

function nameOf(path: string): string {
  return path.replaceAll('../', '').replaceAll('/', '-');
}
