import { worstExitCode } from '../base/errors.ts';
import { type Diagnosis, examine } from '../health/index.ts';
import { readJobs } from '../jobs/index.ts';
import { read } from '../options/read.ts';
import { options } from '../options/table.ts';
import { folded } from '../terminal/index.ts';
import { forTerminal } from '../text/safe-text.ts';
import type { Command } from './command.ts';
import { isNowGiven } from './common-options.ts';
import { expectJobs, faultsOfJobFiles } from './job-mistakes.ts';

export const doctorCommand: Command = {
  name: 'doctor',
  summary: 'Check everything that a nightly run needs: configuration, token, platform, machine, books, sinks.',
  needsProject: () => false,
  examples: ['costbook doctor', 'costbook doctor --offline --deep', 'costbook doctor --json'],
  async run(input, context) {
    const { dir, env, effects, keepSecret } = context;
    const { offline: isOffline, deep: isDeep } = read(options.doctor, input, context);
    const found = await examine(
      {
        ...{ isOffline, isDeep, isNowGiven: isNowGiven(input, context) },
        jobFilesOf: (config) => faultsOfJobFiles(config, context),
        readJobs: () => expectJobs(readJobs({ dir, env, now: effects.now(), keepSecret, requirePing: false }), context),
        onFound: async (diagnosis) => {
          if (!context.json) await context.write(folded(describe(diagnosis), context.layout));
        },
      },
      { ...context, progress: (words) => context.progress?.(words) },
    );
    const exitCode = worstExitCode(found.flatMap((one) => (one.state === 'fail' ? [one.exitCode] : [])));
    if (context.json) await context.write(`${JSON.stringify({ exitCode, findings: found.map(toJson) })}\n`);
    else await context.write(`${summary(found)}\n`);
    return exitCode;
  },
};

const words = { ok: 'OK  ', warn: 'WARN', fail: 'FAIL' } as const;

function describe({ subject, state, found, remedy }: Diagnosis): string {
  const [first = '', ...others] = found.split('\n');
  const lines = [
    `${words[state]}  ${subject}: ${forTerminal(first)}`,
    ...others.map((line) => `      ${forTerminal(line)}`),
    ...(remedy === null ? [] : [`      → ${forTerminal(remedy)}`]),
  ];
  return `${lines.join('\n')}\n`;
}

function toJson({ exitCode, next: _, ...finding }: Diagnosis): Record<string, unknown> {
  return { ...finding, exitCode: finding.state === 'fail' ? exitCode : null };
}

function summary(findings: readonly Diagnosis[]): string {
  const [fails, warnings] = ['fail', 'warn'].map(
    (state) => findings.filter((finding) => finding.state === state).length,
  );
  if (fails === 0 && warnings === 0) return 'Everything works.';
  return `${fails} of ${findings.length} failed, ${warnings} warning${warnings === 1 ? '' : 's'}.`;
}
