import { counted } from '../text/counted.ts';
import {
  type ChangedSetting,
  type Deployment,
  type DeploymentBefore,
  type DeploymentsBefore,
  isAfterStart,
} from './deployments.ts';

const shown = 3;

/**
 * The deployments before an anomaly and on its first day as sentences, the most relevant ones first. Nothing here says that
 * they are its cause. Pure.
 */
export function deploymentSentences({ deployments, deploymentCount }: DeploymentsBefore): string[] {
  const [first, ...rest] = deployments.slice(0, shown).map(sentenceOf);
  if (first === undefined) return [];
  const more = deploymentCount - rest.length - 1;
  const [largest] = deployments;
  const isLater = largest !== undefined && isAfterStart(largest);
  const head = isLater ? 'On its first day' : 'In the 48 hours before';
  return [`${head}: ${first}`, ...rest, ...(more > 0 ? [`And ${more} more before it.`] : [])];
}

/** `2026-10-07 14:02 UTC deployed revision 7 (prod/agent/foo), 3 hours before; memory 2048 → 4096 MB.` */
function sentenceOf(deployment: DeploymentBefore): string {
  const { workspace, resourceType, resourceName, hoursBefore } = deployment;
  const settings = settingWords(deployment.settings);
  const place = `(${workspace}/${resourceType}/${resourceName})`;
  const what = eventWords(deployment);
  const distance = distanceWords(deployment, hoursBefore);
  return what === undefined
    ? `${whenWords(deployment)} changed ${settings} ${place}${distance}.`
    : `${whenWords(deployment)} ${what} ${place}${distance}${settings === '' ? '' : `; ${settings}`}.`;
}

function distanceWords({ after, by }: Deployment, hoursBefore: number): string {
  if (after !== by) return '';
  if (hoursBefore < -1) return `, ${counted(-hoursBefore - 1, 'hour')} after its start`;
  if (hoursBefore < 0) return ', in its first hour';
  return hoursBefore === 0 ? ', less than an hour before' : `, ${counted(hoursBefore, 'hour')} before`;
}

/** `2026-10-07 14:02 UTC`, or `between 2026-10-06 03:00 and 2026-10-07 03:00 UTC`. */
export function whenWords({ after, by }: Pick<Deployment, 'after' | 'by'>): string {
  return after === by ? `${minute(by)} UTC` : `between ${minute(after)} and ${minute(by)} UTC`;
}

function minute(instant: string): string {
  return `${instant.slice(0, 10)} ${instant.slice(11, 16)}`;
}

/** `deployed revision 7`; undefined if only settings are known. Event types and statuses can be any text. */
export function eventWords({ event, revision }: Deployment): string | undefined {
  if (event === undefined) return undefined;
  const { type, status } = event;
  const of = revision === null ? '' : ` revision ${revision}`;
  if (type !== null && type !== 'deployment') return `${type}${status === null ? '' : ` ${status}`}${of}`;
  if (status === null) return `deployment${of}`;
  return status.toUpperCase() === 'FAILED' ? `failed to deploy${of}` : `${status.toLowerCase()}${of}`;
}

const names: Readonly<Record<string, string>> = { memory_mb: 'memory', min_scale: 'minScale', max_scale: 'maxScale' };

/** `memory 2048 → 4096 MB, maxScale 3 → 10`. */
export function settingWords(settings: readonly ChangedSetting[]): string {
  return settings
    .map(({ name, from, to }) => {
      const unit = name === 'memory_mb' && to !== null ? ' MB' : '';
      return `${names[name] ?? name} ${from ?? 'none'} → ${to ?? 'none'}${unit}`;
    })
    .join(', ');
}
