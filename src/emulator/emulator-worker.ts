// A worker thread with an invented platform, for the demo. It answers with its address, and ends when it is told to.
import { parentPort, workerData } from 'node:worker_threads';
import { startEmulator } from './index.ts';

const { now, ...options } = workerData as { readonly now: number; readonly seed?: number; readonly storyEnd?: number };
const { url, account, tokens, close } = await startEmulator({ ...options, now: () => now });
parentPort?.once('message', () => void close().then(() => parentPort?.close()));
parentPort?.postMessage({ url, account, tokens });
