import { denied, Refusal } from './refusal.ts';
import type { Story } from './sample-costs.ts';

/** Request headers by lower-case name. */
export type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** The headers whose names contain the maker's name, in lower case. */
export interface HeaderNames {
  /** Accepted next to `Authorization`. */
  readonly authorization: string;
  readonly version: string;
  readonly thread: string;
  /** Names a workspace, for tokens that see several; undefined if there is no such header. */
  readonly workspace: string | undefined;
}

/** The names in the document. */
export const documentedHeaders: HeaderNames = {
  authorization: 'x-service-authorization',
  version: 'service-version',
  thread: 'x-service-thread-id',
  workspace: undefined,
};

/** Who sends a request, and what the token allows. */
export interface Caller {
  readonly story: Story;
  readonly isAdmin: boolean;
  /** The only workspace that it sees; undefined for all. */
  readonly workspace: string | undefined;
  /** Whether it may restore and delete: an account admin's or a workspace's token. */
  readonly mayChange: boolean;
  /** The only OAuth scope of the token; undefined for a token with all of its role. */
  readonly scope: string | undefined;
}

/**
 * How a listing gets its workspace is not documented. Here it depends on the token: an account admin's token lists
 * every workspace, any other token one.
 */
export const workspaceOfMember = 'production';

/** The scope of the token that can only list functions (5.4). */
export const functionsScope = 'functions:list';

/** The caller (5.1): a bearer token in either header. If both are sent, one valid token is enough. */
export function callerOf(stories: readonly Story[], headers: Headers, names: HeaderNames): Caller {
  const sent = [headers['authorization'], headers[names.authorization]].flat();
  const has = (token: string) => sent.some((text) => text !== undefined && bearerOf(text) === token);
  const rest = { isAdmin: false, workspace: undefined, mayChange: false, scope: undefined };
  for (const story of stories) {
    if (has(story.tokens.admin)) {
      return { ...rest, story, isAdmin: true, mayChange: true, workspace: namedWorkspace(headers, names) };
    }
    if (has(story.tokens.member)) return { ...rest, story, workspace: workspaceOfMember };
    if (has(story.scopedTokens[functionsScope])) {
      return { ...rest, story, workspace: workspaceOfMember, scope: functionsScope };
    }
    for (const [workspace, token] of story.workspaceTokens) {
      if (has(token)) return { ...rest, story, workspace, mayChange: true };
    }
  }
  throw new Refusal(401, 'unauthorized', 'Invalid or missing credentials');
}

/** The token of `Bearer <token>`; the scheme's case does not matter (RFC 9110 11.1). */
function bearerOf(text: string): string | undefined {
  return /^bearer +(\S+)$/i.exec(text)?.[1];
}

function namedWorkspace(headers: Headers, { workspace }: HeaderNames): string | undefined {
  return workspace === undefined ? undefined : ([headers[workspace]].flat()[0] ?? undefined);
}

/** Refuses with 403 a caller that does not see a workspace. */
export function demandWorkspace(caller: Caller, workspace: string): void {
  if (caller.workspace !== undefined && caller.workspace !== workspace) {
    throw denied(`This token has no access to workspace ${workspace}`);
  }
}
