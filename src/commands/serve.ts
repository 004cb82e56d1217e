import { expectProject } from '../base/project-folder.ts';
import { aborted } from './aborted.ts';
import type { Command } from './command.ts';
import { dashboardAddress, dashboardOptions, startDashboard } from './dashboard.ts';
import { optionReader } from './options.ts';

export const serveCommand: Command = {
  name: 'serve',
  summary: 'Serve a dashboard of the books for the browser, until stopped. It only reads.',
  options: [...dashboardOptions],
  examples: ['costbook serve', 'costbook serve --port 0 --json'],
  staysUp: true,
  async run(input, context) {
    const { effects, signal } = context;
    const options = optionReader(input, effects.now());
    const address = dashboardAddress(options);
    options.check();
    expectProject(context);
    const dashboard = await startDashboard(address, context);
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
