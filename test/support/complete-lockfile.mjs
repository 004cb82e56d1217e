// Fills the hashes that package-lock.json does not have yet: npm writes only those of packages that it installed, so a
// machine leaves out the bindings of other platforms. Run by `npm run lockfile` where the registry has all of them.
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';

const file = new URL('../../package-lock.json', import.meta.url);
const lock = JSON.parse(readFileSync(file, 'utf8'));
const missing = [];
for (const [path, entry] of Object.entries(lock.packages)) {
  if (path === '' || entry.integrity !== undefined) continue;
  const name = `${path.split('node_modules/').at(-1)}@${entry.version}`;
  const { stdout } = spawnSync('npm', ['view', name, 'dist.integrity'], { encoding: 'utf8' });
  const integrity = stdout.trim();
  if (!/^sha512-[A-Za-z0-9+/]{86}==$/.test(integrity)) missing.push(name);
  else lock.packages[path] = { version: entry.version, integrity, ...entry };
}
writeFileSync(file, `${JSON.stringify(lock, undefined, 2)}\n`);
if (missing.length > 0) {
  process.stderr.write(`the registry has no hash of:\n${missing.map((name) => `  ${name}\n`).join('')}`);
  process.exitCode = 1;
}
