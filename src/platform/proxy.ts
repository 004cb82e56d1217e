import { UsageError } from '../base/errors.ts';

/** The proxies in the environment; empty if there are none. */
export interface Proxies {
  readonly http: string;
  readonly https: string;
  /** Hosts that are accessed directly, separated by commas. */
  readonly none: string;
}

/** Reads HTTP_PROXY, HTTPS_PROXY and NO_PROXY, lower case first. Throws UsageError for an invalid proxy address. */
export function proxiesOf(env: Readonly<Record<string, string | undefined>>): Proxies {
  const problems: string[] = [];
  function read(name: string): string {
    const lower = name.toLowerCase();
    const used = env[lower] === undefined ? name : lower;
    const value = env[used] ?? '';
    // Never shown: it may contain a password.
    if (value !== '' && !(/^(https?|socks5?):\/\//i.test(value) && URL.canParse(value))) {
      problems.push(
        `${used}: not an http or https address, expected one such as http://proxy.example.com:3128; correct or unset it`,
      );
    }
    return value;
  }
  const proxies = { http: read('HTTP_PROXY'), https: read('HTTPS_PROXY') };
  if (problems.length > 0) throw new UsageError(problems);
  return { ...proxies, none: env['no_proxy'] ?? env['NO_PROXY'] ?? '' };
}
