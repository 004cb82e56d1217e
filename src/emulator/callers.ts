import type { Instant } from '../time/time.ts';
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
  /** Names a workspace, for tokens that reach several. */
  readonly workspace: string;
}

/** The names in the document. */
export const documentedHeaders: HeaderNames = {
  authorization: 'x-service-authorization',
  version: 'service-version',
  thread: 'x-service-thread-id',
  workspace: 'x-service-workspace',
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

/** What a listing answers if the token reaches several workspaces and the request names none: it is not shown. */
export type WorkspaceRule = 'all' | 'default' | 'demand';

/** The only workspace of a member's token; with the rule `default`, also what a request without a workspace is about. */
export const workspaceOfMember = 'production';

/** The scope of the token that can only list functions (5.4). */
export const functionsScope = 'functions:list';

/** The caller (5.1): a bearer token in either header. If both are sent, one valid token is enough. */
export function callerOf(
  stories: readonly Story[],
  headers: Headers,
  { names, now }: { readonly names: HeaderNames; readonly now: Instant },
): Caller {
  const sent = [headers['authorization'], headers[names.authorization]].flat();
  const tokens = sent.map((text) => (text === undefined ? undefined : lastingToken(bearerOf(text), now)));
  const has = (token: string) => tokens.includes(token);
  const rest = { isAdmin: false, workspace: undefined, mayChange: false, scope: undefined };
  for (const story of stories) {
    if (has(story.tokens.admin)) {
      return { ...rest, story, isAdmin: true, mayChange: true };
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

/** A token that stands for that of a workspace until an instant. */
export function issuedToken(workspaceToken: string, until: Instant): string {
  return `${workspaceToken}.until-${until}`;
}

/** The token that an issued one stands for, undefined once it has expired; any other token as it is. */
function lastingToken(token: string | undefined, now: Instant): string | undefined {
  const [, lasting, until] = /^(.+)\.until-(\d+)$/.exec(token ?? '') ?? [];
  if (lasting === undefined) return token;
  return now < Number(until) ? lasting : undefined;
}

/** The token of `Bearer <token>`; the scheme's case does not matter (RFC 9110 11.1). */
function bearerOf(text: string): string | undefined {
  return /^bearer +(\S+)$/i.exec(text)?.[1];
}

/**
 * The workspace that a request is about: the one that it names in its query or header, or that of its token; undefined for
 * all. Refuses with 403 a workspace that the token does not reach, and by `rule` a request that names none.
 */
export function workspaceOf(
  caller: Caller | undefined,
  inQuery: unknown,
  headers: Headers,
  { names, rule }: { readonly names: HeaderNames; readonly rule: WorkspaceRule },
): string | undefined {
  // The public client sends the header with every request, empty if it knows no workspace.
  const named = (typeof inQuery === 'string' ? inQuery : [headers[names.workspace]].flat()[0]) || undefined;
  if (caller === undefined) return undefined;
  if (named === undefined) {
    if (caller.workspace !== undefined || rule === 'all') return caller.workspace;
    if (rule === 'default') return workspaceOfMember;
    throw denied(`Name a workspace: in the header ${names.workspace}, or in the parameter workspace`);
  }
  demandWorkspace(caller, named);
  if (!caller.story.workspaceTokens.has(named)) throw denied(`This token has no access to workspace ${named}`);
  return named;
}

/** Refuses with 403 a caller that does not see a workspace. */
export function demandWorkspace(caller: Caller, workspace: string): void {
  if (caller.workspace !== undefined && caller.workspace !== workspace) {
    throw denied(`This token has no access to workspace ${workspace}`);
  }
}
