/**
 * Copies a DuckDB file and syncs the copy. Runs in a child process: in the process that holds the warehouse, closing any
 * other descriptor of its file would drop DuckDB's lock. Arguments: the file, the path next to which the copy is made,
 * the writer's process id, and with a retired copy its path, the length of the headers and the length of a block, in
 * bytes. Prints `cloned` if the file system shares the blocks of both, else `patched` or `copied`; if it fails, the
 * code of the system's error.
 *
 * A retired copy is patched: each block of a DuckDB file starts with a checksum of 8 bytes, so only the blocks whose
 * checksums differ are copied; with blocks of another length, all is copied. The seal goes first and the headers come last; a retired copy that was not finished is
 * never used again.
 *
 * Stdin ends when the writer no longer wants a copy, or is dead; then the child leaves nothing. The writer handles
 * signals: a terminal sends them to both.
 */
export const copyScript = `
const fs = require('node:fs');
const { copyFile, open, rename, rm } = fs.promises;
const { COPYFILE_FICLONE_FORCE } = fs.constants;
const [from, to, writer, retired, ...lengths] = process.argv.slice(1);
const [headerBytes, blockBytes] = lengths.map(Number);
const part = to + '.' + process.pid + '.part';
const checksumBytes = 8;
function leaveNothing() {
  fs.rmSync(part, { force: true });
  if (retired) fs.rmSync(retired, { force: true });
}
function giveUp() {
  leaveNothing();
  process.kill(process.pid, 'SIGKILL'); // leaving in order would wait for the copy
}
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => {});
process.stdin.on('end', giveUp).on('error', giveUp).resume();
const cloned = () => copyFile(from, part, COPYFILE_FICLONE_FORCE).then(() => true, () => fs.rmSync(part, { force: true }));
async function sync(path) {
  const file = await open(path, 'r+');
  await file.sync();
  await file.close();
}
async function patch() {
  const source = await open(from, 'r');
  const target = await open(retired, 'r+');
  const { size } = await source.stat();
  const headers = Buffer.alloc(headerBytes);
  await source.read(headers, 0, headerBytes, 0);
  const hasSameBlocks = [4096, 8192].every((header) => Number(headers.readBigUInt64LE(header + 40)) === blockBytes);
  const known = !hasSameBlocks ? 0 : Math.floor(((await target.stat()).size - headerBytes) / blockBytes);
  await target.truncate(size);
  const block = Buffer.alloc(blockBytes);
  const ours = Buffer.alloc(checksumBytes);
  for (let index = 0; headerBytes + index * blockBytes < size; index += 1) {
    const at = headerBytes + index * blockBytes;
    if (index < known) {
      fs.readSync(source.fd, block, 0, checksumBytes, at);
      fs.readSync(target.fd, ours, 0, checksumBytes, at);
      if (index % 256 === 0) await new Promise(setImmediate);
      if (block.compare(ours, 0, checksumBytes, 0, checksumBytes) === 0) continue;
    }
    const { bytesRead } = await source.read(block, 0, blockBytes, at);
    await target.write(block, 0, bytesRead, at);
  }
  await target.sync();
  await target.write(headers, 0, headerBytes, 0);
  await target.sync();
  await target.close();
  await source.close();
  await rename(retired, part);
}
async function copy() {
  if (await cloned()) {
    if (retired) await rm(retired, { force: true });
    await sync(part);
    return 'cloned';
  }
  if (retired) {
    await patch();
    return 'patched';
  }
  await copyFile(from, part);
  await sync(part);
  return 'copied';
}
copy().then((how) => {
  if (process.ppid !== Number(writer)) return giveUp();
  process.stdout.write(how, () => process.exit());
}).catch((error) => {
  leaveNothing();
  process.stdout.write(error.code || '', () => process.stderr.write(error.message, () => process.exit(1)));
});`;
