import { writeFile } from 'node:fs/promises';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startEmulator } from '../../src/emulator/index.ts';
import { clockFound } from '../../src/health/platform.ts';
import { dayMs } from '../../src/time/time.ts';
import { newerVersion } from '../support/other-version.ts';
import { type Ended, ingest, ingestCommandLine, newProject, runCli, startCli } from '../support/project.ts';
import { type ScriptedPlatform, series, startScriptedPlatform } from '../support/scripted-platform.ts';

const box = { workspace: 'north', type: 'sandbox', name: 'box', uuid: 'sbx-1', dimension: 'sandbox_image_storage_gbs' };
const now = '2026-09-05T12:30:00Z';

interface Finding {
  readonly subject: string;
  readonly state: 'ok' | 'warn' | 'fail';
  readonly found: string;
  readonly remedy: string | null;
  readonly exitCode: number | null;
}

let dir = '';
/** A project without books, for what has nothing to do with them: trying every report on books takes most of the time. */
let bare = '';
const noBooks = expect.objectContaining({
  subject: 'books',
  state: 'warn',
  found: expect.stringContaining('no books yet'),
});
let platform: ScriptedPlatform;
const closing: (() => void)[] = [];
beforeAll(async () => {
  [dir, bare] = [await newProject(), await newProject()];
  platform = await startScriptedPlatform(series(box, '2026-09-03T05', [1, 2]));
  expect((await ingest(dir, platform, { now })).exitCode).toBe(0);
});
afterAll(() => {
  for (const close of closing) close();
});

interface Asked {
  /** The project; the loaded one if nothing else is said. */
  readonly of?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly yaml?: string;
  readonly now?: string;
  readonly args?: readonly string[];
  readonly cli?: string;
}

/** The doctor's findings on a project. */
async function doctor({
  of = dir,
  env,
  yaml = 'sinks: { out: { type: log } }\n',
  now: at = now,
  args = [],
  cli,
}: Asked = {}): Promise<Ended & { readonly findings: readonly Finding[]; readonly bad: readonly Finding[] }> {
  await writeFile(join(of, 'costbook.yaml'), yaml);
  const [, known] = ingestCommandLine(of, platform, { now: at });
  const line = ['doctor', '--json', '--dir', of, '--now', at, ...args];
  const ended = await (cli === undefined
    ? runCli(line, { ...known, ...env })
    : startCli(line, { ...known, ...env }, { cli }).ended);
  const { findings, exitCode } = JSON.parse(ended.stdout) as { findings: Finding[]; exitCode: number };
  expect(exitCode).toBe(ended.exitCode);
  return { ...ended, findings, bad: findings.filter(({ state }) => state !== 'ok') };
}

function serve(answer: Parameters<typeof createServer>[1]): Promise<string> {
  const server = createServer(answer as never);
  closing.push(() => server.close());
  return new Promise((resolve) =>
    server.listen(0, '127.0.0.1', () => resolve(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)),
  );
}

/** A token that says of itself when it ends. */
function jwt(expiresAt: number): string {
  const parts = [{ alg: 'none' }, { sub: 'me', exp: Math.floor(expiresAt / 1000) }];
  return `${parts.map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.')}.c2lnbmF0dXJl`;
}

