import type { ShapeName } from './activity-shapes.ts';

// The resources of the sample account. Data only; sample-costs.ts turns it into series. The order matters: the first dozen shows every
// resource type and every special case, so that a small --resources is still useful.

/** The account of the story. */
export const accountOfStory = { id: 'acc-harbor-labs', displayName: 'Harbor Labs' } as const;

/** The price of one unit of a billing dimension in USD, and the precision of its usage. */
export interface Tariff {
  readonly usdPerUnit: number;
  /** Applies from nine months into the history; absent if the price never changes. */
  readonly usdPerUnitLater?: number;
  /** Free units per hour and resource. */
  readonly freePerHour?: number;
  /** The smallest amount of usage, in thousandths of a unit; 1000 means whole units. Default 1. */
  readonly quantum?: number;
}

/** Months after the first one at which `usdPerUnitLater` starts: 2026-07-01 in the default history. */
export const priceChangeMonths = 9;

const gbMonthSeconds = 730 * 3600;

export const tariffs = {
  sandbox_compute_runtime_gbs: { usdPerUnit: 0.0000115, usdPerUnitLater: 0.0000138 },
  sandbox_image_storage_gbs: { usdPerUnit: 0.1 / gbMonthSeconds },
  sandbox_snapshot_storage_gbs: { usdPerUnit: 0.05 / gbMonthSeconds },
  agent_compute_runtime_gbs: { usdPerUnit: 0.0000115 },
  agent_image_storage_gbs: { usdPerUnit: 0.1 / gbMonthSeconds },
  agent_async_requests_count: { usdPerUnit: 0.00002, freePerHour: 400, quantum: 1000 },
  job_compute_runtime_gbs: { usdPerUnit: 0.0000098 },
  job_image_storage_gbs: { usdPerUnit: 0.1 / gbMonthSeconds },
  mcp_server_compute_runtime_gbs: { usdPerUnit: 0.0000115 },
  mcp_server_image_storage_gbs: { usdPerUnit: 0.1 / gbMonthSeconds },
  volume_storage_gbs: { usdPerUnit: 0.25 / gbMonthSeconds },
  custom_domain_active_time_hours: { usdPerUnit: 10 / 730, quantum: 1000 },
} as const satisfies Record<string, Tariff>;

export type TariffName = keyof typeof tariffs;

/** How a resource uses one billing dimension. */
export interface Habit {
  readonly dimension: TariffName;
  readonly shape: ShapeName;
  /** Units in a typical busy hour of its first month. */
  readonly perHour: number;
  /** Monthly growth as a share, for the first eighteen months of the history. */
  readonly growth: number;
  /** Half the width of the hourly noise, as a share. */
  readonly noise: number;
}

/** One resource of the story. */
export interface Part {
  readonly workspace: string | undefined;
  readonly type: 'sandbox' | 'agent' | 'job' | 'mcp_server' | 'volume' | 'custom_domain';
  readonly name: string;
  /** Days after the start of the history. */
  readonly fromDay: number;
  /** Days of its life; absent if it never ends. */
  readonly days?: number;
  /** For how many days its stored data is kept and billed after its end. */
  readonly storedDays?: number;
  /** Returns after the story's first 400 days, so that short-lived sandboxes never run out. */
  readonly recurs?: true;
  /** The agent with the runaway cost in the last week of the story. */
  readonly runsAway?: true;
  readonly habits: readonly Habit[];
}

interface Place {
  readonly workspace: string | undefined;
  readonly fromDay?: number;
  readonly days?: number;
  readonly growth?: number;
}

function storage(dimension: TariffName, gigabytes: number, growth = 0): Habit {
  return { dimension, shape: 'steady', perHour: gigabytes * 3600, growth, noise: 0 };
}

/** `gigabytes` is memory in a busy hour: number of instances times their size. */
function compute(dimension: TariffName, gigabytes: number, shape: ShapeName, growth: number): Habit {
  return { dimension, shape, perHour: gigabytes * 3600, growth, noise: shape === 'steady' ? 0.04 : 0.25 };
}

