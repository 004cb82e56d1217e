import { expectProject } from '../base/project-folder.ts';
import { read } from '../options/read.ts';
import { options } from '../options/table.ts';
import { aborted } from './aborted.ts';
import type { Command } from './command.ts';
import { startDashboard } from './dashboard.ts';

export const serveCommand: Command = {
  name: 'serve',
  summary: 'Serve a dashboard of the books for the browser, until stopped. It only reads.',
  examples: ['costbook serve', 'costbook serve --port 0 --json'],
  staysUp: true,
  async run(input, context) {
    const { signal } = context;
    const address = read(options.serve, input, context);
    expectProject(context);
    const dashboard = await startDashboard(address, context);
    try {
      const { url } = dashboard;
      await context.answer({ url }, () => `The dashboard is at ${url}. Press Ctrl-C to stop it.\n`);
      await aborted(signal);
    } finally {
      await dashboard.close();
    }
    throw signal.reason;
  },
};
