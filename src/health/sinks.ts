import { exitCodes } from '../base/errors.ts';
import { act } from '../base/next-step.ts';
import type { LocalConfig } from '../config/index.ts';
import { type ActingSettings, isActing, isStandardSecret, sinkFault } from '../sinks/index.ts';
import { findOnPlatform } from './acting-sinks.ts';
import type { HealthContext } from './context.ts';
import { type Found, fail, type Look, ok, warn } from './found.ts';

/** Whether the agent, job or model of a sink exists. */
async function actingSink(
  name: string,
  settings: ActingSettings,
  config: LocalConfig,
  context: HealthContext,
): Promise<readonly Found[]> {
  const found = await findOnPlatform(settings, config, context);
  const test = `"costbook alerts test ${name}"`;
  switch (found.state) {
    case 'found':
      return [ok('exists; it was not called')];
    case 'unknown':
      return [warn(`could not be looked up: ${found.reason}`, act(`run ${test}, which calls the ${settings.type}.`))];
    case 'disabled':
      return [fail(exitCodes.undelivered, found.reason, act(`switch it on, then run ${test}.`))];
    case 'missing':
      return [fail(exitCodes.undelivered, found.reason, act(`correct the sink in costbook.yaml, then run ${test}.`))];
  }
}

/** Looks at each sink: whether it can be reached, without sending anything. `waiting` are those with undelivered messages. */
export async function examineSinks(
  config: LocalConfig,
  { isOffline, waiting }: { readonly isOffline: boolean; readonly waiting: readonly string[] },
  context: HealthContext,
  look: Look,
): Promise<void> {
  if (config.sinks.length === 0) {
    await look('sinks', () => [
      warn(
        'there are none, so nobody is notified of alerts',
        act('add one under sinks in costbook.yaml; it then gets every open alert.'),
      ),
    ]);
  }
  for (const sink of config.sinks) {
    if (sink.settings?.type === 'webhook' && !isStandardSecret(sink.settings.secret)) {
      await look(`sink ${sink.name}`, () => [
        warn(
          'its secret does not start with whsec_, so Standard Webhooks libraries cannot verify the signature',
          act('create one with "echo whsec_$(openssl rand -base64 32)".'),
        ),
      ]);
    }
    await look(`sink ${sink.name}`, async () => {
      const { settings } = sink;
      if (settings === undefined) return []; // reported with the configuration, with file and line
      const refused = waiting.includes(sink.name);
      if (isOffline) return [ok(`is of type ${settings.type}`)];
      if (isActing(settings)) return actingSink(sink.name, settings, config, context);
      const fault = await sinkFault(settings, context.signal);
      // Who has not taken messages is reported with the reason.
      if (fault === undefined && refused) return [];
      return fault === undefined
        ? [ok(settings.type === 'log' ? 'writes to the log' : 'its server answers; no message was sent')]
        : [
            {
              ...fail(
                exitCodes.undelivered,
                fault,
                act(`correct the sink, then run "costbook alerts test ${sink.name}".`),
              ),
              cause: `sink/${sink.name}`,
            },
          ];
    });
  }
}