function agent(name: string, place: Place, gigabytes: number, shape: ShapeName, requestsPerHour = 0): Part {
  const growth = place.growth ?? 0.06;
  const requests: Habit = {
    dimension: 'agent_async_requests_count',
    shape,
    perHour: requestsPerHour,
    growth,
    noise: 0.4,
  };
  return {
    workspace: place.workspace,
    type: 'agent',
    name,
    fromDay: place.fromDay ?? 0,
    habits: [
      compute('agent_compute_runtime_gbs', gigabytes, shape, growth),
      storage('agent_image_storage_gbs', 3, 0.01),
      // Without requests of its own it still has those that clients send.
      requests,
    ],
  };
}

function server(name: string, place: Place, gigabytes: number, shape: ShapeName): Part {
  return {
    workspace: place.workspace,
    type: 'mcp_server',
    name,
    fromDay: place.fromDay ?? 0,
    habits: [
      compute('mcp_server_compute_runtime_gbs', gigabytes, shape, place.growth ?? 0.04),
      storage('mcp_server_image_storage_gbs', 1.2),
    ],
  };
}

function job(name: string, place: Place, gigabytes: number, shape: ShapeName): Part {
  return {
    workspace: place.workspace,
    type: 'job',
    name,
    fromDay: place.fromDay ?? 0,
    habits: [
      compute('job_compute_runtime_gbs', gigabytes, shape, place.growth ?? 0.05),
      storage('job_image_storage_gbs', 4),
    ],
  };
}

function sandbox(name: string, place: Place, gigabytes: number, shape: ShapeName, snapshotGigabytes = 0): Part {
  return {
    workspace: place.workspace,
    type: 'sandbox',
    name,
    fromDay: place.fromDay ?? 0,
    ...(place.days === undefined ? {} : { days: place.days }),
    habits: [
      compute('sandbox_compute_runtime_gbs', gigabytes, shape, place.growth ?? 0.03),
      storage('sandbox_image_storage_gbs', 6),
      ...(snapshotGigabytes > 0 ? [storage('sandbox_snapshot_storage_gbs', snapshotGigabytes, 0.05)] : []),
    ],
  };
}

/** A sandbox that lives for days or weeks: a pull request, a trial, an experiment. */
function passing(
  name: string,
  workspace: string,
  fromDay: number,
  days: number,
  gigabytes: number,
  shape: ShapeName,
): Part {
  return { ...sandbox(name, { workspace, fromDay, days, growth: 0 }, gigabytes, shape), recurs: true };
}

function volume(name: string, place: Place, gigabytes: number): Part {
  return {
    workspace: place.workspace,
    type: 'volume',
    name,
    fromDay: place.fromDay ?? 0,
    habits: [storage('volume_storage_gbs', gigabytes, place.growth ?? 0.05)],
  };
}

function domain(name: string, place: Place): Part {
  return {
    workspace: place.workspace,
    type: 'custom_domain',
    name,
    fromDay: place.fromDay ?? 0,
    habits: [{ dimension: 'custom_domain_active_time_hours', shape: 'steady', perHour: 1, growth: 0, noise: 0 }],
  };
}

const production = 'production';
const staging = 'staging';
const research = 'research';
const demos = 'customer-demos';

/** The workspaces of the account. */
export const workspaces: readonly string[] = [production, staging, research, demos];