describe('costbook doctor', () => {
  test('reports no failure for a healthy project', async () => {
    const { exitCode, findings, bad } = await doctor();
    expect({ exitCode, bad }).toEqual({ exitCode: 0, bad: [] });
    const subjects = new Set(findings.map(({ subject }) => subject.replace(' acc_one', '')));
    expect([...subjects]).toEqual([
      ...[
        'program',
        'configuration',
        'jobs',
        'sql',
        'token',
        'platform',
        'disk',
        'memory',
        'files',
        'books',
        'sink out',
        'landing',
        'alerts',
      ],
    ]);
    expect(findings.find(({ subject }) => subject === 'platform acc_one')?.found).toContain(
      'role admin, costs since 2026-09',
    );
  });

  test('prints OK, WARN or FAIL on each line, and the next step below it', async () => {
    const empty = await newProject();
    const { exitCode, stdout } = await runCli(['doctor', '--dir', empty]);
    expect(exitCode).toBe(2);
    for (const line of stdout.trim().split('\n').slice(0, -1)) expect(line).toMatch(/^(OK {2}|WARN|FAIL) {2}\w| {6}→ /);
    expect(stdout).toContain('→ Act (operator of Costbook): start with "costbook init"');
    expect(stdout).toContain('WARN  books: there are no books yet');
  });

  test('sends no request with --offline', async () => {
    const before = platform.requests.length;
    expect((await doctor({ args: ['--offline'] })).exitCode).toBe(0);
    expect(platform.requests).toHaveLength(before);
  });

  test.each([
    [
      'a platform that does not answer',
      { env: { COSTBOOK_URL: 'http://127.0.0.1:1' } },
      3,
      'platform acc_one',
      'refused',
    ],
    ['a token that the platform does not know', { env: { COSTBOOK_TOKEN: 'another' } }, 3, 'platform acc_one', '401'],
    [
      'an account that it does not see',
      { env: { COSTBOOK_ACCOUNT: 'acc_two' } },
      3,
      'platform acc_two',
      'answered 404',
    ],
    ['a token that has expired', { env: { COSTBOOK_TOKEN: jwt(Date.now() - 1000) } }, 3, 'token acc_one', 'expired at'],
    ['books that are too old', { now: '2026-09-08T12:30:00Z' }, 4, 'books', 'the limit is 30 h'],
    ['a mistake in the file', { yaml: 'settleDay: 3\n' }, 2, 'configuration', 'settleDay'],
    [
      'a missing token file',
      { env: { COSTBOOK_TOKEN: '', COSTBOOK_TOKEN_FILE: '/nowhere' } },
      2,
      'token acc_one',
      'no such file',
    ],
    [
      'a sink that does not listen',
      {
        yaml: 'sinks: { hook: { type: webhook, url: "http://127.0.0.1:1/secret-path", secret: a-secret-that-is-long, allowPrivateNetwork: true } }\n',
      },
      8,
      'sink hook',
      '127.0.0.1:1 could not be reached (ECONNREFUSED)',
    ],
    [
      'a sink whose variable is not set',
      { yaml: 'sinks: { team: { type: slack, url: "${' + 'NOT_SET}" } }\n' },
      2,
      'configuration',
      'NOT_SET',
    ],
  ] as const)('finds %s', async (_, asked, expected, subject, words) => {
    const { exitCode, bad, stdout } = await doctor({ of: subject === 'books' ? dir : bare, ...asked });
    expect(exitCode).toBe(expected);
    expect(bad).toContainEqual(
      expect.objectContaining({ subject, state: 'fail', exitCode: expected, found: expect.stringContaining(words) }),
    );
    expect(stdout).not.toContain('secret-path');
    const fails = bad.filter(({ state }) => state === 'fail');
    expect(fails, 'one fault, one finding').toHaveLength(1);
    for (const { found, remedy } of fails) {
      expect(remedy).toBeTruthy();
      expect(found.toLowerCase()).not.toContain(remedy?.replace(/^\w+: |\.$/g, '').toLowerCase());
    }
  });

  test('names a member token on books that an admin token filled, and the step that confirms it', async () => {
    const { exitCode, bad } = await doctor({ env: { COSTBOOK_TOKEN: platform.tokens.member } });
    expect(exitCode).toBe(4);
    expect(bad).toEqual([
      expect.objectContaining({
        ...{ subject: 'platform acc_one', state: 'fail', exitCode: 4 },
        found: expect.stringContaining("this token is a member's"),
        remedy: expect.stringContaining('"costbook ingest --accept-reduced-access"'),
      }),
    ]);
  });

  test('names the totals that are far below those of the books, as the next ingest will', async () => {
    const long = await newProject();
    const past = series(box, '2026-09-02T00', Array(240).fill(1) as number[]);
    const seen = await startScriptedPlatform(past);
    const at = '2026-09-20T12:30:00Z';
    expect((await ingest(long, seen, { now: at })).exitCode).toBe(0);
    const [, known] = ingestCommandLine(long, seen, { now: at });
    const look = () => runCli(['doctor', '--json', '--dir', long, '--now', at], known);
    expect((await look()).exitCode, 'unchanged').toBe(0);
    seen.tells = (_, facts) => facts.map((fact) => ({ ...fact, cost: fact.cost / 10 }));
    const { exitCode, stdout } = await look();
    expect(exitCode).toBe(4);
    const { findings } = JSON.parse(stdout) as { findings: Finding[] };
    expect(findings.filter(({ state }) => state === 'fail')).toEqual([
      expect.objectContaining({
        subject: 'platform acc_one',
        found: expect.stringMatching(/reports 24.00 USD, but the books have 240.00 USD/),
        remedy: expect.stringContaining('--accept-reduced-access'),
      }),
    ]);
    expect((await ingest(long, seen, { now: at })).exitCode, 'the ingest after it').toBe(4);
  });

  test('names the listings that the platform refuses to this token', async () => {
    platform.failures = [
      {
        times: 6,
        hits: ({ path }) => /^\/v0\/(sandboxes|agents|functions|jobs|models|policies)$/.test(path),
        status: 403,
      },
    ];
    const { exitCode, bad } = await doctor({ of: bare, env: { COSTBOOK_INVENTORY: 'true' } });
    expect({ exitCode, bad }).toEqual({
      exitCode: 0,
      bad: [
        expect.objectContaining({
          ...{ subject: 'platform acc_one', state: 'warn' },
          found: expect.stringMatching(
            /^the platform refuses 6 of the 6 resource listings that doctor tries \(403\): sandbox, /,
          ),
          remedy: expect.stringContaining('list their resources'),
        }),
        noBooks,
      ],
    });
  });

  test('warns of a token that expires soon', async () => {
    const { admin: before } = platform.tokens;
    const soon = jwt(Date.now() + 3_600_000);
    platform.tokens.admin = soon;
    const { exitCode, bad, stdout } = await doctor({ of: bare, env: { COSTBOOK_TOKEN: soon } });
    platform.tokens.admin = before;
    expect(exitCode).toBe(0);
    expect(bad).toEqual([expect.objectContaining({ subject: 'token acc_one', state: 'warn' }), noBooks]);
    expect(stdout).not.toContain(soon);
  });

  /** The platform with another clock. */
  function platformAt(clock: () => number): Promise<string> {
    return serve((asked, answer) => {
      const passed = request(`${platform.url}${asked.url}`, { headers: asked.headers }, (response) => {
        answer.writeHead(response.statusCode ?? 500, { ...response.headers, date: new Date(clock()).toUTCString() });
        response.pipe(answer);
      });
      passed.end();
    });
  }

  test.each([
    [{ groupBy: ['project'] }, 'warn', 0, /also groups costs by project/],
    [{ without: 'resource_uuid' }, 'fail', 3, /does not list resource_uuid/],
    [{ types: ['gpu_pool', 'x'.repeat(5000)] }, 'warn', 0, /has costs of gpu_pool, x{90,200}…?/],
    [{ status: 404 }, 'ok', 0, /works with API version/],
    [{ values: 7 }, 'ok', 0, /works with API version/],
  ] as const)(
    'compares the platform\u2019s lists of values with the interface: %j',
    async (change, state, code, words) => {
      const {
        groupBy = [],
        without = '',
        types = [],
        status = 200,
        values,
      } = { ...change } as Partial<
        Record<'groupBy' | 'types', readonly string[]> & { without: string; status: number; values: number }
      >;
      const dimensions = [
        'workspace',
        'resource_type',
        'resource_name',
        'resource_uuid',
        'billing_dimension',
        ...groupBy,
      ];
      const url = await serve((asked, answer) => {
        const list = asked.url?.includes('/enums/group-by') ? dimensions.filter((name) => name !== without) : types;
        if (asked.url?.includes('/enums/')) {
          answer.writeHead(status, { 'content-type': 'application/json' });
          answer.end(JSON.stringify({ values: values ?? list }));
          return;
        }
        request(`${platform.url}${asked.url}`, { headers: asked.headers }, (response) => {
          answer.writeHead(response.statusCode ?? 500, response.headers);
          response.pipe(answer);
        }).end();
      });
      const { exitCode, findings, bad } = await doctor({ of: bare, env: { COSTBOOK_URL: url } });
      expect(exitCode).toBe(code);
      const ofPlatform = (state === 'ok' ? findings : bad).filter(({ subject }) => subject === 'platform acc_one');
      expect(ofPlatform).toContainEqual(expect.objectContaining({ state, found: expect.stringMatching(words) }));
      if (state === 'ok') expect(bad).toEqual([noBooks]);
    },
  );

  test('says of a clock that is days ahead only that, and finds no fault in the books', async () => {
    const url = await platformAt(() => Date.parse(now));
    const { exitCode, bad } = await doctor({ env: { COSTBOOK_URL: url }, now: '2026-11-06T13:00:00Z' });
    expect(bad).toEqual([
      expect.objectContaining({ subject: 'platform acc_one', found: expect.stringMatching(/\d\d days ahead of/) }),
    ]);
    expect(exitCode).toBe(0);
  });

  test.each([
    ['this machine, by days', 30 * dayMs, undefined, 'warn', /clock is 30 days ahead of/],
    ['this machine, by minutes', -600_000, undefined, 'warn', /clock is 10 minutes behind/],
    ['nothing', 0, undefined, 'ok', /clock agrees/],
    ['--now alone', 0, 30 * dayMs, 'warn', /^--now is 30 days ahead/],
    ['nothing, if --now is in the past', 0, -30 * dayMs, 'ok', /--now is 30 days behind/],
    ['nothing, if --now equals the platform’s time', 30 * dayMs, -30 * dayMs, 'ok', /--now agrees/],
    ['--now, if this machine is wrong as well', 30 * dayMs, 9 * dayMs, 'warn', /^--now is 39 days ahead/],
    [
      '--now, if it is behind and this machine is ahead',
      30 * dayMs,
      -42 * dayMs,
      'warn',
      /and --now is 12 days behind/,
    ],
  ])('blames the clock of %s', (_, aheadMs, nowAheadMs, state, words) => {
    const given = nowAheadMs === undefined ? undefined : Date.now() + nowAheadMs;
    expect(clockFound(aheadMs, given)).toMatchObject({ state, found: expect.stringMatching(words) });
  });

  test('connects to a sink without sending a message', async () => {
    const seen: unknown[] = [];
    const url = await serve((asked, answer) => {
      seen.push(asked.url);
      answer.end();
    });
    const yaml = `sinks: { hook: { type: webhook, url: "${url}/in", secret: a-secret-that-is-long, allowPrivateNetwork: true } }\n`;
    const { exitCode, findings } = await doctor({ of: bare, yaml });
    expect(exitCode).toBe(0);
    expect(findings).toContainEqual(expect.objectContaining({ subject: 'sink hook', state: 'ok' }));
    expect(seen).toEqual([]);
  });

  test('reports books of another version', async () => {
    const cli = await newerVersion({ '9000_marks.sql': '--! about: Marks.\ncreate table ledger.marks (x integer);\n' });
    const { exitCode, bad } = await doctor({ cli });
    expect(exitCode).toBe(2);
    expect(bad).toEqual([
      expect.objectContaining({ subject: 'books', found: expect.stringContaining('older Costbook') }),
    ]);
  });
});

