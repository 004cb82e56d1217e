import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execPath } from 'node:process';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { parseAllDocuments, parse as parseYaml } from 'yaml';
import { allCommands, commonOptions } from '../../src/commands/index.ts';
import { parseConfig } from '../../src/config.ts';
import { loadJob, parseTimetable } from '../../src/jobs/index.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const folder = join(root, 'docs', 'deploy');
const commands = await allCommands();
const now = Date.parse('2026-11-21T00:00:00Z');

function text(name: string): string {
  return readFileSync(join(folder, name), 'utf8');
}

/** Whether a program is on this machine, and what a test's name says where it is not. */
function tool(name: string): { readonly has: boolean; readonly note: string } {
  const has = spawnSync(name, ['--version']).status === 0;
  return { has, note: has ? '' : ` (skipped: ${name} is not here)` };
}

/** Throws what is wrong with a command line: its command, its options, the job that it names. */
function checkCommandLine(words: readonly string[]): void {
  const [name = '', ...rest] = words;
  const command = commands.find((candidate) => candidate.name === name);
  if (command === undefined) throw new Error(`there is no command ${name}`);
  const known = [...command.options, ...commonOptions].map(({ flags }) => /--[\w-]+/.exec(flags)?.[0]);
  for (const word of rest) {
    if (word.startsWith('--') && !known.includes(word)) throw new Error(`${name} has no option ${word}`);
  }
  if (name === 'run')
    loadJob(rest[0] ?? '', { dir: folder, env: {}, now, keepSecret: () => undefined, requirePing: false });
}

