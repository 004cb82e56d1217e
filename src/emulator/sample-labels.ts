// What the listings say about the resources: owner, name, region, and changes over time. Data only; sample-listings.ts turns it
// into resources. It looks like real metadata: with gaps, typing errors, and many scripts.

/** Metadata that people gave a resource, and may change. */
export interface Traits {
  readonly displayName?: string;
  readonly externalId?: string;
  /** Absent if nobody gave any. */
  readonly labels?: Readonly<Record<string, string>>;
  /** Absent if policies decide. */
  readonly region?: string;
  readonly memoryMb?: number;
  readonly generation?: 'mk2' | 'mk3';
  readonly isEnabled?: boolean;
  readonly createdBy?: string;
  readonly integrationConnections?: readonly string[];
  readonly mounts?: readonly Mount[];
  /** Instances that are always warm. */
  readonly minScale?: number;
  /** Reachable without a token; functions only. */
  readonly isPublic?: boolean;
  /** Share of requests that a canary revision gets. */
  readonly canaryPercent?: number;
  /** When a job starts by itself: a cron expression. */
  readonly schedule?: string;
  /** Where an HTTP trigger listens. */
  readonly httpPath?: string;
  readonly policies?: readonly string[];
  /** Is archived every Saturday; sandboxes only. */
  readonly isArchived?: boolean;
  /** Expires when nobody has used it for this long; sandboxes only. */
  readonly idleTtl?: string;
  /** The day of the history on which it was last used; otherwise it is used all the time. Sandboxes only. */
  readonly lastUsedDay?: number;
  /** This deployment fails once, and a second attempt succeeds. */
  readonly failsOnce?: boolean;
}

/** A volume in a resource; persistent ones have costs of their own. */
export interface Mount {
  readonly name: string;
  readonly mountPath: string;
  readonly sizeMb: number;
  readonly readOnly?: true;
  readonly type: 'persistent' | 'ephemeral';
}

/** A change at an instant; a label that is undefined is removed. */
export interface Edit {
  /** Days after the start of the history. */
  readonly day: number;
  readonly by: string;
  readonly change: Omit<Traits, 'labels'> & { readonly labels?: Readonly<Record<string, string | undefined>> };
}

/** A listed resource that has no costs of its own. */
export interface Unbilled {
  readonly kind: 'model' | 'policy';
  readonly workspace: string;
  readonly name: string;
  readonly fromDay: number;
  /** The part of its spec that differs within its kind. */
  readonly spec: Readonly<Record<string, unknown>>;
}

const ana = 'ana@harborlabs.example';
const bo = 'bo@harborlabs.example';
const kim = '김민지@harborlabs.example';
const deployer = 'svc-deploy';

/** Who is behind a `createdBy`: given and family name. */
export const people: Readonly<Record<string, readonly [string, string]>> = {
  [ana]: ['Ana', 'Ferreira'],
  [bo]: ['Bo', 'Lindqvist'],
  [kim]: ['민지', '김'],
};

/** Service accounts by their client ID. */
export const serviceAccounts: Readonly<Record<string, string>> = {
  [deployer]: 'Deployments',
  'svc-ci': 'Pull requests',
};

function persistent(name: string, mountPath: string, gigabytes: number): Mount {
  return { name, mountPath, sizeMb: gigabytes * 1024, type: 'persistent' };
}

const scratch: Mount = { name: 'scratch', mountPath: '/scratch', sizeMb: 20_480, type: 'ephemeral' };

