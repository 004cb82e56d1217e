import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { exitCodes } from '../../src/base/errors.ts';
import { allCommands } from '../../src/commands/index.ts';
import { configVariables } from '../../src/config/keys.ts';
import { metricNames } from '../../src/metrics/metrics.ts';
import { described } from '../../src/options/read.ts';
import { commonOptions } from '../../src/options/table.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const folder = join(root, 'docs', 'deploy');
const read = (name: string) => readFileSync(join(folder, name), 'utf8');
const files = readdirSync(folder);
const scratch = mkdtempSync(join(tmpdir(), 'costbook-deploy-'));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string; files: string[] };
const commands = await allCommands();
const jobs = new Map(
  readdirSync(join(root, 'jobs'))
    .filter((name) => name.endsWith('.yaml'))
    .map((name) => [
      name.replace('.yaml', ''),
      parse(readFileSync(join(root, 'jobs', name), 'utf8')) as { schedule: string },
    ]),
);

/** The mistakes in a command line after the word costbook; empty if it is valid. */
function faultsOf(words: readonly string[]): string[] {
  const [name = '', ...rest] = words;
  const command = commands.find((candidate) => candidate.name === name);
  if (command === undefined) return [`no command ${name}`];
  const known = new Map(
    [...command.options, ...described(commonOptions)].map(
      ({ flags }) => [flags.split(' ')[0] ?? '', flags.includes('<')] as const,
    ),
  );
  const faults: string[] = [];
  const operands: string[] = [];
  for (let index = 0; index < rest.length; index += 1) {
    const word = rest[index] ?? '';
    if (!word.startsWith('--')) operands.push(word);
    else if (!known.has(word)) faults.push(`${name} has no ${word}`);
    else if (known.get(word) === true) index += 1;
  }
  if (operands.length > (command.arguments ?? []).length) faults.push(`${name} takes no ${operands.join(' ')}`);
  if (name === 'run' && !jobs.has(operands[0] ?? '')) faults.push(`there is no job ${operands[0]}`);
  return faults;
}

/** Sections of a unit file with the values of each key, in their order. */
function unitOf(name: string): Record<string, Record<string, string[]>> {
  const sections: Record<string, Record<string, string[]>> = {};
  let section: Record<string, string[]> = {};
  for (const line of read(name).split('\n')) {
    const head = /^\[(\w+)\]$/.exec(line)?.[1];
    const [, key, value] = /^(\w+)=(.*)$/.exec(line) ?? [];
    if (head !== undefined) sections[head] = section = {};
    else if (key !== undefined) section[key] = [...(section[key] ?? []), value ?? ''];
    else if (line !== '' && !line.startsWith('#')) throw new Error(`${name}: ${line}`);
  }
  return sections;
}

/** `15 2 * * *` as systemd writes it. */
function calendarOf(cron: string): string {
  const [minute = '', hour = '', day = '', month, weekday] = cron.split(' ');
  expect([month, weekday]).toEqual(['*', '*']);
  const two = (text: string) => (text === '*' ? '*' : text.padStart(2, '0'));
  return `*-*-${two(day)} ${two(hour)}:${two(minute)}:00 UTC`;
}

