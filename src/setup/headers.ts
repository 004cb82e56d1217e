import { UsageError } from '../base/errors.ts';
import { type AccountSeen, type HealthContext, type Tried, tryWorkspace, workspacesOf } from '../health/index.ts';

/** The headers whose names contain their maker's, as keys of costbook.yaml. */
export type MakersHeaders = Readonly<
  Record<'authorizationHeader' | 'versionHeader' | 'workspaceHeader' | 'threadHeader', string>
>;

/** What a platform did with a header. */
export interface HeaderTrial {
  readonly header: string;
  readonly outcome: 'taken' | 'refused' | 'ignored' | 'unknown' | 'untried';
}

/** The names of all headers of a maker. Throws UsageError for a name that no header can have. */
export function headersOfMaker(prefix: string): MakersHeaders {
  if (!/^[A-Za-z][A-Za-z0-9-]{0,40}$/.test(prefix)) {
    throw new UsageError(
      `--header-prefix: found ${JSON.stringify(prefix.slice(0, 60))}, expected the maker's name as headers have it, such as Acme`,
    );
  }
  return {
    authorizationHeader: `X-${prefix}-Authorization`,
    versionHeader: `${prefix}-Version`,
    workspaceHeader: `X-${prefix}-Workspace`,
    threadHeader: `X-${prefix}-Thread-Id`,
  };
}

/** A name that no workspace has: a platform that takes the header refuses it. */
const nobodysWorkspace = 'costbook-tries-this-header';

/** Tries the headers with a client that sends them, and whose token was taken. Throws failures that are no refusal. */
export async function tryHeaders(
  { account, client, signal }: AccountSeen,
  names: MakersHeaders,
  { effects }: Pick<HealthContext, 'effects'>,
): Promise<readonly HeaderTrial[]> {
  const about = { account, client, signal, effects };
  const [first] = await workspacesOf(client, `account ${account}`, signal);
  const listed = await tryWorkspace(about, first);
  const version = listed.answer === 'refused' ? 'unknown' : listed.isVersionIgnored ? 'ignored' : 'taken';
  const isTried = first !== undefined && listed.answer === 'listed';
  const byHeaderAlone = (workspace: string) => tryWorkspace(about, workspace, { byHeaderAlone: true });
  const workspace = isTried
    ? workspaceOutcome(await byHeaderAlone(first), await byHeaderAlone(nobodysWorkspace))
    : 'unknown';
  return [
    { header: names.authorizationHeader, outcome: 'taken' },
    { header: names.versionHeader, outcome: version },
    { header: names.workspaceHeader, outcome: workspace },
    { header: names.threadHeader, outcome: 'untried' },
  ];
}

/** What a platform did with the header of a workspace, by what it answers for one that is there and for one that is not. */
function workspaceOutcome(own: Tried, nobodys: Tried): HeaderTrial['outcome'] {
  // It listed this workspace when the query named it, too.
  if (own.answer === 'refused') return 'ignored';
  if (nobodys.answer === 'refused') return 'taken';
  if (own.isEmpty) return 'unknown';
  return nobodys.isEmpty ? 'taken' : 'ignored';
}

const outcomeWords = {
  taken: 'the platform takes it',
  refused: 'the platform refuses the token in it, and takes it in Authorization',
  ignored: 'the platform ignores it: correct its name in costbook.yaml',
  unknown: 'no answer shows whether the platform takes it',
  untried: 'not tried, because only agents read it',
} as const;

/** The trial of headers for a person, a line each. */
export function headerWords(trials: readonly HeaderTrial[]): readonly string[] {
  return trials.map(({ header, outcome }) => `${header}: ${outcomeWords[outcome]}.`);
}
