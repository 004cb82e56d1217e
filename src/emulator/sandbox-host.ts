import { formatInstant, type Instant } from '../time/time.ts';
import { type Call, pathValue } from './call.ts';
import { demandWorkspace } from './callers.ts';
import { regionOf } from './listed-items.ts';
import { type McpServers, type Tool, ToolError } from './mcp.ts';
import { denied, invalid, notFound, Refusal } from './refusal.ts';
import { json, type Reply } from './reply.ts';
import { restoreMs, stateOf, statusAt } from './resource-states.ts';
import type { SandboxAddress } from './routes.ts';
import type { Resource } from './sample-listings.ts';
import { snapshotsOf } from './snapshots.ts';
import type { Present, World } from './world.ts';

/** Answers the sandboxes' own hosts (4.8). */
export interface SandboxHosts {
  answer(call: Call, address: SandboxAddress): Reply;
  reset(): void;
}

const firstVersion = 'v0.2.14';
/** An upgrade answers at once and is done after this time. */
const upgradeMs = 5_000;
const maxFileLength = 1_000_000;

/** Hosts of sandboxes that nobody has upgraded. */
export function openSandboxHosts(servers: McpServers): SandboxHosts {
  const upgrades = new Map<Resource, { readonly version: string; readonly at: Instant }[]>();

  function versionAt(resource: Resource, at: Instant): string {
    return upgrades.get(resource)?.findLast((each) => each.at + upgradeMs <= at)?.version ?? firstVersion;
  }

  function upgrade({ body, now, operation }: Call, resource: Resource): Reply {
    const { version = 'latest', baseUrl } = (body ?? {}) as { version?: string; baseUrl?: string };
    if (!/^(latest|develop|main|v\d+\.\d+\.\d+)$/.test(version)) {
      throw invalid('invalid_body', `version: found ${JSON.stringify(version)}, expected ${operation.body?.rule}`);
    }
    if (baseUrl !== undefined && !/^https?:\/\//.test(baseUrl)) {
      throw invalid('invalid_body', `baseUrl: found ${JSON.stringify(baseUrl)}, expected an http or https URL`);
    }
    const after = version === 'latest' ? 'v0.2.15' : version;
    upgrades.set(resource, [...(upgrades.get(resource) ?? []), { version: after, at: now }]);
    return json({ message: `Upgrade to ${version} started`, path: '/usr/local/bin/sandbox-api' });
  }

  return {
    reset: () => upgrades.clear(),
    answer(call, address) {
      const present = sandboxOf(call, address);
      const { resource } = present;
      call.account.world.use(resource, call.now);
      switch (call.operation.name) {
        case 'sandbox-mcp': {
          const { workspace, name } = resource;
          const version = versionAt(resource, call.now).slice(1);
          const tools = toolsOf(call, resource);
          return servers.answer({ id: `sandbox ${workspace}/${name}`, name, version, tools }, call);
        }
        case 'sandbox-tree':
          return json(treeOf(call, resource, pathValue(call, 'path')));
        case 'upgrade-sandbox-api':
          return upgrade(call, resource);
        default:
          return json(overview(call, present, versionAt(resource, call.now)));
      }
    },
  };
}

/** What the base of the REST API shows; the document leaves it open. */
function overview({ account, now }: Call, { resource, look }: Present, version: string): object {
  const status = statusAt(resource, look, now, account.world.restoredAt(resource));
  return {
    name: resource.name,
    workspace: resource.workspace,
    version,
    status,
    state: stateOf(status),
    snapshots: snapshotsOf(resource, now).map(({ name, id, takenAt }) => ({
      name,
      id,
      takenAt: formatInstant(takenAt),
    })),
  };
}

/** The running sandbox at an address. Refuses with 401, 403, 404, and with 503 one that does not run now. */
function sandboxOf({ account, caller, now }: Call, address: SandboxAddress): Present {
  if (caller === undefined) throw new Refusal(401, 'unauthorized', 'Invalid or missing credentials');
  if (caller.scope !== undefined) throw denied(`This token has the scope ${caller.scope} only`);
  const [found] =
    'label' in address ? byLabel(account.world, address.label, now) : byParts(account.world, address, now);
  if ('workspace' in address) demandWorkspace(caller, address.workspace);
  if (found === undefined) {
    throw notFound(
      `There is no sandbox at ${'label' in address ? address.label : `${address.name} in ${address.region}`}`,
    );
  }
  const { resource, look } = found;
  demandWorkspace(caller, resource.workspace);
  const restoredAt = account.world.restoredAt(resource);
  const state = stateOf(statusAt(resource, look, now, restoredAt));
  if (state === undefined) throw notFound(`Sandbox ${resource.name} is terminated`);
  if (state === 'RUNNING') return found;
  const ready = restoredAt === undefined ? 60 : Math.max(1, Math.ceil((restoredAt + restoreMs - now) / 1000));
  throw new Refusal(503, 'not_running', `Sandbox ${resource.name} is ${state}`, { 'retry-after': String(ready) });
}