/** By `workspace/name` of the cast. Volumes have labels if somebody gave them some, like anything else. */
export const traits: Readonly<Record<string, Traits>> = {
  'production/customer-uploads': { labels: { team: 'Platform', 'acme-auto-generated': 'true' }, region: 'us-pdx-1' },
  'customer-demos/demo.harborlabs.example': { labels: { team: 'Sales' } },
  'production/checkout-assistant': {
    displayName: 'Checkout Assistant',
    externalId: 'HL-CHK-001',
    labels: { team: 'Payments', product: 'checkout', env: 'production', 'cost-center': '4100' },
    region: 'us-pdx-1',
    memoryMb: 4096,
    generation: 'mk3',
    integrationConnections: ['stripe', 'crm'],
    mounts: [persistent('model-cache', '/models', 260)],
    httpPath: '/checkout-assistant',
  },
  'production/code-runner': {
    displayName: 'Code Runner',
    externalId: 'HL-RUN-001',
    labels: { team: 'Platform', product: 'assistants', env: 'production', 'cost-center': '4300' },
    region: 'us-pdx-1',
    memoryMb: 4096,
  },
  'customer-demos/demo-analyst': {
    displayName: 'デモ分析アシスタント',
    labels: { team: 'Sales', customer: 'アスター食品', env: 'demo' },
    region: 'ap-tyo-1',
    memoryMb: 2048,
    generation: 'mk3',
  },
  'production/nightly-embeddings': {
    displayName: 'Nightly embeddings · 夜间向量',
    externalId: 'HL-EMB-001',
    labels: { team: 'Search', product: 'search', env: 'production', 'cost-center': '4200' },
    region: 'eu-lon-1',
    memoryMb: 16_384,
    generation: 'mk2',
    createdBy: deployer,
    mounts: [scratch],
    schedule: '0 2 * * *',
  },
  'production/crm-tools': {
    displayName: 'CRM-Werkzeuge (geprüft)',
    labels: { team: 'Sales', product: 'assistants', env: 'prod' },
    region: 'eu-fra-1',
    memoryMb: 2048,
    generation: 'mk2',
    integrationConnections: ['crm'],
  },
  'research/training-lab': {
    displayName: 'Лаборатория обучения',
    labels: { team: 'Research', 'cost-center': '5000' },
    region: 'eu-fra-1',
    memoryMb: 8192,
    createdBy: kim,
    mounts: [persistent('training-data', '/data', 320), persistent('model-cache', '/models', 190)],
  },
  // Nobody who knew about it is still there.
  'research/legacy-embeddings-lab': {
    memoryMb: 8192,
    region: 'us-pdx-1',
    createdBy: 'jo@harborlabs.example',
    mounts: [persistent('legacy-embeddings', '/data', 480)],
  },
  'production/support-triage': {
    displayName: 'فرز طلبات الدعم',
    externalId: 'HL-SUP-001',
    labels: { team: 'Support', product: 'support', env: 'production', 'cost-center': '4400' },
    region: 'us-pdx-1',
    memoryMb: 4096,
    generation: 'mk3',
    integrationConnections: ['helpdesk'],
    mounts: [{ ...persistent('model-cache', '/models', 260), readOnly: true }, scratch],
  },
  'staging/checkout-assistant': {
    displayName: 'Checkout Assistant (staging)',
    labels: { team: 'paymnets', product: 'checkout', env: 'staging' },
    region: 'us-pdx-1',
    memoryMb: 2048,
    generation: 'mk3',
    createdBy: ana,
  },
  'research/model-evals': {
    displayName: 'Model evals ✅ / ❌',
    labels: { Team: 'Research', product: 'evals' },
    memoryMb: 16_384,
    generation: 'mk2',
    createdBy: kim,
    schedule: '0 4 * * 1',
  },
  'production/github-tools': {
    displayName: 'GitHub tools 🛠️',
    labels: { team: 'platform', env: 'production' },
    region: 'us-pdx-1',
    memoryMb: 1024,
    generation: 'mk2',
    integrationConnections: ['github'],
  },
  'staging/dev-ana': { displayName: "Ana's box", labels: { owner: 'ana' }, memoryMb: 4096, createdBy: ana },
  'production/invoice-reader': {
    displayName: 'Invoice Reader',
    externalId: 'HL-INV-001',
    labels: { team: 'payments', product: 'invoicing', env: 'production', 'cost-center': '4100' },
    region: 'eu-fra-1',
    memoryMb: 4096,
    generation: 'mk3',
    mounts: [persistent('customer-uploads', '/uploads', 140)],
  },
  'research/paper-scout': {
    displayName: '論文さがし',
    labels: { team: 'research ', product: 'papers' },
    memoryMb: 2048,
    generation: 'mk3',
    createdBy: kim,
    minScale: 1,
  },
  'production/invoice-export': {
    displayName: 'Invoice export',
    externalId: 'HL-INV-002',
    labels: { team: 'PAYMENTS', product: 'invoicing', note: 'moved from the old cluster\nask Bo before changing it' },
    region: 'eu-fra-1',
    memoryMb: 4096,
    generation: 'mk2',
    createdBy: bo,
    schedule: '0 1,7,13,19 * * *',
  },
  'production/search-concierge': {
    displayName: 'Search Concierge',
    externalId: 'HL-SRC-001',
    labels: { team: 'Search', product: 'search', env: 'production', 'cost-center': '4200' },
    region: 'eu-lon-1',
    memoryMb: 4096,
    generation: 'mk3',
    canaryPercent: 10,
  },
  'production/warehouse-sql': {
    displayName: 'Warehouse SQL',
    labels: { team: 'Data', product: 'analytics', env: 'production' },
    region: 'us-pdx-1',
    memoryMb: 2048,
    generation: 'mk2',
    integrationConnections: ['warehouse'],
  },
  'staging/support-triage': {
    displayName: 'Support triage (staging)',
    labels: { team: 'suport', env: 'staging' },
    memoryMb: 2048,
    generation: 'mk3',
  },
  'staging/dev-bo': {
    memoryMb: 4096,
    createdBy: bo,
    isArchived: true,
    idleTtl: '336h',
  },
  'research/dataset-refresh': {
    displayName: 'Dataset refresh',
    labels: { team: 'Research', product: 'datasets', 'cost-center': '5000' },
    memoryMb: 8192,
    generation: 'mk2',
    createdBy: deployer,
    mounts: [persistent('training-data', '/data', 320), scratch],
    schedule: '0 2 * * *',
  },
  'production/fraud-watch': {
    displayName: 'Fraud Watch',
    externalId: 'HL-FRD-001',
    labels: { team: 'Payments', product: 'fraud', env: 'production', ticket: '=OPS-1107', 'cost-center': '4100' },
    region: 'us-pdx-1',
    memoryMb: 4096,
    generation: 'mk3',
    integrationConnections: ['stripe'],
    minScale: 2,
  },
  'production/calendar-tools': {
    displayName: 'कैलेंडर उपकरण',
    labels: { env: 'production' },
    memoryMb: 1024,
    isPublic: true,
  },
  'staging/preview-main': {
    displayName: 'main',
    labels: { team: 'Platform', env: 'staging' },
    memoryMb: 4096,
    mounts: [persistent('staging-database', '/var/lib/postgresql', 60)],
    lastUsedDay: 341.3,
  },
  'research/eval-runner': {
    displayName: 'Eval runner',
    labels: { team: 'reserch', product: 'evals' },
    memoryMb: 4096,
    generation: 'mk3',
    createdBy: kim,
  },
  'staging/crm-tools': {
    displayName: 'CRM tools (staging)',
    labels: { team: 'Sales', env: 'staging' },
    memoryMb: 1024,
    minScale: 1,
  },
  'production/log-compaction': {
    memoryMb: 4096,
    generation: 'mk2',
    createdBy: deployer,
    schedule: '0 2 * * *',
  },
  'customer-demos/demo-concierge': {
    displayName: 'Demo Concierge — הדגמה',
    labels: { team: 'Sales', env: 'demo' },
    region: 'us-pdx-1',
    memoryMb: 2048,
    generation: 'mk3',
    minScale: 1,
  },
  'research/browser-tools': {
    displayName: 'Browser tools',
    labels: { team: 'Research', product: 'evals' },
    memoryMb: 2048,
    generation: 'mk3',
    minScale: 1,
  },
  'research/notebook-kim': {
    displayName: '김민지의 노트북',
    labels: { owner: '김민지' },
    memoryMb: 8192,
    createdBy: kim,
    isArchived: true,
  },
  'production/code-reviewer': {
    displayName: 'Code Reviewer',
    labels: { team: 'Platform', product: 'assistants', env: 'production', 'cost-center': '4300' },
    region: 'us-pdx-1',
    memoryMb: 4096,
    generation: 'mk3',
    integrationConnections: ['github'],
    httpPath: '/code-reviewer',
  },
  'customer-demos/demo-data-reset': {
    displayName: 'Demo data reset',
    labels: { team: 'sales' },
    memoryMb: 2048,
    schedule: '0 4 * * 1',
  },
  'production/gpt-gateway': {
    displayName: 'Chat gateway',
    labels: { team: 'Platform', product: 'assistants' },
    integrationConnections: ['openai'],
    policies: ['token-budget'],
  },
  'production/embedding-gateway': {
    displayName: 'Embedding gateway',
    labels: { team: 'Search' },
    integrationConnections: ['openai'],
  },
  'research/long-context-gateway': { displayName: '長文ゲートウェイ', integrationConnections: ['anthropic'] },
  'staging/gpt-gateway': { labels: { team: 'platfrom' }, integrationConnections: ['openai'] },
  'production/eu-only': { displayName: 'Only in Europe', labels: { team: 'Legal' } },
  'production/token-budget': { displayName: 'Tokens a minute', labels: { team: 'Platform' } },
  'research/small-machines': { displayName: 'Small machines' },
};