/** Command lines as a shell, cron, systemd or a person would start them. */
function commandLines(words: string): string[][] {
  return [...words.matchAll(/(?:^|[\s"'`/])costbook ((?:[a-z_]+)(?: [\w:.-]+)*)/gm)].map(([, line = '']) =>
    line.split(' '),
  );
}

/** Metrics that are written or served. */
const metricNames = new Set(
  ['src/reports/metrics.ts', 'src/commands/schedule.ts'].flatMap((path) =>
    [...readFileSync(join(root, path), 'utf8').matchAll(/'(costbook_[a-z_]+)'/g)].map(([, name = '']) => name),
  ),
);

describe('the files of docs/deploy', () => {
  test('are all named in their README, and nothing else is', () => {
    const named = [...text('README.md').matchAll(/\]\(([\w.-]+)\)/g)].map(([, name]) => name);
    expect([...new Set(named)].sort()).toEqual(
      readdirSync(folder)
        .filter((name) => name !== 'README.md')
        .sort(),
    );
  });

  test.each(readdirSync(folder).filter((name) => !/\.(md|json)$/.test(name)))(
    '%s names commands and options that there are',
    (name) => {
      // Comments begin with #, and tell command lines as well.
      const quoted = [...text(name).matchAll(/"costbook ([a-z]+)[^"]*"/g)].map(([, command = '']) => [command]);
      for (const line of quoted) checkCommandLine(line);
    },
  );

  test('the crontab runs what there is, when a crontab can', () => {
    const lines = text('crontab')
      .split('\n')
      .filter((line) => /^[\d*]/.test(line));
    expect(lines).toHaveLength(3);
    for (const line of lines) {
      const [, when = '', words = ''] = /^((?:\S+ +){4}\S+) +(.*)$/.exec(line) ?? [];
      expect(() => parseTimetable(when.replaceAll(/ +/g, ' '))).not.toThrow();
      const found = commandLines(words.replace(/2>>.*$/, '').trim());
      expect(found).toHaveLength(1);
      for (const each of found) checkCommandLine(each);
    }
  });

  test('the units start what there is', () => {
    for (const name of ['costbook-nightly.service', 'costbook-schedule.service']) {
      const [, line = ''] = /^ExecStart=\/usr\/local\/bin\/costbook (.*)$/m.exec(text(name)) ?? [];
      checkCommandLine(line.split(' '));
      expect(text(name)).toMatch(/^User=(?!root)/m);
    }
  });

  const systemd = tool('systemd-analyze');
  test.skipIf(!systemd.has)(`the units are as systemd wants them${systemd.note}`, () => {
    const copies = mkdtempSync(join(tmpdir(), 'costbook-units-'));
    try {
      const names = readdirSync(folder).filter((name) => /\.(service|timer)$/.test(name));
      // What is not installed here would be the first complaint.
      for (const name of names)
        writeFileSync(join(copies, name), text(name).replace('/usr/local/bin/costbook', execPath));
      const { status, stderr } = spawnSync(
        'systemd-analyze',
        ['verify', '--man=no', ...names.map((name) => join(copies, name))],
        {
          encoding: 'utf8',
        },
      );
      const complaints = stderr.split('\n').filter((line) => line.includes('costbook'));
      expect({ status, complaints }).toEqual({ status: 0, complaints: [] });
    } finally {
      rmSync(copies, { recursive: true });
    }
  });

  test('the container runs as somebody who is not root, and starts what there is', () => {
    const lines = text('Dockerfile')
      .replaceAll(/\\\n/g, ' ')
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'));
    const known = ['FROM', 'WORKDIR', 'COPY', 'RUN', 'USER', 'ENV', 'VOLUME', 'EXPOSE', 'ENTRYPOINT', 'CMD'];
    for (const line of lines) expect(known).toContain(line.split(' ')[0]);
    const last = lines.slice(lines.findLastIndex((line) => line.startsWith('FROM ')));
    function of(word: string): string {
      return last.findLast((line) => line.startsWith(`${word} `))?.slice(word.length + 1) ?? '';
    }
    expect(of('USER')).toMatch(/^[1-9]\d*:[1-9]\d*$/);
    expect(JSON.parse(of('ENTRYPOINT'))).toEqual(['costbook']);
    checkCommandLine(JSON.parse(of('CMD')) as string[]);
    const { engines } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { engines: { node: string } };
    const [, major] = /node:(\d+)/.exec(of('FROM')) ?? [];
    expect(Number(major)).toBeGreaterThanOrEqual(Number(/\d+/.exec(engines.node)?.[0]));
  });

  test('Kubernetes is told to run it as the same user, one at a time, with a configuration that is right', () => {
    const documents = parseAllDocuments(text('kubernetes.yaml'));
    for (const document of documents) expect(document.errors).toEqual([]);
    // biome-ignore lint/suspicious/noExplicitAny: whatever the file says
    const [claim, config, cron] = documents.map((document) => document.toJS()) as any[];
    expect([claim.kind, config.kind, cron.kind]).toEqual(['PersistentVolumeClaim', 'ConfigMap', 'CronJob']);
    expect(cron.spec).toMatchObject({ concurrencyPolicy: 'Forbid', timeZone: 'Etc/UTC' });
    expect(() => parseTimetable(cron.spec.schedule)).not.toThrow();
    const { spec } = cron.spec.jobTemplate.spec.template;
    expect(`${spec.securityContext.runAsUser}:${spec.securityContext.runAsGroup}`).toBe(
      /^USER (.*)$/m.exec(text('Dockerfile'))?.[1],
    );
    const [container] = spec.containers;
    checkCommandLine(container.args);
    expect(container.securityContext).toMatchObject({ readOnlyRootFilesystem: true, allowPrivilegeEscalation: false });
    const volumes = spec.volumes.map(({ name }: { name: string }) => name).sort();
    expect([...new Set(container.volumeMounts.map(({ name }: { name: string }) => name))].sort()).toEqual(volumes);
    expect(spec.volumes[0].persistentVolumeClaim.claimName).toBe(claim.metadata.name);
    const env = { SLACK_WEBHOOK_URL: 'https://hooks.example.com/services/a' };
    const read = parseConfig({
      text: config.data['costbook.yaml'],
      file: '/data/costbook.yaml',
      env,
      now,
      requireSinks: true,
    });
    expect(read.accounts[0]?.token).toEqual({ kind: 'file', path: '/secrets/token' });
  });

  test.each(['prometheus-rules.yaml', 'grafana-dashboard.json'])('%s asks only for what is measured', (name) => {
    const asked = [...text(name).matchAll(/\bcostbook_[a-z_]+\b/g)].map(([metric]) => metric);
    expect(asked.length).toBeGreaterThan(8);
    expect(asked.filter((metric) => !metricNames.has(metric))).toEqual([]);
  });

  const promtool = tool('promtool');
  test.skipIf(!promtool.has)(`the rules are as promtool wants them${promtool.note}`, () => {
    const { status, stdout, stderr } = spawnSync(
      'promtool',
      ['check', 'rules', join(folder, 'prometheus-rules.yaml')],
      {
        encoding: 'utf8',
      },
    );
    expect(status, stdout + stderr).toBe(0);
  });

  test('each rule has a severity, and says what to do', () => {
    const { groups } = parseYaml(text('prometheus-rules.yaml')) as {
      groups: {
        rules: { alert: string; expr: string; labels: { severity: string }; annotations: Record<string, string> }[];
      }[];
    };
    const rules = groups.flatMap((group) => group.rules);
    expect(new Set(rules.map(({ alert }) => alert)).size).toBe(rules.length);
    for (const { labels, annotations } of rules) {
      expect(labels.severity).toMatch(/^(info|warning|critical)$/);
      expect(Object.keys(annotations)).toEqual(['summary', 'description']);
    }
  });

  test('the dashboard has panels that do not lie over each other, each with a question', () => {
    const { panels, uid } = JSON.parse(text('grafana-dashboard.json')) as {
      uid: string;
      panels: {
        id: number;
        title: string;
        gridPos: { h: number; w: number; x: number; y: number };
        targets: { expr: string }[];
      }[];
    };
    expect(uid).toBe('costbook');
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
    const cells = panels.flatMap(({ gridPos: { h, w, x, y } }) => {
      expect(x + w).toBeLessThanOrEqual(24);
      return Array.from({ length: h * w }, (_, index) => `${x + (index % w)}/${y + Math.floor(index / w)}`);
    });
    expect(new Set(cells).size).toBe(cells.length);
    for (const { targets } of panels) for (const { expr } of targets) expect(expr).toContain('costbook_');
  });
});
