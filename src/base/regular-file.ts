import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';

/** Opens a file to read. A pipe is not waited for, and a device has no end: they are refused as a folder is, with `EISDIR`. */
export async function openRegular(path: string): Promise<FileHandle> {
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENXIO') return undefined; // a socket
    throw error;
  });
  if (file !== undefined && (await file.stat()).isFile()) return file;
  await file?.close();
  throw noRegularFile(path);
}

/** What reading a folder throws, for anything else that is no file either. */
export function noRegularFile(path: string): Error {
  return Object.assign(new Error(`EISDIR: no regular file, read '${path}'`), { code: 'EISDIR', syscall: 'read', path });
}

/** The bytes of a regular file. Throws as `openRegular`, and with `EFBIG` for more than `mostBytes`. */
export async function bytesOf(path: string, mostBytes = Number.POSITIVE_INFINITY): Promise<Buffer> {
  const file = await openRegular(path);
  try {
    if ((await file.stat()).size <= mostBytes) return await file.readFile();
  } finally {
    await file.close();
  }
  throw Object.assign(new Error(`EFBIG: file too large, read '${path}'`), { code: 'EFBIG', syscall: 'read', path });
}