describe('what each token reaches', () => {
  test('doctor tries every workspace and every token, also where a request has to name one, and the version header', async () => {
    const emulator = await startEmulator({ now: () => Date.parse(now), workspaceRule: 'demand' });
    closing.push(() => void emulator.close());
    const env = {
      COSTBOOK_URL: emulator.url,
      COSTBOOK_TOKEN: emulator.tokens.admin,
      COSTBOOK_ACCOUNT: emulator.account,
      COSTBOOK_INVENTORY: 'true',
    };
    const { staging, research } = emulator.workspaceTokens as { readonly staging: string; readonly research: string };
    const yaml = `inventory: { workspaces: [production, north], tokens: { staging: ${staging}, research: a-token } }\n`;
    const reached = async (asked: Asked) =>
      (await doctor({ of: bare, ...asked, env: { ...env, ...asked.env } })).findings
        .filter(({ subject, found }) => subject.startsWith('platform') && /list|version/.test(found))
        .map(({ state, found }) => `${state} ${found}`)
        .slice(1);
    expect(await reached({ yaml })).toEqual([
      'ok the token lists the workspaces production',
      'warn the platform refuses the token the listings of north: no cost is missing, but names and owners there may be old',
      expect.stringMatching(/^ok the token of inventory\.tokens\.staging \(.*\) lists staging$/),
      expect.stringMatching(
        /^warn the platform refuses the token of inventory\.tokens\.research \(.*\) the listings of research \(401\)/,
      ),
    ]);
    emulator.control.planFaults([{ name: 'ignored-version', rate: 1 }]);
    expect(await reached({ yaml: '', env: { COSTBOOK_TOKEN: research } })).toEqual([
      'ok the token lists the workspaces research',
      'warn the platform ignores the header Service-Version: a listing of version 2026-04-28 came in the form of 2026-04-16',
    ]);
  });
});