/** By `workspace/name`, oldest first: relabelled, renamed, resized, moved, switched off. */
export const edits: Readonly<Record<string, readonly Edit[]>> = {
  'production/invoice-reader': [
    { day: 201.4, by: bo, change: { displayName: 'Invoice Reader 2' } },
    { day: 384 + 12.25 / 24, by: ana, change: { labels: { team: 'Payments' } } },
  ],
  'production/warehouse-sql': [
    { day: 231.6, by: bo, change: { labels: { team: 'Analytics', 'cost-center': '4500' } } },
    { day: 318.5, by: deployer, change: { generation: 'mk3', failsOnce: true } },
  ],
  'production/support-triage': [{ day: 252.5, by: deployer, change: { memoryMb: 8192 } }],
  'production/github-tools': [{ day: 246.4, by: deployer, change: { generation: 'mk3' } }],
  'production/nightly-embeddings': [
    { day: 120.5, by: deployer, change: { memoryMb: 32_768 } },
    { day: 384 + 12.5 / 24, by: deployer, change: { region: 'eu-fra-1' } },
  ],
  'research/model-evals': [
    { day: 150.4, by: kim, change: { labels: { Team: undefined, team: 'Research' } } },
    { day: 300.5, by: kim, change: { memoryMb: 32_768 } },
  ],
  'staging/checkout-assistant': [
    { day: 384 + 12.75 / 24, by: ana, change: { displayName: 'Checkout Assistant (staging, v2)' } },
  ],
  'production/calendar-tools': [
    { day: 340.5, by: bo, change: { labels: { team: 'Sales' }, externalId: 'HL-CAL-001' } },
  ],
  'production/code-runner': [{ day: 95.5, by: deployer, change: { memoryMb: 8192 } }],
  'staging/dev-bo': [{ day: 260.4, by: bo, change: { labels: { team: 'Platform', owner: 'bo' } } }],
  'staging/gpt-gateway': [{ day: 310.5, by: ana, change: { isEnabled: false } }],
  'production/gpt-gateway': [{ day: 180.5, by: bo, change: { integrationConnections: ['openai', 'azure'] } }],
  'production/token-budget': [{ day: 330.5, by: bo, change: { displayName: 'Tokens an hour' } }],
};

