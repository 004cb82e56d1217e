import { randomUUID } from 'node:crypto';
import { basename } from 'node:path';
import { UsageError } from '../base/errors.ts';
import { everyGroup, keepConfiguredSecrets, loadConfig, loadReadable, type ServeSettings } from '../config/index.ts';
import type { Dashboard, DashboardProbes } from '../serve/index.ts';
import type { CommandContext } from './command.ts';
import { dashboardCommands } from './dashboard-commands.ts';
import type { mcpAnswerer } from './mcp.ts';
import { statusOfProject } from './status-now.ts';

/** Checks of open alerts run again for a page; it does not wait longer for one. */
const checkMs = 5000;
/** Sockets to the identity provider. */
const providerConnections = 4;

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
  const mistakes = mistakesOf(settings, { host, dashboardUrl });
  if (mistakes.length > 0) throw new UsageError(mistakes.map((found) => ({ found })));
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
    send: context.openHttp(providerConnections),
    mcp: async (request, limited) => {
      // It takes a while to load, and most dashboards have no agent.
      answerer ??= import('./mcp.ts').then((loaded) => loaded.mcpAnswerer(context));
      return (await answerer)(request, limited);
    },
  });
}

/** What the settings of `serve` lack: nobody comes in who should not, and nobody who signs in stands before a closed door. */
function mistakesOf(
  { tokens, userHeader, groupsHeader, oidc, groups }: ServeSettings,
  { host, dashboardUrl }: { readonly host: string; readonly dashboardUrl: string | undefined },
): string[] {
  const isReachable = !loopback.has(host);
  const knowsGroups = oidc !== undefined || groupsHeader !== undefined;
  const hasRuleForAll = groups.some(({ name }) => name === everyGroup);
  const rules = 'groups: { finance: { all: true }, research: { workspaces: [research] } }';
  return [
    isReachable && tokens.length === 0 && userHeader === undefined && oidc === undefined
      ? `--host ${host}: other machines can reach this address, so expected access tokens (serve.tokens in costbook.yaml), an identity provider (serve.oidc) or the header of an authenticating proxy (serve.userHeader)`
      : undefined,
    isReachable && oidc !== undefined && dashboardUrl === undefined
      ? 'serve.oidc: found no dashboardUrl, expected the address at which people open the dashboard: the identity provider sends them back to it'
      : undefined,
    userHeader !== undefined && groupsHeader === undefined && !hasRuleForAll
      ? `serve.userHeader: found no serve.groupsHeader, so everybody whom the proxy names would see nothing. Name the header with their groups there, and what each group sees in serve.groups; "${everyGroup}": { all: true } shows everybody everything`
      : undefined,
    groupsHeader !== undefined && userHeader === undefined
      ? 'serve.groupsHeader: found no serve.userHeader, expected the header in which the proxy names the user'
      : undefined,
    knowsGroups && groups.length === 0
      ? `serve.groups: found no rule, so everybody who signs in would see nothing. Write what each group sees, such as ${rules}`
      : undefined,
    groups.length > 0 && !knowsGroups && userHeader === undefined
      ? 'serve.groups: found neither serve.oidc nor serve.groupsHeader, so nobody has a group; add one or remove the rules'
      : undefined,
  ].filter((each) => each !== undefined);
}
