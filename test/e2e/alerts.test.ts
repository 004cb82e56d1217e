import { createHmac } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { askSnapshot, type Ended, ingest, newProject, runCli, startCli } from '../support/project.ts';
import { type Fact, series, startScriptedPlatform } from '../support/scripted-platform.ts';
import { cuts, type SinkServer, says, startSink } from '../support/sink-server.ts';

const box = { workspace: 'north', type: 'sandbox', name: 'box', uuid: 'sbx-1', dimension: 'sandbox_image_storage_gbs' };
const secret = 'MARKED-secret-of-the-webhook';
const night = '2026-09-05T02:15:00Z';
const later = '2026-09-08T02:15:00Z';
const key = 'stale/acc_one';

interface Project {
  readonly dir: string;
  readonly sink: SinkServer;
}

/** Books of September up to the night, and a webhook that is told. */
async function project(more = ''): Promise<Project> {
  const dir = await newProject();
  const sink = await startSink();
  const platform = await startScriptedPlatform(series(box, '2026-09-03T05', [1, 2]));
  await writeFile(join(dir, 'costbook.yaml'), webhookYaml(sink) + more);
  const env = { SINK_SECRET: secret };
  expect((await ingest(dir, platform, { now: night, env })).exitCode).toBe(0);
  return { dir, sink };
}

function webhookYaml({ url }: SinkServer): string {
  return `accounts: [{ id: acc_one }]\nsinks:\n  hook: { type: webhook, url: "${url}/in?key=MARKED-query-of-the-url", secret: "\${SINK_SECRET}", allowPrivateNetwork: true }\n`;
}

function alert({ dir }: Project, now: string, ...args: string[]): Promise<Ended> {
  return runCli(['alert', '--dir', dir, '--now', now, '--json', '--log-format', 'json', ...args], {
    SINK_SECRET: secret,
  });
}

function keysOf({ told }: SinkServer): string[] {
  return told.flatMap(({ body }) => body.alerts.map((entry) => `${entry.transition} ${entry.key}`));
}

describe('an alert', () => {
  test('goes from the books through ledger and outbox to the sink, once, and leaves a receipt', async () => {
    const given = await project();
    expect(await alert(given, night)).toMatchObject({ exitCode: 0 });
    expect(given.sink.told).toEqual([]);

    const first = await alert(given, later);
    expect(first).toMatchObject({ exitCode: 0, stderr: '' });
    expect(keysOf(given.sink)).toEqual([`raised ${key}`]);
    expect((await alert(given, later)).exitCode).toBe(0);
    expect((await alert(given, '2026-09-09T02:15:00Z')).exitCode).toBe(0);
    expect(given.sink.told).toHaveLength(1);
    expect(await askSnapshot(given.dir, 'select alert_key, is_open, pending_messages from alerts')).toEqual([
      { alert_key: key, is_open: true, pending_messages: '0' },
    ]);
    expect(await askSnapshot(given.dir, 'select outcome, tries, message_id from messages')).toEqual([
      { outcome: 'delivered', tries: '1', message_id: given.sink.told[0]?.body.id },
    ]);
  });

  test('is signed with the secret, over id, time and body', async () => {
    const given = await project();
    await alert(given, later);
    const [told] = given.sink.told;
    const stamp = Number(told?.headers['webhook-timestamp']);
    expect(Math.abs(Date.now() / 1000 - stamp)).toBeLessThan(60);
    const signed = `${told?.headers['webhook-id']}.${stamp}.${told?.text}`;
    expect(told?.headers['webhook-signature']).toBe(
      `v1,${createHmac('sha256', secret).update(signed).digest('base64')}`,
    );
    expect(told?.headers['webhook-id']).toBe(told?.body.id);
  });
});