function byParts(
  world: World,
  { name, workspace, region }: { name: string; workspace: string; region: string },
  at: Instant,
): Present[] {
  return newestFirst(world.find('sandbox', name, workspace, at).filter(({ look }) => regionOf(look) === region));
}

/** Names and workspaces may both contain hyphens, so every way to split the label is tried. */
function byLabel(world: World, label: string, at: Instant): Present[] {
  const [first = '', region = ''] = label.slice('sbx-'.length).split(/\.(.*)/);
  const words = first.split('-');
  return words.flatMap((_, cut) =>
    cut === 0
      ? []
      : byParts(world, { name: words.slice(0, cut).join('-'), workspace: words.slice(cut).join('-'), region }, at),
  );
}

/** A terminated sandbox may still be listed next to a newer one of the same name. */
function newestFirst(found: readonly Present[]): Present[] {
  return found.toSorted((a, b) => b.resource.createdAt - a.resource.createdAt);
}

interface Tree {
  readonly path: string;
  readonly name: string;
  readonly files: readonly { readonly path: string; readonly name: string; readonly size: number }[];
  readonly subdirectories: readonly Tree[];
}

/** The tree of a directory. Refuses with 404 one that is not there. */
function treeOf({ account, now }: Call, resource: Resource, asked: string): Tree {
  const files = account.world.filesAt(resource, now);
  const path = `/${asked
    .split('/')
    .filter((step) => step !== '')
    .join('/')}`;
  const isThere = path === '/' || [...files.keys()].some((file) => file.startsWith(`${path}/`));
  if (!isThere) throw notFound(`There is no directory ${path}`);
  return directory(files, path);
}

function directory(files: ReadonlyMap<string, string>, path: string): Tree {
  const prefix = path === '/' ? '/' : `${path}/`;
  const below = [...files].filter(([file]) => file.startsWith(prefix)).sort(([a], [b]) => (a < b ? -1 : 1));
  const rest = below.map(([file, content]) => ({ file, content, steps: file.slice(prefix.length).split('/') }));
  const folders = [...new Set(rest.filter(({ steps }) => steps.length > 1).map(({ steps }) => steps[0] ?? ''))];
  return {
    path,
    name: path.split('/').at(-1) ?? '',
    files: rest
      .filter(({ steps }) => steps.length === 1)
      .map(({ file, content, steps }) => ({ path: file, name: steps[0] ?? '', size: Buffer.byteLength(content) })),
    subdirectories: folders.map((folder) => directory(files, `${prefix}${folder}`)),
  };
}

/** Tools on the files of a sandbox. */
function toolsOf({ account: { world }, now }: Call, resource: Resource): Tool[] {
  const path = { type: 'string', description: 'An absolute path, such as /app/main.py.' } as const;
  return [
    {
      name: 'list_files',
      description: 'The paths of all files below a directory.',
      inputSchema: { type: 'object', properties: { path }, required: ['path'] },
      run(given) {
        const below = absolute(given['path']).replace(/\/*$/, '/');
        const found = [...world.filesAt(resource, now).keys()].filter((file) => file.startsWith(below));
        return found.sort().join('\n');
      },
    },
    {
      name: 'read_file',
      description: 'The content of a file.',
      inputSchema: { type: 'object', properties: { path }, required: ['path'] },
      run(given) {
        const content = world.filesAt(resource, now).get(absolute(given['path']));
        if (content === undefined) throw new ToolError(`There is no file ${String(given['path'])}`);
        return content;
      },
    },
    {
      name: 'write_file',
      description: 'Writes a file, in place of what was there.',
      inputSchema: {
        type: 'object',
        properties: { path, content: { type: 'string', description: 'The whole content.' } },
        required: ['path', 'content'],
      },
      run(given) {
        const content = String(given['content']);
        if (content.length > maxFileLength) throw new ToolError(`A file has at most ${maxFileLength} characters`);
        world.write(resource, now, absolute(given['path']), content);
        return `Wrote ${Buffer.byteLength(content)} bytes`;
      },
    },
  ];
}

function absolute(path: unknown): string {
  const text = String(path);
  if (text.startsWith('/') && !text.split('/').includes('..')) return text;
  throw new ToolError(`${text} is not an absolute path`);
}
