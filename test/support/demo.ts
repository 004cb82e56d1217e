import { cp, mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { inject } from 'vitest';
import { type Ended, newProject, runCli } from './project.ts';

/** The last day of the demo's story, and when its command ran. */
export const storyEnd = '2026-11-12';
export const demoNow = `${storyEnd}T10:30:00Z`;

/**
 * A copy of the demo's project, and how the command that made it ended. It takes a minute of CPU: the first file that asks
 * makes it, and the others wait for it.
 */
export async function copyOfDemo(): Promise<{ readonly dir: string; readonly ended: Ended }> {
  const made = join(inject('shared'), 'demo');
  const said = join(made, 'ended.json');
  if ((await mkdir(made).catch(() => 'it is being made')) === undefined) {
    const ended = await runCli(['demo', '--dir', made, '--now', demoNow]);
    await writeFile(`${said}.part`, JSON.stringify(ended));
    await rename(`${said}.part`, said);
  }
  let text: string | undefined;
  while (text === undefined) {
    text = await readFile(said, 'utf8').catch(() => undefined);
    if (text === undefined) await setTimeout(500);
  }
  const dir = join(await newProject(), 'costbook-demo');
  await cp(join(made, 'costbook-demo'), dir, { recursive: true });
  return { dir, ended: JSON.parse(text) as Ended };
}