/** Models and policies: they have no metrics, only listings. */
export const unbilled: readonly Unbilled[] = [
  { kind: 'model', workspace: 'production', name: 'gpt-gateway', fromDay: 0, spec: modelSpec('openai', 'gpt-4o') },
  {
    kind: 'model',
    workspace: 'production',
    name: 'embedding-gateway',
    fromDay: 0,
    spec: modelSpec('openai', 'text-embedding-3-large'),
  },
  {
    kind: 'model',
    workspace: 'research',
    name: 'long-context-gateway',
    fromDay: 62,
    spec: modelSpec('anthropic', 'claude-sonnet'),
  },
  { kind: 'model', workspace: 'staging', name: 'gpt-gateway', fromDay: 3, spec: modelSpec('openai', 'gpt-4o-mini') },
  {
    kind: 'policy',
    workspace: 'production',
    name: 'eu-only',
    fromDay: 0,
    spec: { type: 'location', resourceTypes: ['model', 'agent'], locations: [{ name: 'eu', type: 'continent' }] },
  },
  {
    kind: 'policy',
    workspace: 'production',
    name: 'token-budget',
    fromDay: 40,
    spec: {
      type: 'maxToken',
      resourceTypes: ['model'],
      maxTokens: {
        granularity: 'minute',
        input: 200_000,
        output: 50_000,
        total: 250_000,
        step: 1,
        ratioInputOverOutput: 4,
      },
    },
  },
  {
    kind: 'policy',
    workspace: 'research',
    name: 'small-machines',
    fromDay: 12,
    spec: { type: 'flavor', resourceTypes: ['function'], flavors: [{ name: 't4', type: 'gpu' }] },
  },
];

function modelSpec(type: string, model: string): Readonly<Record<string, unknown>> {
  return {
    flavors: [],
    sandbox: false,
    runtime: { type, model, endpointName: `${type}-${model}`, organization: 'harbor-labs' },
  };
}

/** Traits of short-lived resources, derived from the name; `chance` is 32 bits that decide what is missing. */
export function traitsOfPassing(name: string, chance: number): Traits {
  const pull = /^pr-(\d+)/.exec(name)?.[1];
  if (pull !== undefined) {
    const team = ['Platform', 'Payments', 'Search', 'platform', 'paymnets'][chance % 5] ?? 'Platform';
    const labels = { pr: pull, ephemeral: 'true' };
    return {
      displayName: `Preview of #${pull}`,
      externalId: `pr-${pull}`,
      memoryMb: 2048,
      createdBy: 'svc-ci',
      labels: (chance >>> 8) % 10 < 7 ? { team, ...labels } : labels,
    };
  }
  const customer = /^trial-([a-z]+-[a-z]+)/.exec(name)?.[1];
  if (customer !== undefined) {
    const labels = { customer, 'cost-center': '4400' };
    return {
      displayName: `Trial: ${customer.replace(/\b[a-z]/g, (letter) => letter.toUpperCase()).replace('-', ' ')}`,
      memoryMb: 4096,
      region: 'us-pdx-1',
      labels: (chance >>> 8) % 10 < 8 ? { team: 'Sales', ...labels } : labels,
    };
  }
  return {
    memoryMb: 8192,
    createdBy: kim,
    ...((chance >>> 8) % 10 < 6 ? { labels: { team: 'Research', experiment: name.replace(/-experiment.*/, '') } } : {}),
  };
}