/** The sixty resources of the story. */
export const cast: readonly Part[] = [
  agent('checkout-assistant', { workspace: production, growth: 0.09 }, 14, 'customers', 900),
  sandbox('code-runner', { workspace: production, growth: 0.07 }, 12, 'customers', 40),
  { ...agent('demo-analyst', { workspace: demos, fromDay: 34, growth: 0.02 }, 5, 'demos', 60), runsAway: true },
  volume('model-cache', { workspace: production }, 260),
  // The same name in another workspace, and neither has a UUID: grouped without the workspace they are one entry.
  volume('model-cache', { workspace: research, fromDay: 20 }, 190),
  job('nightly-embeddings', { workspace: production, growth: 0.08 }, 48, 'nightly'),
  server('crm-tools', { workspace: production }, 3, 'customers'),
  // Belongs to the account: no workspace has it.
  domain('api.harborlabs.example', { workspace: undefined }),
  sandbox('training-lab', { workspace: research, fromDay: 12 }, 24, 'office', 120),
  // The sandbox ended in December; its volume is still billed.
  sandbox('legacy-embeddings-lab', { workspace: research, days: 74, growth: 0 }, 16, 'office', 30),
  volume('legacy-embeddings', { workspace: research, growth: 0 }, 480),
  agent('support-triage', { workspace: production, growth: 0.08 }, 9, 'customers', 1_400),
  passing('pr-1107-preview', staging, 9, 6, 6, 'office'),
  agent('checkout-assistant', { workspace: staging, growth: 0.01 }, 4, 'office', 40),
  job('model-evals', { workspace: research, fromDay: 41 }, 64, 'mondays'),
  passing('trial-aster-foods', demos, 26, 16, 8, 'demos'),
  server('github-tools', { workspace: production }, 2, 'office'),
  passing('pr-1163-preview', staging, 38, 11, 6, 'office'),
  sandbox('dev-ana', { workspace: staging }, 8, 'office', 20),
  agent('invoice-reader', { workspace: production, fromDay: 58 }, 6, 'office', 520),
  volume('training-data', { workspace: research, growth: 0.09 }, 320),
  { ...passing('prompt-cache-experiment', research, 52, 23, 16, 'steady'), storedDays: 30 },
  agent('paper-scout', { workspace: research, fromDay: 15 }, 7, 'office'),
  passing('pr-1240-preview', staging, 77, 9, 6, 'office'),
  job('invoice-export', { workspace: production }, 10, 'sixHourly'),
  domain('demo.harborlabs.example', { workspace: demos, fromDay: 30 }),
  passing('trial-birch-bank', demos, 88, 21, 10, 'demos'),
  agent('search-concierge', { workspace: production, fromDay: 118, growth: 0.07 }, 11, 'customers', 650),
  passing('pr-1318-preview', staging, 111, 5, 6, 'office'),
  server('warehouse-sql', { workspace: production, fromDay: 64 }, 4, 'office'),
  volume('customer-uploads', { workspace: production, growth: 0.11 }, 140),
  { ...passing('long-context-experiment', research, 134, 30, 24, 'office'), storedDays: 30 },
  agent('support-triage', { workspace: staging, growth: 0.01 }, 3, 'office', 30),
  sandbox('dev-bo', { workspace: staging, fromDay: 70 }, 8, 'office', 20),
  passing('pr-1392-preview', staging, 150, 13, 6, 'office'),
  job('dataset-refresh', { workspace: research, fromDay: 27 }, 36, 'nightly'),
  passing('trial-cedar-clinic', demos, 163, 14, 8, 'demos'),
  agent('fraud-watch', { workspace: production, fromDay: 176, growth: 0.06 }, 9, 'steady', 300),
  server('calendar-tools', { workspace: production, fromDay: 31 }, 1.5, 'office'),
  passing('pr-1455-preview', staging, 190, 8, 6, 'office'),
  sandbox('preview-main', { workspace: staging, growth: 0 }, 4, 'steady', 10),
  passing('trial-aster-foods', demos, 206, 19, 8, 'demos'),
  agent('eval-runner', { workspace: research, fromDay: 142 }, 12, 'nightly'),
  passing('tool-use-experiment', research, 219, 26, 20, 'office'),
  server('crm-tools', { workspace: staging, growth: 0 }, 1, 'office'),
  passing('pr-1521-preview', staging, 233, 17, 6, 'office'),
  job('log-compaction', { workspace: production }, 12, 'nightly'),
  volume('staging-database', { workspace: staging }, 60),
  agent('demo-concierge', { workspace: demos, growth: 0.03 }, 6, 'demos', 90),
  passing('pr-1588-preview', staging, 262, 7, 6, 'office'),
  domain('agents.harborlabs.example', { workspace: production, fromDay: 95 }),
  passing('trial-dune-travel', demos, 274, 24, 10, 'demos'),
  server('browser-tools', { workspace: research, fromDay: 160, growth: 0.08 }, 5, 'office'),
  sandbox('notebook-kim', { workspace: research, fromDay: 104 }, 16, 'office', 60),
  passing('pr-1640-preview', staging, 301, 10, 6, 'office'),
  agent('code-reviewer', { workspace: production, fromDay: 226, growth: 0.05 }, 8, 'office', 260),
  { ...passing('agent-memory-experiment', research, 322, 34, 24, 'steady'), storedDays: 45 },
  job('demo-data-reset', { workspace: demos }, 4, 'mondays'),
  passing('pr-1702-preview', staging, 349, 15, 6, 'office'),
  passing('trial-elm-robotics', demos, 371, 28, 10, 'demos'),
];
