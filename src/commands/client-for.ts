import { type AccountConfig, type LocalConfig, readToken } from '../config/index.ts';
import { type Client, openClient } from '../platform/index.ts';
import { version } from '../version.ts';
import type { CommandContext } from './command.ts';

/**
 * A client for one account's platform, with the account's token and the settings of the project. `workspace` is the one
 * that the requests are about, for platforms that want it in a header.
 */
export function clientFor(
  account: AccountConfig,
  config: LocalConfig,
  http: ReturnType<CommandContext['openHttp']>,
  context: Pick<CommandContext, 'dir' | 'signal' | 'keepSecret' | 'effects'>,
  workspace?: string,
): Client {
  const { dir, signal, keepSecret, effects } = context;
  const { workspaceHeader } = config;
  for (const value of Object.values(config.headers)) keepSecret(value);
  return openClient(
    {
      url: account.url,
      inferenceUrl: config.inferenceUrl,
      sandboxUrl: config.sandboxUrl,
      token: () => readToken(account.token, { dir, signal, keepSecret }),
      tokenSetting: account.tokenSetting,
      canRefreshToken: account.token.kind !== 'value',
      apiVersion: config.apiVersion,
      authorizationHeader: config.authorizationHeader,
      versionHeader: config.versionHeader,
      threadHeader: config.threadHeader,
      headers:
        workspaceHeader === undefined || workspace === undefined
          ? config.headers
          : { ...config.headers, [workspaceHeader]: workspace },
      maxRequestsPerMinute: config.maxRequestsPerMinute,
      userAgent: `costbook/${version}`,
    },
    http,
    effects,
  );
}
