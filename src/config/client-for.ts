import type { HttpSend } from '../base/effects.ts';
import type { ProjectContext } from '../base/project-context.ts';
import { version } from '../base/version.ts';
import { type Client, type ClientSettings, openClient } from '../platform/index.ts';
import type { AccountConfig } from './accounts.ts';
import type { LocalConfig } from './config.ts';
import { readToken } from './secrets.ts';

/** What a client needs from outside. */
export type ClientContext = Pick<ProjectContext, 'dir' | 'signal' | 'effects' | 'keepSecret'>;

/**
 * A client for one account's platform, with the account's token and the settings of the project. `workspace` is the one
 * that the requests are about, for platforms that want it in a header.
 */
export function clientFor(
  account: AccountConfig,
  config: LocalConfig,
  http: HttpSend,
  { dir, signal, keepSecret, effects }: ClientContext,
  workspace?: string,
  limits: Pick<ClientSettings, 'maxAttempts' | 'attemptTimeoutMs' | 'limiter' | 'patience'> = {},
): Client {
  for (const value of Object.values(config.headers)) keepSecret(value);
  return openClient(
    {
      ...limits,
      url: account.url,
      inferenceUrl: config.inferenceUrl,
      sandboxUrl: config.sandboxUrl,
      token: () => readToken(account.token, { dir, signal, keepSecret, platform: { url: account.url, http } }),
      tokenSetting: account.tokenSetting,
      canRefreshToken: account.token.kind !== 'value',
      apiVersion: config.apiVersion,
      authorizationHeader: config.authorizationHeader,
      versionHeader: config.versionHeader,
      threadHeader: config.threadHeader,
      workspaceHeader: config.workspaceHeader,
      workspace,
      headers: config.headers,
      maxRequestsPerMinute: config.maxRequestsPerMinute,
      userAgent: `costbook/${version}`,
    },
    http,
    effects,
  );
}

/** The token of a workspace, if it has one of its own, else the account's. */
export function withWorkspaceToken(account: AccountConfig, workspace: string | undefined): AccountConfig {
  const own = account.inventory?.tokens.find((token) => token.workspace === workspace);
  return own === undefined ? account : { ...account, token: own.token, tokenSetting: own.tokenSetting };
}
