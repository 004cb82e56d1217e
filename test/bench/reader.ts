// A process that asks what an ingest asked and throws the bodies away: `node reader.js <url> <file> <concurrency>`.
// The file holds a list of windows, each a list of page chains, each a list of paths.
import { readFileSync } from 'node:fs';
import { Agent, request } from 'undici';

const [url = '', file = '', concurrency = '4'] = process.argv.slice(2);
const windows: string[][][] = JSON.parse(readFileSync(file, 'utf8'));
const dispatcher = new Agent({ connections: Number(concurrency) });
const headers = {
  authorization: 'Bearer bench',
  'service-version': '2026-04-16',
  accept: 'application/json',
  'accept-encoding': 'gzip',
};

async function readChain(paths: readonly string[]): Promise<void> {
  for (const path of paths) {
    const { body } = await request(url + path, { dispatcher, headers });
    await body.arrayBuffer();
  }
}

let next = 0;
async function readWindows(): Promise<void> {
  for (let window = windows[next++]; window !== undefined; window = windows[next++]) {
    await Promise.all(window.map(readChain));
  }
}

await Promise.all(Array.from({ length: Number(concurrency) }, readWindows));
await dispatcher.close();
