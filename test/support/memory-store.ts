import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { shaLabel } from '../../src/storage/index.ts';
import { type Condition, ConditionError, type Labels, type ObjectStore } from '../../src/storage/store.ts';

/** An object store in memory, with what it is asked. `refuses` says which writes it refuses although nothing speaks against them. */
export interface MemoryStore extends ObjectStore {
  readonly objects: Map<string, { text: string; labels: Labels }>;
  readonly asked: string[];
  refuses: (key: string, condition: Condition | undefined) => boolean;
}

/** Opens an empty object store. */
export function memoryStore(): MemoryStore {
  const objects = new Map<string, { text: string; labels: Labels }>();
  const asked: string[] = [];
  const etagOf = (text: string) => createHash('md5').update(text).digest('hex');
  async function put(key: string, text: string, labels: Labels, condition: Condition | undefined): Promise<string> {
    asked.push(`put ${key}`);
    const there = objects.get(key);
    const isWrong =
      condition !== undefined &&
      ('ifAbsent' in condition ? there !== undefined : there === undefined || etagOf(there.text) !== condition.ifEtag);
    const sha256 = createHash('sha256').update(text).digest('hex');
    if (isWrong && there?.labels[shaLabel] === sha256) return etagOf(there.text);
    if (isWrong || store.refuses(key, condition)) throw new ConditionError(key);
    objects.set(key, { text, labels: { ...labels, [shaLabel]: sha256 } });
    return etagOf(text);
  }
  const store: MemoryStore = {
    ...{ url: 's3://memory', objects, asked, refuses: () => false },
    putText: put,
    putFile: async (key, { path }, labels, condition) => put(key, await readFile(path, 'utf8'), labels, condition),
    async readText(key) {
      asked.push(`read ${key}`);
      const text = objects.get(key)?.text;
      return text === undefined ? undefined : { text, etag: etagOf(text) };
    },
    async describe(key) {
      asked.push(`describe ${key}`);
      const there = objects.get(key);
      return there && { key, bytes: Buffer.byteLength(there.text), etag: etagOf(there.text), labels: there.labels };
    },
    async *list(start) {
      for (const [key, { text }] of [...objects].sort(([a], [b]) => (a < b ? -1 : 1))) {
        if (key.startsWith(start)) yield { key, bytes: Buffer.byteLength(text), etag: etagOf(text) };
      }
    },
    remove: async (key) => void objects.delete(key),
    removeUnfinished: async () => 0,
    async open(key) {
      const there = objects.get(key);
      return there && Readable.from([Buffer.from(there.text)]);
    },
    close: () => undefined,
  };
  return store;
}
