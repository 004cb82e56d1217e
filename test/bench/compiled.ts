import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { build } from 'rolldown';

const root = fileURLToPath(new URL('../..', import.meta.url));

/**
 * Modules of the product for a program that Node runs as it is: `dist` has only whole programs. They are bundled as those
 * are, into `build`, which lies where `dist` does. Returns their addresses, in the given order. `paths` start in `src`.
 */
export async function compiled(...paths: readonly string[]): Promise<string[]> {
  const { dependencies } = JSON.parse(await readFile(`${root}/package.json`, 'utf8')) as { dependencies: object };
  const packages = Object.keys(dependencies);
  const { output } = await build({
    cwd: root,
    input: Object.fromEntries(paths.map((path) => [path.replaceAll('/', '-'), `src/${path}.ts`])),
    platform: 'node',
    external: (id) => packages.some((name) => id === name || id.startsWith(`${name}/`)),
    // A name says what is in the file, so that two tests at a time write equal files.
    output: { dir: 'build', format: 'esm', entryFileNames: '[name]-[hash].js', chunkFileNames: 'chunk-[hash].js' },
    logLevel: 'warn',
  });
  return paths.map((path) => {
    const file = output.find((one) => one.type === 'chunk' && one.isEntry && one.name === path.replaceAll('/', '-'));
    if (file === undefined) throw new Error(`nothing was compiled of ${path}`);
    return new URL(`build/${file.fileName}`, `file://${root}/`).href;
  });
}
