import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Bench, Figure } from '../figures.ts';
import { newFolder, peakOf, startServer } from '../processes.ts';

/** What each connection sends at once, before it reads anything: nothing of it needs a token. */
const kinds: Readonly<Record<string, number>> = { 'one request each': 1, '3 each': 3, '60 each': 60, '700 each': 700 };

/** Connections that ask for the largest file of the dashboard and read nothing, beside a person who asks whether it lives. */
export const hostileBench: Bench = {
  name: 'hostile',
  isLong: true,
  about: '400 connections that ask the dashboard for its largest file and read nothing, while /healthz is asked',
  async run({ quick, tell }) {
    const count = quick ? 40 : 400;
    const figures: Figure[] = [];
    for (const [kind, requests] of Object.entries(kinds)) {
      const dir = await newFolder();
      await writeFile(join(dir, 'costbook.yaml'), 'account: acc_bench\n');
      const { line, pid, stop } = await startServer(['serve', '--port', '0', '--json', '--dir', dir]);
      const { url } = JSON.parse(line) as { url: string };
      const path = await pathOfLargest();
      if (!(await fetch(`${url}${path}`)).ok) throw new Error(`there is no ${path}`);
      const { port, host } = new URL(url);
      const sockets: Socket[] = [];
      const text = `GET ${path} HTTP/1.1\r\nHost: ${host}\r\n\r\n`.repeat(requests);
      const waits: number[] = [];
      for (let begun = 0; begun < count; begun += 40) {
        const opened = Array.from({ length: Math.min(40, count - begun) }, () => connect(Number(port), '127.0.0.1'));
        await Promise.all(opened.map((socket) => once(socket, 'connect')));
        for (const socket of opened)
          socket
            .on('error', () => undefined)
            .pause()
            .write(text);
        sockets.push(...opened);
        waits.push(await healthMs(url));
      }
      for (let look = 0; look < (quick ? 3 : 20); look += 1) {
        waits.push(await healthMs(url));
        await sleep(250);
      }
      const mostMib = peakOf(pid);
      for (const socket of sockets) socket.destroy();
      stop();
      tell(`${kind}: ${Math.round(mostMib)} MiB, /healthz at most ${Math.round(Math.max(...waits))} ms`);
      figures.push(
        {
          bench: 'hostile',
          measured: `memory, ${count} connections, ${kind}`,
          value: mostMib,
          unit: 'MiB',
          target: 1024,
        },
        {
          bench: 'hostile',
          measured: `/healthz, ${count} connections, ${kind}`,
          value: Math.max(...waits),
          unit: 'ms',
          target: 1000,
        },
      );
    }
    return figures;
  },
};

/** The address of the drawing library: its hash is in its name. */
async function pathOfLargest(): Promise<string> {
  const bytes = await readFile(new URL('../../../dist/echarts.common.min.js', import.meta.url));
  return `/assets/charts.${createHash('sha256').update(bytes).digest('hex').slice(0, 16)}.js`;
}

async function healthMs(url: string): Promise<number> {
  const begun = performance.now();
  await (await fetch(`${url}/healthz`)).text();
  return performance.now() - begun;
}
