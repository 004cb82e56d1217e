import { randomUUID } from 'node:crypto';
import { basename } from 'node:path';
import { loadConfig } from '../config/index.ts';
import { UsageError } from '../errors.ts';
import { expectProject } from '../project-folder.ts';
import { aborted } from './aborted.ts';
import type { Command } from './command.ts';
import { dashboardCommands } from './dashboard-commands.ts';
import { optionReader } from './options.ts';

const usualPort = 8620;
const loopback = new Set(['127.0.0.1', '::1', 'localhost']);

export const serveCommand: Command = {
  name: 'serve',
  summary: 'Serve a dashboard of the books for the browser, until stopped. It only reads.',
  options: [
    { flags: '--port <port>', summary: `port to listen on; ${usualPort} by default, 0 picks a free one` },
    {
      flags: '--host <address>',
      summary: 'address to listen on; by default 127.0.0.1, which only people on this machine can open',
    },
  ],
  examples: ['costbook serve', 'costbook serve --port 0 --json'],
  staysUp: true,
  async run(input, context) {
    const { effects, dir, signal } = context;
    const options = optionReader(input, effects.now());
    const port = options.port('port') ?? usualPort;
    const host = options.text('host') ?? '127.0.0.1';
    options.check();
    expectProject(context);
    const { serve: settings, alerts } = loadConfig({
      ...{ dir, env: context.env, now: effects.now(), requireAccounts: false, requireServe: true },
    });
    for (const { token } of settings.tokens) if (token !== undefined) context.keepSecret(token);
    if (!loopback.has(host) && settings.tokens.length === 0 && settings.userHeader === undefined) {
      throw new UsageError(
        `--host ${host}: other machines can reach this address, so expected access tokens (serve.tokens in costbook.yaml) or the header of an authenticating proxy (serve.userHeader)`,
      );
    }
    const { serveDashboard } = await import('../serve/index.ts');
    const dashboard = await serveDashboard({
      ...{ dir, host, port, settings },
      project: alerts.project ?? basename(dir),
      reader: randomUUID(),
      ...{ now: effects.now, log: effects.log, signal },
      config: () => loadConfig({ dir, env: context.env, now: effects.now(), requireAccounts: false }),
      commands: dashboardCommands(context),
    });
    try {
      await context.write(
        context.json
          ? `${JSON.stringify({ url: dashboard.url })}\n`
          : `The dashboard is at ${dashboard.url}. Press Ctrl-C to stop it.\n`,
      );
      await aborted(signal);
    } finally {
      await dashboard.close();
    }
    throw signal.reason;
  },
};
