// The integration providers and templates of the platform (2.11, 2.12). Data only, the same for every account.

const catalog = 'https://catalog.harborlabs.example';

function provider(name: string, endpoint: string, header: string, features: readonly string[], params: object): object {
  return {
    name,
    additionalInfos: { documentation: `${catalog}/integrations/${name}`, features },
    endpoints: { default: { url: endpoint, authentication: ['api-key'] } },
    headers: { [header]: '{{API_KEY}}' },
    params,
    organizations: [
      {
        id: `org-${name}`,
        name: 'harbor-labs',
        displayName: 'Harbor Labs',
        avatar_url: `${catalog}/avatars/harbor-labs.png`,
      },
    ],
    repositories: [],
  };
}

const github = provider('github', 'https://api.github.example', 'Authorization', ['repositories', 'pull-requests'], {});

/** Integration providers by name. */
export const integrations: Readonly<Record<string, object>> = {
  openai: provider(
    'openai',
    'https://api.openai.example/v1',
    'Authorization',
    ['gpt-4o', 'gpt-4o-mini', 'text-embedding-3-large'],
    { organization: 'harbor-labs' },
  ),
  anthropic: provider('anthropic', 'https://api.anthropic.example', 'x-api-key', ['claude-sonnet'], {
    version: '2023-06-01',
  }),
  azure: provider('azure', 'https://harbor-labs.azure.example', 'api-key', ['gpt-4o'], { apiVersion: '2025-01-01' }),
  stripe: provider('stripe', 'https://api.stripe.example', 'Authorization', ['payments', 'refunds'], {}),
  crm: provider('crm', 'https://crm.harborlabs.example', 'Authorization', ['contacts', 'deals'], {}),
  helpdesk: provider('helpdesk', 'https://desk.harborlabs.example', 'Authorization', ['tickets'], {}),
  warehouse: provider('warehouse', 'https://sql.harborlabs.example', 'Authorization', ['queries'], {
    dialect: 'standard',
  }),
  github: {
    ...github,
    repositories: [
      {
        id: 'repo-1',
        name: 'checkout-assistant',
        organization: 'harbor-labs',
        url: 'https://github.example/harbor-labs/checkout-assistant',
        isBl: false,
      },
      {
        id: 'repo-2',
        name: 'code-reviewer',
        organization: 'harbor-labs',
        url: 'https://github.example/harbor-labs/code-reviewer',
        isBl: false,
      },
    ],
  },
};

/** A template and the files in it. */
export interface CatalogTemplate {
  readonly template: object;
  readonly contents: readonly string[];
}

interface Variable {
  readonly name: string;
  readonly description: string;
  readonly integration: string;
  readonly path: string;
  readonly secret: boolean;
}

function templateOf(
  name: string,
  description: string,
  topics: readonly string[],
  counts: readonly [downloads: number, forks: number, stars: number],
  variables: readonly Variable[],
  contents: readonly string[],
): CatalogTemplate {
  const [downloadCount, forksCount, starCount] = counts;
  const url = `https://github.example/templates/${name}`;
  const icon = `${catalog}/icons/${name}`;
  const more = {
    url,
    defaultBranch: 'main',
    sha: '4f1c2d9a7be03856',
    icon: `${icon}.svg`,
    iconDark: `${icon}-dark.svg`,
  };
  return {
    template: { name, description, ...more, downloadCount, forksCount, starCount, topics, variables },
    contents,
  };
}

function variable(name: string, description: string, integration: string, secret: boolean): Variable {
  return { name, description, integration, path: '.env', secret };
}

/** Templates by name. */
export const templates: Readonly<Record<string, CatalogTemplate>> = {
  'agent-python': templateOf(
    'agent-python',
    'An agent in Python that answers with a model and remembers its threads.',
    ['agent', 'python'],
    [5_210, 61, 340],
    [
      variable('OPENAI_API_KEY', 'The key of the model provider.', 'openai', true),
      variable('AGENT_NAME', 'How the agent introduces itself.', '', false),
    ],
    ['.env.example', 'README.md', 'pyproject.toml', 'src/agent.py', 'src/main.py'],
  ),
  'mcp-starter': templateOf(
    'mcp-starter',
    'An MCP server with two tools over streamable HTTP.',
    ['mcp', 'typescript'],
    [3_874, 44, 251],
    [variable('CRM_TOKEN', 'The token of the customer system.', 'crm', true)],
    ['.env.example', 'README.md', 'package.json', 'src/server.ts', 'src/tools.ts', 'tsconfig.json'],
  ),
  'batch-embeddings': templateOf(
    'batch-embeddings',
    'A batch job that embeds documents, one task for each file.',
    ['job', 'python', 'embeddings'],
    [1_022, 12, 87],
    [variable('OPENAI_API_KEY', 'The key of the model provider.', 'openai', true)],
    ['.env.example', 'README.md', 'job.py', 'pyproject.toml'],
  ),
  'sandbox-notebook': templateOf(
    'sandbox-notebook',
    'A sandbox with a notebook server, without variables.',
    ['sandbox', 'notebook'],
    [640, 9, 45],
    [],
    ['Dockerfile', 'README.md', 'notebooks/first.ipynb'],
  ),
};