test('the folder contains exactly the files that its README lists', () => {
  const links = [...read('README.md').matchAll(/\]\(([^)]+)\)/g)].map(([, link]) => link ?? '');
  expect(links.filter((link) => !existsSync(join(folder, link.replace(/#.*/, ''))))).toEqual([]);
  const told = new Set([...links, 'README.md', 'prometheus-rules.test.yaml', 'Dockerfile.dockerignore']);
  expect(files.filter((name) => !told.has(name))).toEqual([]);
});

test.each(files)('%s names only existing environment variables and metrics', (name) => {
  const text = read(name);
  const variables = new Set([
    ...configVariables.keys(),
    'COSTBOOK_DIR',
    'COSTBOOK_NOW',
    'COSTBOOK_JSON',
    'COSTBOOK_LOG_FORMAT',
  ]);
  const used = [...text.matchAll(/\bCOSTBOOK_[A-Z_]+/g)].map(([variable]) => variable);
  expect(used.filter((variable) => !variables.has(variable))).toEqual([]);
  const scheduled = [
    ...readFileSync(join(root, 'src/commands/schedule.ts'), 'utf8').matchAll(/'(costbook_schedule_\w+)'/g),
  ];
  const metrics = new Set<string>([...metricNames, ...scheduled.map(([, metric]) => metric ?? '')]);
  expect(
    [...text.matchAll(/\bcostbook_[a-z_]+/g)].map(([metric]) => metric).filter((metric) => !metrics.has(metric)),
  ).toEqual([]);
});

test.each(files.filter((name) => !/json|dockerignore/.test(name)))(
  '%s names only existing commands, options and jobs',
  (name) => {
    const lines = [
      ...read(name).matchAll(
        /(?<![\w/.@-])costbook ((?:[a-z_]+|--[a-z-]+|\d+[a-z]*)(?: (?:[a-z_]+|--[a-z-]+|\d+[a-z]*))*)/g,
      ),
    ]
      .map(([, words = '']) => words.split(' '))
      // Prose: a word that is not a command does not start a command line.
      .filter(([first]) => commands.some((command) => command.name === first))
      .map(([first = '', ...rest]) => {
        // Of a sentence only what could be an option or a job is looked at.
        const takes = (commands.find((command) => command.name === first)?.arguments ?? []).length;
        const end = rest.findIndex(
          (word, index) => !word.startsWith('--') && !rest[index - 1]?.startsWith('--') && index >= takes,
        );
        return [first, ...(first === 'sql' ? [] : end < 0 ? rest : rest.slice(0, end))];
      });
    expect(lines.flatMap((words) => faultsOf(words).map((fault) => `${words.join(' ')}: ${fault}`))).toEqual([]);
  },
);

describe('crontab', () => {
  const lines = read('crontab')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'));
  const entries = lines.filter((line) => !/^\w+=/.test(line)).map((line) => /^((?:\S+ ){5}) *(\S+) +(.*)$/.exec(line));

  test('runs the jobs on their own schedules, as a separate user', () => {
    const seen = entries.map((entry) => {
      const [, schedule = '', user, command = ''] = entry ?? [];
      const [words = ''] = command.split(' >> ');
      const [program, ...rest] = words.split(' ');
      expect({ user, program, faults: faultsOf(rest) }).toEqual({ user: 'costbook', program: 'costbook', faults: [] });
      return [rest[1], schedule.trim()];
    });
    expect(seen).toEqual(['nightly', 'month_close'].map((job) => [job, jobs.get(job)?.schedule]));
  });

  test('writes its log only into the project folder, because cron creates no folder', () => {
    const dir = mkdtempSync(join(scratch, 'books '));
    const program = join(scratch, 'costbook');
    writeFileSync(program, '#!/bin/sh\necho "ran $*"\n', { mode: 0o755 });
    const variables = { PATH: `${scratch}:/usr/bin:/bin`, COSTBOOK_DIR: dir };
    for (const entry of entries) {
      const { status, stderr } = spawnSync('/bin/sh', ['-c', entry?.[3] ?? ''], { env: variables, encoding: 'utf8' });
      expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    }
    expect(readdirSync(dir).sort()).toEqual(['month_close.log', 'nightly.log']);
    expect(readFileSync(join(dir, 'nightly.log'), 'utf8')).toBe('ran run nightly --wait 30m\n');
  });

  test('is in UTC, and no percent sign cuts a line off', () => {
    expect(lines).toContain('CRON_TZ=UTC');
    expect(entries.filter((entry) => entry?.[3]?.includes('%'))).toEqual([]);
  });
});

describe('systemd', () => {
  const timers = files.filter((name) => name.endsWith('.timer'));

  test('the service runs a job as a separate user that can only write its folder', () => {
    const { Service: service = {} } = unitOf('costbook@.service');
    const [program, ...words] = (service['ExecStart']?.[0] ?? '').replace('%i', 'nightly').split(' ');
    expect({ program, faults: faultsOf(words) }).toEqual({ program: '/usr/local/bin/costbook', faults: [] });
    expect(service).toMatchObject({
      Type: ['oneshot'],
      User: ['costbook'],
      NoNewPrivileges: ['yes'],
      ProtectSystem: ['strict'],
      StateDirectory: ['costbook'],
    });
    expect(service['Environment']).toContain(`COSTBOOK_DIR=/var/lib/${service['StateDirectory']?.[0]}`);
    // A run answers a signal within 25 seconds.
    expect(Number(service['TimeoutStopSec']?.[0])).toBeGreaterThan(25);
  });

  test('an end by a signal is no failure, and only failures that may pass are retried', () => {
    const { Service: service = {} } = unitOf('costbook@.service');
    expect(service['SuccessExitStatus']).toEqual(['143']);
    const { done, platform, locked, machine, ...hopeless } = exitCodes;
    expect([done, platform, locked, machine]).toEqual([0, 3, 5, 7]);
    expect(service['RestartPreventExitStatus']?.[0]?.split(' ').map(Number)).toEqual(Object.values(hopeless).sort());
  });

  test.each(timers)('%s starts when its job is due, and catches up after the machine was off', (name) => {
    const job = /@(\w+)\.timer/.exec(name)?.[1] ?? '';
    const { Timer: timer = {}, Install: install = {} } = unitOf(name);
    expect(timer['OnCalendar']).toEqual([calendarOf(jobs.get(job)?.schedule ?? '')]);
    expect({ persistent: timer['Persistent'], wanted: install['WantedBy'] }).toEqual({
      persistent: ['yes'],
      wanted: ['timers.target'],
    });
  });

  test('systemd accepts the units', ({ skip }) => {
    if (spawnSync('systemd-analyze', ['--version']).error) skip('systemd-analyze is not on this machine');
    const text = read('costbook@.service').replaceAll('/usr/local/bin/costbook', process.execPath); // which is there
    writeFileSync(join(scratch, 'costbook@.service'), text);
    for (const name of timers) copyFileSync(join(folder, name), join(scratch, name));
    const verify = spawnSync(
      'systemd-analyze',
      ['verify', '--man=no', ...['costbook@nightly.service', ...timers].map((name) => join(scratch, name))],
      { encoding: 'utf8' },
    );
    const ours = verify.stderr.split('\n').filter((line) => line.includes('costbook'));
    expect({ status: verify.status, ours }).toEqual({ status: 0, ours: [] });
  });
});

describe('kubernetes.yaml', () => {
  interface Pod {
    restartPolicy: string;
    securityContext: Record<string, unknown>;
    containers: {
      name: string;
      image: string;
      args: string[];
      env: { name: string; value: string }[];
      securityContext: Record<string, unknown>;
      volumeMounts: { name: string; mountPath: string; readOnly?: boolean }[];
    }[];
    volumes: {
      name: string;
      persistentVolumeClaim?: { claimName: string };
      configMap?: { name: string };
      secret?: { secretName: string };
    }[];
    terminationGracePeriodSeconds: number;
  }
  interface CronJob {
    kind: string;
    metadata: { name: string };
    spec: {
      schedule: string;
      timeZone: string;
      concurrencyPolicy: string;
      jobTemplate: {
        spec: {
          backoffLimit: number;
          podFailurePolicy: { rules: { onExitCodes?: { values: number[] } }[] };
          template: { spec: Pod };
        };
      };
    };
  }
  const documents = parseAllDocuments(read('kubernetes.yaml'), { strict: true });
  const objects = documents.map((document) => document.toJS() as CronJob);
  const cronJobs = objects.filter(({ kind }) => kind === 'CronJob');

  test('is valid YAML with a volume, a secret, a configuration and two jobs', () => {
    expect(documents.flatMap(({ errors, warnings }) => [...errors, ...warnings])).toEqual([]);
    expect(objects.map(({ kind }) => kind)).toEqual([
      'ConfigMap',
      'Secret',
      'PersistentVolumeClaim',
      'CronJob',
      'CronJob',
    ]);
  });

  test.each(cronJobs.map((cronJob) => [cronJob.metadata.name, cronJob] as const))(
    '%s runs its job on schedule',
    (_, { spec }) => {
      const [container] = spec.jobTemplate.spec.template.spec.containers;
      expect(faultsOf(container?.args ?? [])).toEqual([]);
      expect(spec.schedule).toBe(jobs.get(container?.args[1] ?? '')?.schedule);
      expect({ zone: spec.timeZone, policy: spec.concurrencyPolicy }).toEqual({ zone: 'Etc/UTC', policy: 'Forbid' });
      expect(container?.image.endsWith(`:${manifest.version}`)).toBe(true);
    },
  );

  test.each(cronJobs.map((cronJob) => [cronJob.metadata.name, cronJob] as const))(
    '%s runs without privileges, and writes only to its volumes',
    (_, { spec }) => {
      const pod = spec.jobTemplate.spec.template.spec;
      expect(pod.securityContext).toMatchObject({ runAsNonRoot: true, runAsUser: 10001, fsGroup: 10001 });
      const [container] = pod.containers;
      expect(container?.securityContext).toEqual({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      });
      expect(pod.terminationGracePeriodSeconds).toBeGreaterThan(25);
      const value = (name: string) => container?.env.find((entry) => entry.name === name)?.value ?? '';
      const mounts = container?.volumeMounts ?? [];
      expect(mounts.find(({ mountPath }) => mountPath === value('COSTBOOK_DIR'))?.name).toBe('books');
      expect(mounts.some(({ mountPath }) => value('COSTBOOK_TOKEN_FILE').startsWith(`${mountPath}/`))).toBe(true);
      expect(mounts.map(({ name }) => name).sort()).toEqual(pod.volumes.map(({ name }) => name).sort());
      const named = pod.volumes.flatMap(({ persistentVolumeClaim, configMap, secret }) => [
        ...(persistentVolumeClaim ? [`PersistentVolumeClaim ${persistentVolumeClaim.claimName}`] : []),
        ...(configMap ? [`ConfigMap ${configMap.name}`] : []),
        ...(secret ? [`Secret ${secret.secretName}`] : []),
      ]);
      const there = objects.map(({ kind, metadata }) => `${kind} ${metadata.name}`);
      expect(named.filter((name) => !there.includes(name))).toEqual([]);
    },
  );

  test.each(cronJobs.map((cronJob) => [cronJob.metadata.name, cronJob] as const))(
    '%s only retries failures that may pass',
    (_, { spec }) => {
      const { rules } = spec.jobTemplate.spec.podFailurePolicy;
      const { bug, usage, unproven, overBudget, undelivered } = exitCodes;
      expect(rules.flatMap(({ onExitCodes }) => onExitCodes?.values ?? [])).toEqual([
        bug,
        usage,
        unproven,
        overBudget,
        undelivered,
      ]);
      expect(spec.jobTemplate.spec.template.spec.restartPolicy).toBe('Never'); // without it there is no such policy
    },
  );

  test('its configuration has only known keys', () => {
    const { data } = objects[0] as unknown as { data: Record<string, string> };
    const keys = Object.keys(parse(data['costbook.yaml'] ?? '') as object);
    expect(keys.filter((key) => ![...configVariables.values()].includes(key))).toEqual([]);
  });
});

describe('Dockerfile', () => {
  const instructions = read('Dockerfile')
    .replace(/^#.*$/gm, '')
    .replace(/\\\n\s*/g, '')
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => {
      const [, word = '', rest = ''] = /^([A-Z]+) (.*)$/.exec(line) ?? [];
      return { word, rest };
    });
  const last = instructions.slice(instructions.findLastIndex(({ word }) => word === 'FROM'));
  const of = (word: string) => last.filter((instruction) => instruction.word === word).map(({ rest }) => rest);

  test('every line is an instruction, and the image has two build stages', () => {
    const known = [
      'FROM',
      'WORKDIR',
      'COPY',
      'RUN',
      'ENV',
      'USER',
      'VOLUME',
      'EXPOSE',
      'STOPSIGNAL',
      'HEALTHCHECK',
      'ENTRYPOINT',
      'CMD',
    ];
    expect(instructions.filter(({ word }) => !known.includes(word))).toEqual([]);
    expect(instructions.filter(({ word }) => word === 'FROM').map(({ rest }) => rest)).toEqual([
      'node:24-slim AS build',
      'node:24-slim',
    ]);
  });

  test('runs as a non-root user with a numeric ID that a cluster can verify', () => {
    expect(of('USER')).toEqual(['10001:10001']);
    expect(last.findLastIndex(({ word }) => word === 'USER')).toBeGreaterThan(
      last.findLastIndex(({ word }) => word === 'RUN'),
    );
  });

  test("copies the package's contents, which exist and are sent to the builder", () => {
    const sources = instructions
      .filter(({ word, rest }) => word === 'COPY' && !rest.startsWith('--from'))
      .flatMap(({ rest }) => rest.split(' ').slice(0, -1))
      .map((source) => source.replace(/^\.\//, ''));
    const sent = read('Dockerfile.dockerignore')
      .split('\n')
      .filter((line) => line.startsWith('!'))
      .map((line) => line.slice(1));
    expect(sources.filter((source) => !sent.includes(source))).toEqual([]);
    expect(sources.filter((source) => !source.includes('*') && !existsSync(join(root, source)))).toEqual([]);
    const needed = manifest.files
      .filter((name) => !name.startsWith('dist'))
      .map((name) => (name.endsWith('.example.yaml') ? '*.example.yaml' : name));
    expect(needed.filter((name) => !sources.includes(name))).toEqual([]);
  });

  test('installs without running any script of a package', () => {
    const installs = instructions
      .flatMap(({ rest }) => rest.split('&&'))
      .filter((line) => /npm (ci|install|prune)/.test(line));
    expect(installs).toHaveLength(2);
    expect(installs.filter((line) => !line.includes('--ignore-scripts'))).toEqual([]);
  });

  test('starts an existing command', () => {
    expect(JSON.parse(of('ENTRYPOINT')[0] ?? '')).toEqual(['node', '/app/dist/cli.js']);
    const words = JSON.parse(of('CMD')[0] ?? '') as string[];
    expect(faultsOf(words)).toEqual([]);
    expect(of('EXPOSE')).toEqual([words[words.indexOf('--health-port') + 1]]);
  });
});

describe('package-lock.json', () => {
  interface Locked {
    version: string;
    integrity?: string;
    resolved?: string;
    hasInstallScript?: boolean;
    engines?: { node?: string };
  }
  const text = readFileSync(join(root, 'package-lock.json'), 'utf8');
  const { packages } = JSON.parse(text) as { packages: Record<string, Locked> };
  const locked = Object.entries(packages).filter(([path]) => path !== '');

  test('names no registry, and neither does .npmrc', () => {
    expect(locked.filter(([, { resolved }]) => resolved !== undefined)).toEqual([]);
    expect(text).not.toMatch(/registry|npmjs/);
    expect(readFileSync(join(root, '.npmrc'), 'utf8')).not.toMatch(/:\/\/|^registry/m);
  });

  test('no package needs an install script', () => {
    expect(locked.filter(([, { hasInstallScript }]) => hasInstallScript).map(([path]) => path)).toEqual([]);
  });

  test('every package is checked against its hash, those of other platforms too', () => {
    const unchecked = locked.filter(([, { integrity }]) => !/^sha512-/.test(integrity ?? ''));
    expect(
      unchecked.map(([path]) => path),
      'npm run lockfile',
    ).toEqual([]);
  });

  test('the oldest and newest supported Node versions are accepted by all packages', () => {
    expect(packages['']?.engines?.node).toBe('>=20.19 <25');
    expect((JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Locked).engines?.node).toBe('>=20.19 <25');
    const needed = locked.flatMap(([path, { engines }]) => {
      const [, major] = /^>= ?(\d+)/.exec(engines?.node ?? '') ?? [];
      return Number(major) > 20 ? [path] : [];
    });
    expect(needed).toEqual([]);
  });
});

describe('Prometheus and Grafana', () => {
  interface Rules {
    groups: {
      name: string;
      rules: { alert: string; expr: string; labels: { severity: string }; annotations: Record<string, string> }[];
    }[];
  }
  const rules = (parse(read('prometheus-rules.yaml')) as Rules).groups.flatMap((group) => group.rules);
  const hasPromtool = spawnSync('promtool', ['--version']).error === undefined;

  test('every alert rule has a unique name, a severity, a summary and a next step', () => {
    expect(new Set(rules.map(({ alert }) => alert)).size).toBe(rules.length);
    for (const { labels, annotations } of rules) {
      expect(labels.severity).toMatch(/^(info|warning|critical)$/);
      expect(Object.keys(annotations)).toEqual(['summary', 'description']);
    }
  });

  test('the rule tests make every alert fire', () => {
    const expected = parse(read('prometheus-rules.test.yaml')) as {
      tests: {
        alert_rule_test?: { alertname: string; exp_alerts?: unknown[] }[];
        promql_expr_test?: { expr: string; exp_samples: { labels: string }[] }[];
      }[];
    };
    const fired = expected.tests.flatMap(({ alert_rule_test: byName = [], promql_expr_test: byQuestion = [] }) => [
      ...byName.filter(({ exp_alerts = [] }) => exp_alerts.length > 0).map(({ alertname }) => alertname),
      ...byQuestion.flatMap(({ exp_samples }) =>
        exp_samples.flatMap(({ labels }) => /alertname="(\w+)"/.exec(labels)?.[1] ?? []),
      ),
    ]);
    expect(rules.map(({ alert }) => alert).filter((alert) => !fired.includes(alert))).toEqual([]);
  });

  test('promtool confirms the rule tests, if it is installed', ({ skip }) => {
    if (!hasPromtool) skip('promtool is not on this machine');
    for (const [what, file] of [
      ['check', 'prometheus-rules.yaml'],
      ['test', 'prometheus-rules.test.yaml'],
    ]) {
      const { status, stdout, stderr } = spawnSync('promtool', [what ?? '', 'rules', file ?? ''], {
        cwd: folder,
        encoding: 'utf8',
      });
      expect(status, stdout + stderr).toBe(0);
    }
  });

  interface Dashboard {
    uid: string;
    title: string;
    schemaVersion: number;
    templating: { list: { name: string; type: string }[] };
    panels: {
      id: number;
      type: string;
      title: string;
      gridPos: { x: number; w: number };
      targets: { refId: string; expr: string }[];
    }[];
  }
  const dashboard = JSON.parse(read('grafana-dashboard.json')) as Dashboard;

  test('the dashboard works imported and provisioned: each panel has a position and queries the chosen source', () => {
    expect(dashboard).toMatchObject({ uid: 'costbook', title: 'Costbook', id: null, schemaVersion: 39 });
    // Grafana asks for inputs on import only: a provisioned dashboard would query a source of that name. A variable works in both.
    expect(dashboard).not.toHaveProperty('__inputs');
    expect(dashboard.templating.list.map(({ name, type }) => [name, type])).toEqual([
      ['datasource', 'datasource'],
      ['instance', 'query'],
    ]);
    expect(dashboard.templating.list[0]).toMatchObject({ query: 'prometheus', multi: false });
    const ids = dashboard.panels.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    for (const { title, gridPos, targets } of dashboard.panels) {
      expect(gridPos.x + gridPos.w, title).toBeLessThanOrEqual(24);
      expect(targets.length, title).toBeGreaterThan(0);
    }
    const sources = [...read('grafana-dashboard.json').matchAll(/"uid": "([^"]+)"/g)].map(([, uid]) => uid);
    expect(new Set(sources)).toEqual(new Set(['\u0024{datasource}', 'costbook']));
  });

  test('the dashboard’s queries are PromQL', ({ skip }) => {
    if (!hasPromtool) skip('promtool is not on this machine');
    const asked = dashboard.panels.flatMap(({ targets }) =>
      targets.map(({ expr }) => expr.replaceAll('$instance', '.*')),
    );
    const rule = {
      groups: [{ name: 'asked', rules: asked.map((expr, index) => ({ record: `asked:${index}`, expr })) }],
    };
    writeFileSync(join(scratch, 'asked.yaml'), JSON.stringify(rule));
    const { status, stdout, stderr } = spawnSync('promtool', ['check', 'rules', join(scratch, 'asked.yaml')], {
      encoding: 'utf8',
    });
    expect(status, stdout + stderr).toBe(0);
  });
});
