import type { Log } from '../../base/effects.ts';
import { UsageError } from '../../base/errors.ts';
import { oneOf } from '../../text/choices.ts';
import type { OutgoingMessage } from '../message.ts';
import type { PreviewFormat, SendMessage, SinkEffects, SinkType } from '../sink.ts';
import { agent } from './agent.ts';
import { email } from './email.ts';
import { job } from './job.ts';
import { log } from './log.ts';
import { model } from './model.ts';
import { pagerduty } from './pagerduty.ts';
import { slack } from './slack.ts';
import { teams } from './teams.ts';
import { webhook } from './webhook.ts';

/** Every type of sink. A new one is a file, and its name here. */
export const sinkTypes = { slack, webhook, teams, pagerduty, email, log, agent, job, model } as const;

export type SinkTypeName = keyof typeof sinkTypes;
type SettingsOf<T> = T extends SinkType<infer S> ? S : never;
/** The settings of a sink in costbook.yaml. */
export type SinkSettings = SettingsOf<(typeof sinkTypes)[SinkTypeName]>;

export const sinkTypeNames = Object.keys(sinkTypes) as readonly SinkTypeName[];

/** The type of a sink, for settings of any type. */
function typeOf(settings: SinkSettings): SinkType<SinkSettings> {
  return sinkTypes[settings.type] as unknown as SinkType<SinkSettings>;
}

/** The secrets of a sink, which no output may show. */
export function secretsOf(settings: SinkSettings): readonly string[] {
  return typeOf(settings).secrets(settings);
}

/** Keys whose values are secrets. */
export const secretKeys: readonly string[] = [
  ...new Set(Object.values(sinkTypes).flatMap((type): readonly string[] => type.secretKeys ?? [])),
];

/** Whether the messages of a sink have pictures; false without settings. */
export function showsPictures(settings: SinkSettings | undefined): boolean {
  return settings !== undefined && typeOf(settings).showsPictures?.(settings) === true;
}

/** Opens a sink without sending anything. */
export function openSink(settings: SinkSettings, effects: SinkEffects): SendMessage {
  return typeOf(settings).open(settings, effects);
}

/** Why a sink cannot be reached, without secrets; undefined if it can, or if only a message would tell. */
export async function sinkFault(settings: SinkSettings, signal: AbortSignal): Promise<string | undefined> {
  const place = typeOf(settings).place?.(settings);
  return place === undefined ? undefined : (await import('../reach.ts')).placeFault(place, signal);
}

/**
 * What a sink would receive, without sending it. Throws UsageError if the type of sink does not have the format.
 */
export async function previewOf(
  message: OutgoingMessage,
  settings: SinkSettings,
  format: PreviewFormat | undefined,
  to: Pick<Log, 'warn'>,
): Promise<string | Buffer> {
  const { previews } = typeOf(settings);
  const formats = Object.keys(previews) as PreviewFormat[];
  const asked = format ?? formats[0] ?? 'json';
  const preview = previews[asked];
  if (preview === undefined) {
    throw new UsageError(`--format: found ${asked}, expected ${oneOf(formats)} for a sink of type ${settings.type}`);
  }
  const content = await preview(message, settings, to);
  return asked === 'json' ? `${JSON.stringify(content, undefined, 2)}\n` : (content as string | Buffer);
}
