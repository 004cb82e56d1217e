import { randomUUID } from 'node:crypto';
import { basename } from 'node:path';
import { UsageError } from '../base/errors.ts';
import { keepConfiguredSecrets, loadConfig, loadReadable } from '../config/index.ts';
import type { Dashboard, DashboardProbes } from '../serve/index.ts';
import type { CommandContext } from './command.ts';
import { dashboardCommands } from './dashboard-commands.ts';
import type { mcpAnswerer } from './mcp.ts';
import { statusOfProject } from './status-now.ts';

/** Checks of open alerts run again for a page; it does not wait longer for one. */
const checkMs = 5000;

const loopback = new Set(['127.0.0.1', '::1', 'localhost']);

/** Where to listen. */
export interface DashboardPlace {
  readonly host: string;
  readonly port: number;
}

/**
 * Serves the dashboard of the project until it is closed. Throws UsageError for mistakes in the settings, and if other
 * machines could reach it without a token; MachineError if the port is not available.
 */
export async function startDashboard(
  { host, port }: DashboardPlace,
  context: CommandContext,
  probes?: DashboardProbes,
): Promise<Dashboard> {
  const { effects, dir, env, signal } = context;
  const {
    serve: settings,
    alerts,
    dashboardUrl,
  } = loadConfig({
    ...{ dir, env, now: effects.now(), requireAccounts: false, requireServe: true },
  });
  await keepConfiguredSecrets({ dir, env, now: effects.now() }, context);
  for (const { token } of settings.tokens) if (token !== undefined) context.keepSecret(token);
  if (!loopback.has(host) && settings.tokens.length === 0 && settings.userHeader === undefined) {
    throw new UsageError(
      `--host ${host}: other machines can reach this address, so expected access tokens (serve.tokens in costbook.yaml) or the header of an authenticating proxy (serve.userHeader)`,
    );
  }
  let answerer: Promise<ReturnType<typeof mcpAnswerer>> | undefined;
  const { serveDashboard } = await import('../serve/index.ts');
  return serveDashboard({
    ...{ dir, host, port, settings, dashboardUrl, probes },
    project: alerts.project ?? basename(dir),
    reader: randomUUID(),
    ...{ now: effects.now, log: effects.log, signal },
    config: () => loadConfig({ dir, env, now: effects.now(), requireAccounts: false }),
    status: () => {
      const { config } = loadReadable({ dir, env, now: effects.now(), requireAccounts: false });
      return statusOfProject(config, context, { timeoutMs: checkMs });
    },
    commands: dashboardCommands(context),
    mcp: async (request, limited) => {
      // It takes a while to load, and most dashboards have no agent.
      answerer ??= import('./mcp.ts').then((loaded) => loaded.mcpAnswerer(context));
      return (await answerer)(request, limited);
    },
  });
}
