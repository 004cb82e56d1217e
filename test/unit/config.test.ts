// biome-ignore-all lint/suspicious/noTemplateCurlyInString: ${NAME} is what the file itself may say

import { mkdirSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { UsageError } from '../../src/base/errors.ts';
import { type Config, loadConfig, parseConfig } from '../../src/config/config.ts';
import type { ConfigInput } from '../../src/config/environment-and-file.ts';
import { umaskOf } from '../../src/config/file-mode.ts';
import { configVariables } from '../../src/config/keys.ts';
import fc, { anyCharacter } from '../support/fast-check.ts';

const now = Date.parse('2026-11-05T10:30:00Z');
const file = '/books/costbook.yaml';
const example = resolve(import.meta.dirname, '../../costbook.example.yaml');
const reach = { COSTBOOK_URL: 'https://api.example.com', COSTBOOK_TOKEN: 'tok-from-env' };

type Env = ConfigInput['env'];

function parse(text: string, env: Env = {}): Config {
  return parseConfig({ text, file, env, now });
}

/** The problems, one a line, with the file's folder left out. */
function problems(text: string, env: Env = {}, more: { requireAccounts?: boolean } = {}): string {
  const caught = thrown(() => parseConfig({ text, file, env, now, ...more }));
  expect(caught).toBeInstanceOf(UsageError);
  return caught instanceof Error ? caught.message.replaceAll('/books/', '') : '';
}

/** A dashboard without an identity provider and rules of groups. */
const noProvider = { oidc: undefined, groups: [] };

function thrown(run: () => unknown): unknown {
  try {
    run();
  } catch (error) {
    return error;
  }
  return undefined;
}

describe('parseConfig: resolved values', () => {
  test('the environment alone can be a complete configuration', () => {
    expect(parse('', reach)).toEqual({
      accounts: [
        {
          id: undefined,
          name: undefined,
          url: 'https://api.example.com',
          token: { kind: 'value', value: 'tok-from-env' },
          tokenSetting: 'COSTBOOK_TOKEN',
          since: undefined,
        },
      ],
      concurrency: 4,
      maxRequestsPerMinute: undefined,
      settleDays: 3,
      closeAfterDays: 3,
      lagHours: 2,
      freshnessHours: 30,
      verifyDays: 400,
      deepVerifyPages: 2,
      calendar: { dates: [], files: [] },
      proofTolerance: undefined,
      landing: { keep: 'changed', keepDays: undefined, archive: undefined },
      exportsTo: undefined,
      storage: {
        ...{ endpoint: undefined, region: undefined, pathStyle: undefined, timeoutMs: 30_000 },
        ...{ serverSideEncryption: undefined, kmsKeyId: undefined },
      },
      focus: { provider: 'Cloud Workload Platform', accountName: undefined },
      sinks: [],
      subscriptions: [],
      alerts: { notify: [], giveUpDays: 7, severity: {}, project: undefined },
      apiVersion: '2026-04-16',
      authorizationHeader: 'Authorization',
      versionHeader: 'Service-Version',
      workspaceHeader: undefined,
      threadHeader: 'X-Service-Thread-Id',
      headers: {},
      inferenceUrl: undefined,
      sandboxUrl: undefined,
      serve: { hosts: [], tokens: [], ...noProvider, userHeader: undefined, groupsHeader: undefined },
      dashboardUrl: undefined,
      fileMode: 0o600,
    });
  });

  test('every variable sets its key', () => {
    expect(
      parse('', {
        COSTBOOK_URL: 'http://127.0.0.1:8080/base/',
        COSTBOOK_TOKEN_COMMAND: 'pass show platform',
        COSTBOOK_ACCOUNT: 'acc_1',
        COSTBOOK_SINCE: '-7d',
        COSTBOOK_CONCURRENCY: '8',
        COSTBOOK_MAX_REQUESTS_PER_MINUTE: '60',
        COSTBOOK_SETTLE_DAYS: '0',
        COSTBOOK_CLOSE_AFTER_DAYS: '10',
        COSTBOOK_LAG_HOURS: '72',
        COSTBOOK_FRESHNESS: '2d',
        COSTBOOK_VERIFY_DAYS: '0',
        COSTBOOK_DEEP_VERIFY_PAGES: '10',
        COSTBOOK_CALENDAR: '2026-12-25, holidays.ics',
        COSTBOOK_PROOF_TOLERANCE: '0.005',
        COSTBOOK_LANDING_KEEP: 'all',
        COSTBOOK_LANDING_KEEP_DAYS: '730',
        COSTBOOK_LANDING_ARCHIVE: 's3://finance/landing',
        COSTBOOK_EXPORTS_TO: 's3://finance/costs/',
        COSTBOOK_STORAGE_ENDPOINT: 'https://s3.example.com',
        COSTBOOK_STORAGE_REGION: 'eu-central-1',
        COSTBOOK_STORAGE_PATH_STYLE: 'true',
        COSTBOOK_STORAGE_SERVER_SIDE_ENCRYPTION: 'aws:kms',
        COSTBOOK_STORAGE_KMS_KEY_ID: 'alias/costs',
        COSTBOOK_STORAGE_TIMEOUT: '2m',
        COSTBOOK_FOCUS_PROVIDER: 'Acme',
        COSTBOOK_FOCUS_ACCOUNT_NAME: 'Ours',
        COSTBOOK_ALERTS_GIVE_UP_DAYS: '30',
        COSTBOOK_ALERTS_SEVERITY: 'unproven=warning, run=info',
        COSTBOOK_ALERTS_PROJECT: 'acme',
        COSTBOOK_SERVE_USER_HEADER: 'X-Forwarded-User',
        COSTBOOK_SERVE_GROUPS_HEADER: 'X-Groups',
        COSTBOOK_DASHBOARD_URL: 'https://costs.example.com/',
        COSTBOOK_API_VERSION: '2026-04-28.preview',
        COSTBOOK_AUTHORIZATION_HEADER: 'X-Service-Authorization',
        COSTBOOK_VERSION_HEADER: 'X-Version',
        COSTBOOK_WORKSPACE_HEADER: 'X-Workspace',
        COSTBOOK_THREAD_HEADER: 'X-Thread',
        COSTBOOK_INFERENCE_URL: 'https://run.example.com/',
        COSTBOOK_SANDBOX_URL: 'https://sbx-{sandbox}-{workspace}.{region}.example.com/',
        COSTBOOK_FILE_MODE: '0640',
      }),
    ).toEqual({
      accounts: [
        {
          id: 'acc_1',
          name: undefined,
          url: 'http://127.0.0.1:8080/base',
          token: { kind: 'command', command: 'pass show platform' },
          tokenSetting: 'COSTBOOK_TOKEN_COMMAND',
          since: Date.parse('2026-10-29T00:00:00Z'),
        },
      ],
      concurrency: 8,
      maxRequestsPerMinute: 60,
      settleDays: 0,
      closeAfterDays: 10,
      lagHours: 72,
      freshnessHours: 48,
      verifyDays: 0,
      deepVerifyPages: 10,
      calendar: { dates: ['2026-12-25'], files: ['holidays.ics'] },
      proofTolerance: '0.005',
      landing: {
        ...{ keep: 'all', keepDays: 730 },
        archive: { bucket: 'finance', prefix: 'landing', url: 's3://finance/landing' },
      },
      exportsTo: { bucket: 'finance', prefix: 'costs', url: 's3://finance/costs' },
      storage: {
        ...{ endpoint: 'https://s3.example.com', region: 'eu-central-1', pathStyle: true, timeoutMs: 120_000 },
        ...{ serverSideEncryption: 'aws:kms', kmsKeyId: 'alias/costs' },
      },
      focus: { provider: 'Acme', accountName: 'Ours' },
      sinks: [],
      subscriptions: [],
      alerts: { notify: [], giveUpDays: 30, severity: { unproven: 'warning', run: 'info' }, project: 'acme' },
      apiVersion: '2026-04-28.preview',
      authorizationHeader: 'X-Service-Authorization',
      versionHeader: 'X-Version',
      workspaceHeader: 'X-Workspace',
      threadHeader: 'X-Thread',
      headers: {},
      inferenceUrl: 'https://run.example.com',
      sandboxUrl: 'https://sbx-{sandbox}-{workspace}.{region}.example.com',
      serve: { hosts: [], tokens: [], ...noProvider, userHeader: 'X-Forwarded-User', groupsHeader: 'X-Groups' },
      dashboardUrl: 'https://costs.example.com',
      fileMode: 0o640,
    });
  });

  test.each([
    ['0600', 0o600],
    ['640', 0o640],
    ['"0644"', 0o644],
    ['0666', 0o666],
  ])('fileMode: %s is a mode', (text, mode) => {
    expect(parse(`url: http://127.0.0.1\ntoken: tok-1234\nfileMode: ${text}\n`).fileMode).toBe(mode);
  });

  test.each(['0777', '0400', '0o640', 'rw', '0650', '1600'])('fileMode: %s is refused', (text) => {
    expect(problems(`fileMode: ${text}\n`)).toContain('expected a file mode such as 0600, 0640 or 0644');
  });

  test.each([
    [0o600, 0o077],
    [0o640, 0o027],
    [0o660, 0o007],
    [0o644, 0o022],
  ])('mode %o gives a umask under which folders get x where files have r', (mode, umask) => {
    expect(umaskOf(mode)).toBe(umask);
  });

  test('the variables are named after their keys', () => {
    expect(Object.fromEntries(configVariables)).toMatchInlineSnapshot(`
      {
        "COSTBOOK_ACCOUNT": "account",
        "COSTBOOK_ALERTS_GIVE_UP_DAYS": "alerts.giveUpDays",
        "COSTBOOK_ALERTS_NOTIFY": "alerts.notify",
        "COSTBOOK_ALERTS_PROJECT": "alerts.project",
        "COSTBOOK_ALERTS_SEVERITY": "alerts.severity",
        "COSTBOOK_API_VERSION": "apiVersion",
        "COSTBOOK_AUTHORIZATION_HEADER": "authorizationHeader",
        "COSTBOOK_CALENDAR": "calendar",
        "COSTBOOK_CLOSE_AFTER_DAYS": "closeAfterDays",
        "COSTBOOK_CLOSING_INVOICE_DAYS": "closing.invoiceDays",
        "COSTBOOK_CONCURRENCY": "concurrency",
        "COSTBOOK_DASHBOARD_URL": "dashboardUrl",
        "COSTBOOK_DEEP_VERIFY_PAGES": "deepVerifyPages",
        "COSTBOOK_EXPORTS_TO": "exports.to",
        "COSTBOOK_FILE_MODE": "fileMode",
        "COSTBOOK_FOCUS_ACCOUNT_NAME": "focus.accountName",
        "COSTBOOK_FOCUS_PROVIDER": "focus.provider",
        "COSTBOOK_FRESHNESS": "freshness",
        "COSTBOOK_INFERENCE_URL": "inferenceUrl",
        "COSTBOOK_INVENTORY": "inventory",
        "COSTBOOK_LAG_HOURS": "lagHours",
        "COSTBOOK_LANDING_ARCHIVE": "landing.archive",
        "COSTBOOK_LANDING_KEEP": "landing.keep",
        "COSTBOOK_LANDING_KEEP_DAYS": "landing.keepDays",
        "COSTBOOK_MAX_REQUESTS_PER_MINUTE": "maxRequestsPerMinute",
        "COSTBOOK_PROOF_TOLERANCE": "proof.tolerance",
        "COSTBOOK_SANDBOX_URL": "sandboxUrl",
        "COSTBOOK_SERVE_GROUPS_HEADER": "serve.groupsHeader",
        "COSTBOOK_SERVE_USER_HEADER": "serve.userHeader",
        "COSTBOOK_SETTLE_DAYS": "settleDays",
        "COSTBOOK_SINCE": "since",
        "COSTBOOK_STORAGE_ENDPOINT": "storage.endpoint",
        "COSTBOOK_STORAGE_KMS_KEY_ID": "storage.kmsKeyId",
        "COSTBOOK_STORAGE_PATH_STYLE": "storage.pathStyle",
        "COSTBOOK_STORAGE_REGION": "storage.region",
        "COSTBOOK_STORAGE_SERVER_SIDE_ENCRYPTION": "storage.serverSideEncryption",
        "COSTBOOK_STORAGE_TIMEOUT": "storage.timeout",
        "COSTBOOK_THREAD_HEADER": "threadHeader",
        "COSTBOOK_TOKEN": "token",
        "COSTBOOK_TOKEN_COMMAND": "tokenCommand",
        "COSTBOOK_TOKEN_FILE": "tokenFile",
        "COSTBOOK_URL": "url",
        "COSTBOOK_VERIFY_DAYS": "verifyDays",
        "COSTBOOK_VERSION_HEADER": "versionHeader",
        "COSTBOOK_WORKSPACE_HEADER": "workspaceHeader",
      }
    `);
  });

  test('the short form describes one account', () => {
    const config = parse('account: acc_1\nurl: https://x.example/\ntokenFile: secrets/token\nsince: 2026-10\n');
    expect(config.accounts).toEqual([
      {
        id: 'acc_1',
        name: undefined,
        url: 'https://x.example',
        token: { kind: 'file', path: '/books/secrets/token' },
        tokenSetting: 'tokenFile (/books/costbook.yaml:3:12)',
        since: Date.parse('2026-10-01T00:00:00Z'),
      },
    ]);
  });

  test('an absolute tokenFile is not changed', () => {
    expect(parse('tokenFile: /run/token', { COSTBOOK_URL: 'https://x.example' }).accounts[0]?.token).toEqual({
      kind: 'file',
      path: '/run/token',
    });
  });

  test("an entry's keys override those of the top level, and its token source replaces the other completely", () => {
    const { accounts } = parse(`
url: https://top.example
tokenCommand: show top
since: 2026-09
accounts:
  - id: a
  - { id: b, name: Labs, url: https://b.example, token: tok-of-b, since: 2026-10 }
`);
    expect(accounts).toEqual([
      {
        id: 'a',
        name: undefined,
        url: 'https://top.example',
        token: { kind: 'command', command: 'show top' },
        tokenSetting: 'tokenCommand (/books/costbook.yaml:3:15)',
        since: Date.parse('2026-09-01T00:00:00Z'),
      },
      {
        id: 'b',
        name: 'Labs',
        url: 'https://b.example',
        token: { kind: 'value', value: 'tok-of-b' },
        tokenSetting: 'token (/books/costbook.yaml:7:57)',
        since: Date.parse('2026-10-01T00:00:00Z'),
      },
    ]);
  });

  test('the FOCUS names are grouped, and one account name needs one account', () => {
    const two = `
accounts:
  - { id: a, token: tok-of-a }
  - { id: b, token: tok-of-b }
focus:
  accountName: Ours
`;
    const { focus } = parse('focus: { provider: "Acme", accountName: Ours }', reach);
    expect(focus).toEqual({ provider: 'Acme', accountName: 'Ours' });
    const url = { COSTBOOK_URL: 'https://api.example.com', COSTBOOK_ACCOUNT: 'a' };
    expect(problems(two, url)).toMatchInlineSnapshot(`
      "costbook.yaml:4:5: account "b": found no url, expected the platform's address; write url in this entry or at the top level, or set COSTBOOK_ACCOUNT to "b" and COSTBOOK_URL
      costbook.yaml:6:16: focus.accountName: found one name for 2 accounts, expected one for each; remove it and write name in their entries"
    `);
    expect(
      problems(two.slice(0, two.indexOf('focus')), { ...url, COSTBOOK_FOCUS_ACCOUNT_NAME: 'Ours' }),
    ).toMatchInlineSnapshot(`
      "costbook.yaml:4:5: account "b": found no url, expected the platform's address; write url in this entry or at the top level, or set COSTBOOK_ACCOUNT to "b" and COSTBOOK_URL
      COSTBOOK_FOCUS_ACCOUNT_NAME: found one name for 2 accounts, expected one for each; remove it and write name in their entries"
    `);
    expect(problems('focus:\n  provider: ""\n  accountname: x\n  region: eu\n', reach)).toMatchInlineSnapshot(`
      "costbook.yaml:2:13: focus.provider: found an empty text, expected a value; write one or remove the key
      costbook.yaml:3:3: unknown key "accountname"; did you mean accountName? rename or remove it
      costbook.yaml:4:3: unknown key "region"; it belongs to storage; move it there"
    `);
    expect(problems('provider: Acme', reach)).toMatchInlineSnapshot(
      `"costbook.yaml:1:1: unknown key "provider"; it belongs to focus; move it there"`,
    );
  });

  test('related settings are grouped', () => {
    expect(parse('proof: { tolerance: 0.01 }\nlanding:\n  keep: all\n  keepDays: 30\n', reach)).toMatchObject({
      proofTolerance: '0.01',
      landing: { keep: 'all', keepDays: 30 },
    });
    expect(parse('landing: { keepDays: 30 }', { ...reach, COSTBOOK_LANDING_KEEP: 'all' }).landing).toMatchObject({
      keep: 'all',
      keepDays: 30,
    });
    expect(parse('landing: { keep: all }', { ...reach, COSTBOOK_LANDING_KEEP: 'changed' }).landing.keep).toBe(
      'changed',
    );
  });

  test.each([
    ['0', '0'],
    ['0.0', '0'],
    ['-0', '0'],
    ['5', '5'],
    ['.5', '0.5'],
    ['1e-6', '0.000001'],
    ['0.000000000001', '0.000000000001'],
    ['"0.50"', '0.50'],
    ['"0.30000000000"', '0.30000000000'],
    ['${CENT}', '0.01'],
    ['999999', '999999'],
  ])('a tolerance of %s is %s USD', (written, usd) => {
    expect(parse(`proof:\n  tolerance: ${written}\n`, { ...reach, CENT: '0.01' }).proofTolerance).toBe(usd);
  });

  test('a single entry needs no id', () => {
    expect(parse('accounts:\n  - name: Main\n', reach).accounts).toMatchObject([{ id: undefined, name: 'Main' }]);
  });

  test('references are replaced, also inside a text, and $${ becomes ${', () => {
    const config = parse('url: https://${HOST}/v1\ntokenCommand: echo $${T} ${T}\nlagHours: ${LAG}\n', {
      HOST: 'x.example',
      T: 'one',
      LAG: '5',
    });
    expect(config.accounts[0]?.url).toBe('https://x.example/v1');
    expect(config.accounts[0]?.token).toEqual({ kind: 'command', command: 'echo ${T} one' });
    expect(config.lagHours).toBe(5);
  });

  test('a value of the environment is not expanded', () => {
    expect(parse('', { ...reach, COSTBOOK_TOKEN: 'tok-${X}' }).accounts[0]?.token).toEqual({
      kind: 'value',
      value: 'tok-${X}',
    });
  });

  test('an alias of a single value is resolved', () => {
    expect(parse('url: &u https://x.example\naccounts: [{ id: a, url: *u, token: tok-1 }]').accounts[0]?.url).toBe(
      'https://x.example',
    );
  });

  test.each(['', '\n', '# nothing\n', '---\n', '~', '\ufeff# nothing\n'])('%j is read as an empty file', (text) => {
    expect(parse(text, reach).concurrency).toBe(4);
  });

  test('the example file is valid', () => {
    const text = readFileSync(example, 'utf8');
    const config = parse(text, { PLATFORM_TOKEN: 'tok-1' });
    expect(config.accounts.map(({ id, token }) => [id, token.kind])).toEqual([
      ['acc_main', 'value'],
      ['acc_labs', 'file'],
    ]);
  });

  test('the example file shows every key and every variable', () => {
    const text = readFileSync(example, 'utf8');
    const keys = [...text.matchAll(/^[# -]*([a-zA-Z]+):/gm)].map((match) => match[1]);
    expect(keys).toEqual(
      expect.arrayContaining([
        ...[...configVariables.values()].flatMap((key) => key.split('.')),
        'accounts',
        'id',
        'name',
      ]),
    );
    for (const variable of configVariables.keys()) expect(text).toContain(variable);
  });
});

describe('parseConfig: environment before file before default, key by key', () => {
  const text = 'url: https://file.example\ntokenFile: token\nconcurrency: 6\nsettleDays: 5\n';

  test('the file beats the defaults', () => {
    expect(parse(text)).toMatchObject({ concurrency: 6, settleDays: 5, lagHours: 2 });
  });

  test('the environment beats the file', () => {
    expect(parse(text, { COSTBOOK_CONCURRENCY: '7', COSTBOOK_URL: 'https://env.example' })).toMatchObject({
      concurrency: 7,
      settleDays: 5,
      accounts: [{ url: 'https://env.example', token: { kind: 'file' } }],
    });
  });

  test('an empty variable counts as unset', () => {
    expect(parse(text, { COSTBOOK_CONCURRENCY: '', COSTBOOK_NONSENSE: '' }).concurrency).toBe(6);
  });

  test('a token source in the environment replaces any kind in the file', () => {
    expect(parse(text, { COSTBOOK_TOKEN: 'tok-env' }).accounts[0]?.token).toEqual({ kind: 'value', value: 'tok-env' });
  });

  test('an overridden value is not read: neither an unset reference nor a wrong value fails', () => {
    const broken =
      'url: ${NOWHERE}\ntoken: ${NOBODY}\ntokenFile: x\nsince: never\nconcurrency: many\naccount: ${NONE}\n';
    const env = { ...reach, COSTBOOK_SINCE: '2026-10', COSTBOOK_CONCURRENCY: '2', COSTBOOK_ACCOUNT: 'a' };
    expect(parse(broken, env)).toMatchObject({
      concurrency: 2,
      accounts: [{ id: 'a', url: 'https://api.example.com' }],
    });
  });

  test('a single list entry is overridden like the short form', () => {
    expect(
      parse('accounts: [{ id: a, name: Main, url: "${NOWHERE}", token: "${NOBODY}" }]', {
        ...reach,
        COSTBOOK_ACCOUNT: 'b',
      }).accounts,
    ).toMatchObject([{ id: 'b', name: 'Main', url: 'https://api.example.com', token: { value: 'tok-from-env' } }]);
  });

  test('variables of the command line are accepted', () => {
    const env = { COSTBOOK_DIR: 'x', COSTBOOK_NOW: 'x', COSTBOOK_JSON: 'x', COSTBOOK_LOG_FORMAT: 'x' };
    expect(parse('', { ...reach, ...env }).concurrency).toBe(4);
  });

  test('a COSTBOOK_ variable that the file refers to is not reported as misspelled', () => {
    expect(
      parse('token: ${COSTBOOK_TOKEN_OF_LABS}\nurl: https://x.example', { COSTBOOK_TOKEN_OF_LABS: 'tok-labs' })
        .accounts[0]?.token,
    ).toEqual({ kind: 'value', value: 'tok-labs' });
  });
});

describe('parseConfig: several accounts and the environment', () => {
  const text = `url: https://top.example
accounts:
  - { id: a, token: tok-of-a }
  - { id: b, token: "\${TOKEN_OF_B}" }
`;

  test('COSTBOOK_ACCOUNT selects the account whose keys are overridden', () => {
    const env = { ...reach, COSTBOOK_ACCOUNT: 'b', COSTBOOK_SINCE: '2026-10' };
    expect(parse(text, env).accounts).toMatchObject([
      { id: 'a', url: 'https://top.example', token: { value: 'tok-of-a' }, since: undefined },
      { id: 'b', url: 'https://api.example.com', token: { value: 'tok-from-env' } },
    ]);
  });

  test('account variables without COSTBOOK_ACCOUNT are refused', () => {
    expect(problems(text, { ...reach, TOKEN_OF_B: 'tok-of-b' })).toMatchInlineSnapshot(`
      "COSTBOOK_URL: found a value, but costbook.yaml lists 2 accounts; set COSTBOOK_ACCOUNT to the account that it is for ("a" or "b"), or unset it
      COSTBOOK_TOKEN: found a value, but costbook.yaml lists 2 accounts; set COSTBOOK_ACCOUNT to the account that it is for ("a" or "b"), or unset it"
    `);
  });

  test('COSTBOOK_ACCOUNT must name a listed account', () => {
    expect(problems(text, { ...reach, COSTBOOK_ACCOUNT: 'c', TOKEN_OF_B: 'tok-of-b' })).toMatchInlineSnapshot(
      `"COSTBOOK_ACCOUNT: found "c", expected an account of costbook.yaml: "a" or "b""`,
    );
  });

  test('COSTBOOK_ACCOUNT alone changes nothing', () => {
    expect(parse(text, { COSTBOOK_ACCOUNT: 'b', TOKEN_OF_B: 'tok-of-b' })).toEqual(
      parse(text, { TOKEN_OF_B: 'tok-of-b' }),
    );
  });

  test('variables that concern no account need no COSTBOOK_ACCOUNT', () => {
    expect(parse(text, { TOKEN_OF_B: 'tok-of-b', COSTBOOK_LAG_HOURS: '9' }).lagHours).toBe(9);
  });

  test('each account needs its own id, a url and a token', () => {
    expect(
      problems('accounts:\n  - id: a\n    token: tok-of-a\n  - id: a\n    url: https://x.example\n  - name: Labs\n'),
    ).toMatchInlineSnapshot(`
      "costbook.yaml:2:5: account "a": found no url, expected the platform's address; write url in this entry or at the top level, or set COSTBOOK_ACCOUNT to "a" and COSTBOOK_URL
      costbook.yaml:4:5: account "a": found no token, expected one source of it; write token, tokenFile, tokenCommand or oauth in this entry or at the top level, or set COSTBOOK_ACCOUNT to "a" and COSTBOOK_TOKEN, COSTBOOK_TOKEN_FILE or COSTBOOK_TOKEN_COMMAND
      costbook.yaml:4:9: id: found "a" a second time, first on line 2; keep one
      costbook.yaml:6:5: found no url, expected the platform's address; write url in this entry or at the top level, or set COSTBOOK_ACCOUNT to its id and COSTBOOK_URL
      costbook.yaml:6:5: found no token, expected one source of it; write token, tokenFile, tokenCommand or oauth in this entry or at the top level, or set COSTBOOK_ACCOUNT to its id and COSTBOOK_TOKEN, COSTBOOK_TOKEN_FILE or COSTBOOK_TOKEN_COMMAND
      costbook.yaml:6:5: found no id, expected one in every entry of accounts; add id to this entry"
    `);
  });
});

describe('parseConfig: every mistake at once', () => {
  test('five mistakes are five lines, by position, then the environment', () => {
    expect(
      problems(
        `url: ftp://x.example
token: tok-1234
concurency: 4
settleDays: 400
since: 2026-10-01T00:30:00Z
accounts: everybody
`,
        { COSTBOOK_LAG_HOURS: 'two', COSTBOOK_TOKNE: 'tok-5678' },
      ),
    ).toMatchInlineSnapshot(`
      "costbook.yaml:1:6: url: found no http or https address, expected one such as https://api.example.com
      costbook.yaml:3:1: unknown key "concurency"; did you mean concurrency? rename or remove it
      costbook.yaml:4:13: settleDays: found 400, expected a whole number from 0 to 90
      costbook.yaml:5:8: since: found "2026-10-01T00:30:00Z", expected a whole hour of UTC; write 2026-10-01T00:00:00Z
      costbook.yaml:6:11: accounts: found a text, expected a list with an entry such as - id: …; write one or remove it
      COSTBOOK_TOKNE: unknown variable; did you mean COSTBOOK_TOKEN? rename or unset it
      COSTBOOK_LAG_HOURS: found "two", expected a whole number from 0 to 72"
    `);
  });

  test('a missing setting is reported with all ways to set it', () => {
    expect(problems('')).toMatchInlineSnapshot(`
      "costbook.yaml: found no url, expected the platform's address; write url in costbook.yaml, or set COSTBOOK_URL
      costbook.yaml: found no token, expected one source of it; write token, tokenFile, tokenCommand or oauth in costbook.yaml, or set COSTBOOK_TOKEN, COSTBOOK_TOKEN_FILE or COSTBOOK_TOKEN_COMMAND"
    `);
  });

  test('a misspelled key is reported with the right one, in any case and with any dashes', () => {
    expect(
      problems(
        'token_file: x\nlag-hours: 1\ntokne: tok-1234\ncolour: red\nid: a\naccounts: [{ lagHours: 1 }]\n',
        reach,
      ),
    ).toMatchInlineSnapshot(`
      "costbook.yaml:1:1: unknown key "token_file"; did you mean tokenFile? rename or remove it
      costbook.yaml:2:1: unknown key "lag-hours"; did you mean lagHours? rename or remove it
      costbook.yaml:3:1: unknown key "tokne"; did you mean token? rename or remove it
      costbook.yaml:4:1: unknown key "colour"; expected one of accounts, account, url, token, tokenFile, tokenCommand, oauth, since, concurrency, maxRequestsPerMinute, settleDays, closeAfterDays, lagHours, freshness, verifyDays, deepVerifyPages, inventory, calendar, apiVersion, authorizationHeader or 20 more
      costbook.yaml:5:1: unknown key "id"; it belongs to an entry of accounts; move it there
      costbook.yaml:6:14: unknown key "lagHours"; it belongs to the top level; move it there"
    `);
  });

  test('a misspelled variable is reported with the right one, without its value', () => {
    expect(
      problems('', { ...reach, COSTBOOK_TOKNE: 'tok-1234', COSTBOOK_ACOUNT: 'a', COSTBOOK_COLOUR: 'red' }),
    ).toMatchInlineSnapshot(`
      "COSTBOOK_TOKNE: unknown variable; did you mean COSTBOOK_TOKEN? rename or unset it
      COSTBOOK_ACOUNT: unknown variable; did you mean COSTBOOK_ACCOUNT? rename or unset it
      COSTBOOK_COLOUR: unknown variable; Costbook has no such setting; rename or unset it"
    `);
  });

  test('a repeated key is refused', () => {
    expect(
      problems(
        'lagHours: 1\nlagHours: 2\naccounts:\n  - id: a\n    id: b\n    token: tok-1234\n    token: tok-5678\n',
        {
          COSTBOOK_URL: 'https://x.example',
        },
      ),
    ).toMatchInlineSnapshot(`
      "costbook.yaml:2:1: lagHours: found a second time, first on line 1; keep one
      costbook.yaml:5:5: id: found a second time, first on line 4; keep one
      costbook.yaml:7:5: token: found a second time, first on line 6; keep one"
    `);
  });

  test('broken YAML is reported by position, without its content', () => {
    expect(problems('url: "https://x.example\ntoken: tok-1234\n', reach)).toMatchInlineSnapshot(
      `"costbook.yaml:3:1: YAML: found no closing quote, bracket, comma or colon, expected one here or in a line above; add it"`,
    );
    expect(problems('url: https://x.example\n\ttoken: tok-1234\n', reach)).toMatchInlineSnapshot(
      `"costbook.yaml:2:1: YAML: found a tab as indentation, expected spaces; replace it"`,
    );
    expect(problems('token tok-1234\nurl: x\n', reach)).toMatchInlineSnapshot(
      `"costbook.yaml:1:1: YAML: found a line without a colon, expected key: value"`,
    );
    expect(problems('url: a: b\n', reach)).toMatchInlineSnapshot(
      `"costbook.yaml:1:6: YAML: found a second colon in one line, expected one key and its value; put the value in quotes"`,
    );
    expect(problems('accounts: [{ token: ${TOKEN} }]\n', reach)).toMatchInlineSnapshot(
      `"costbook.yaml:1:22: YAML: found something that YAML does not allow here; put the value in quotes or correct the line (a reference \${NAME} inside [ ] or { } needs quotes)"`,
    );
    expect(problems('token: !secret tok-1234\n', reach)).toMatchInlineSnapshot(
      `"costbook.yaml:1:8: YAML: found an unknown tag (!); remove it, or put the value in quotes"`,
    );
    expect(problems('lagHours: 1\n---\nlagHours: 2\n', reach)).toMatchInlineSnapshot(
      `"costbook.yaml:2:1: YAML: found a second document (---), expected one; remove it"`,
    );
  });

  test('broken YAML does not hide the mistakes of the environment, nor invent missing keys', () => {
    expect(problems('url: "x', { COSTBOOK_CONCURRENCY: '0' })).toMatchInlineSnapshot(`
      "costbook.yaml:1:8: YAML: found no closing quote, bracket, comma or colon, expected one here or in a line above; add it
      COSTBOOK_CONCURRENCY: found "0", expected a whole number from 1 to 32"
    `);
  });

  test('a file that is not a mapping is reported as what it is', () => {
    expect(problems('just some words\n', reach)).toMatchInlineSnapshot(
      `"costbook.yaml:1:1: found a text, expected keys, such as url: https://…"`,
    );
    expect(problems('- id: a\n', reach)).toMatchInlineSnapshot(
      `"costbook.yaml:1:1: found a list, expected keys, such as url: https://…"`,
    );
  });

  test('aliases of lists and mappings are refused, because they could expand without limit', () => {
    const levels = Array.from({ length: 8 }, (_, level) => {
      const inner = level === 0 ? '"lol"' : `*l${level - 1}`;
      return `  l${level}: &l${level} [${Array(9).fill(inner).join(', ')}]`;
    });
    expect(problems(`x:\n${levels.join('\n')}\naccounts: *l7\n`, reach)).toMatchInlineSnapshot(`
      "costbook.yaml:1:1: unknown key "x"; expected one of accounts, account, url, token, tokenFile, tokenCommand, oauth, since, concurrency, maxRequestsPerMinute, settleDays, closeAfterDays, lagHours, freshness, verifyDays, deepVerifyPages, inventory, calendar, apiVersion, authorizationHeader or 20 more
      costbook.yaml:10:11: accounts: found an alias of a list, expected a value, or an alias of a single value; write it out"
    `);
  });

  test('more than a hundred aliases are refused', () => {
    const text = `url: &u https://x.example\naccounts: [${'{ id: a, url: *u }, '.repeat(101)}]\n`;
    expect(problems(text, reach)).toMatchInlineSnapshot(
      `"costbook.yaml:2:2026: found 101 aliases, expected at most 100; write the values out"`,
    );
  });

  test('an alias without an anchor is reported', () => {
    expect(problems('url: *tok-1234\nsince: &s 2026-10\n', reach)).toMatchInlineSnapshot(
      `"costbook.yaml:1:6: url: found an alias of an anchor that is not defined above, expected a value, or an alias of a single value; write it out"`,
    );
    expect(problems('lagHours: *late\nsettleDays: &late 3\n', reach)).toMatchInlineSnapshot(
      `"costbook.yaml:1:11: lagHours: found an alias of an anchor that is not defined above, expected a value, or an alias of a single value; write it out"`,
    );
    expect(problems('&all\naccounts: *all\n', reach)).toMatchInlineSnapshot(
      `"costbook.yaml:2:11: accounts: found an alias of a mapping, expected a value, or an alias of a single value; write it out"`,
    );
  });

  test.each([
    ['lists in a line', '['.repeat(100_000)],
    ['lists on lines of their own', '[\n'.repeat(100_000)],
    ['dashes', '- '.repeat(100_000)],
    ['mappings', '{a: '.repeat(100_000)],
    ['question marks', '? '.repeat(100_000)],
  ])('endless nesting is refused before anything recurses: %s', (_, text) => {
    expect(problems(text, reach)).toContain('found more than 32 levels of nesting');
  });

  test('__proto__ and similar names are ordinary keys', () => {
    expect(
      problems('__proto__: { url: x }\nconstructor: x\naccounts: [{ toString: x }]\n', reach),
    ).toMatchInlineSnapshot(`
      "costbook.yaml:1:1: unknown key "__proto__"; did you mean proof? rename or remove it
      costbook.yaml:2:1: unknown key "constructor"; expected one of accounts, account, url, token, tokenFile, tokenCommand, oauth, since, concurrency, maxRequestsPerMinute, settleDays, closeAfterDays, lagHours, freshness, verifyDays, deepVerifyPages, inventory, calendar, apiVersion, authorizationHeader or 20 more
      costbook.yaml:3:14: unknown key "toString"; expected one of id, name, inventory, url, token, tokenFile, tokenCommand, oauth or since"
    `);
    expect(problems('account: ${__proto__}\nsince: ${constructor}\n', reach)).toMatchInlineSnapshot(`
      "costbook.yaml:1:10: account: found \${__proto__}, which is not set, expected an environment variable; set __proto__
      costbook.yaml:2:8: since: found \${constructor}, which is not set, expected an environment variable; set constructor"
    `);
    expect({}).not.toHaveProperty('url');
  });

  test('a wrong type is reported, without its value if that may be a token', () => {
    expect(
      problems(`account: 4711
url: [https://x.example]
token: 12345678
since: 2026
concurrency: 4.5
maxRequestsPerMinute: lots
settleDays: true
lagHours: { a: 1 }
apiVersion: 2026-02-30
authorizationHeader: "Author ization"
versionHeader:
`),
    ).toMatchInlineSnapshot(`
      "costbook.yaml:1:10: account: found a number, expected a text; put it in quotes
      costbook.yaml:2:6: url: found a list, expected a text; write one
      costbook.yaml:3:8: token: found a number, expected a text; put it in quotes
      costbook.yaml:4:8: since: found a number, expected a text; put it in quotes
      costbook.yaml:5:14: concurrency: found 4.5, expected a whole number from 1 to 32
      costbook.yaml:6:23: maxRequestsPerMinute: found "lots", expected a whole number from 1
      costbook.yaml:7:13: settleDays: found true, expected a whole number from 0 to 90
      costbook.yaml:8:11: lagHours: found a mapping, expected a whole number from 0 to 72
      costbook.yaml:9:13: apiVersion: found "2026-02-30", expected a version such as 2026-04-16 or 2026-04-28.preview
      costbook.yaml:10:22: authorizationHeader: found "Author ization", expected the name of an HTTP header: letters, digits and -
      costbook.yaml:11:1: versionHeader: found nothing, expected a text; write one"
    `);
  });

  test('invalid settings of verification, reconciliation and storage are reported with their place', () => {
    expect(
      problems(
        `verifyDays: -1
deepVerifyPages: 1.5
proof: { tolerance: -0.01 }
landing:
  keep: chnaged
  keepDays: 0
`,
        reach,
      ),
    ).toMatchInlineSnapshot(`
      "costbook.yaml:1:13: verifyDays: found -1, expected a whole number from 0 to 36500
      costbook.yaml:2:18: deepVerifyPages: found 1.5, expected a whole number from 0
      costbook.yaml:3:21: proof.tolerance: found -0.01, expected USD such as 0.01: from 0 to 999999, with at most 12 decimals
      costbook.yaml:5:9: landing.keep: found "chnaged", expected changed or all; did you mean changed?
      costbook.yaml:6:13: landing.keepDays: found 0, expected a whole number from 1 to 36500"
    `);
    expect(problems('landing: all\nproof:\n', reach)).toMatchInlineSnapshot(`
      "costbook.yaml:1:10: landing: found a text, expected a key such as keep: all; write one or remove it
      costbook.yaml:2:1: proof: found nothing, expected a key such as tolerance: 0.01; write one or remove it"
    `);
    expect(
      problems('landing: { keeep: all, tolerance: 1, url: x, keep: some, keep: all }\nkeepDays: 5\nprof: 1\n', reach),
    ).toMatchInlineSnapshot(`
      "costbook.yaml:1:12: unknown key "keeep"; did you mean keep? rename or remove it
      costbook.yaml:1:24: unknown key "tolerance"; it belongs to proof; move it there
      costbook.yaml:1:38: unknown key "url"; it belongs to the top level; move it there
      costbook.yaml:1:52: landing.keep: found "some", expected changed or all
      costbook.yaml:1:58: keep: found a second time, first on line 1; keep one
      costbook.yaml:2:1: unknown key "keepDays"; it belongs to landing; move it there
      costbook.yaml:3:1: unknown key "prof"; did you mean proof? rename or remove it"
    `);
    expect(
      problems('', { ...reach, COSTBOOK_LANDING_KEEPDAYS: '5', COSTBOOK_TOLERANCE: '1', COSTBOOK_LANDING_KEEP: 'ALL' }),
    ).toMatchInlineSnapshot(`
      "COSTBOOK_LANDING_KEEPDAYS: unknown variable; did you mean COSTBOOK_LANDING_KEEP_DAYS? rename or unset it
      COSTBOOK_TOLERANCE: unknown variable; Costbook has no such setting; rename or unset it
      COSTBOOK_LANDING_KEEP: found "ALL", expected changed or all; did you mean all?"
    `);
  });

  test.each([
    '1e-13',
    '0.0000000000001',
    '1000000',
    '1e30',
    '.inf',
    '.nan',
    '"1e-3"',
    '"-1"',
    '"01"',
    '1 USD',
    'true',
    '[1]',
    '~',
  ])('a tolerance of %s is refused', (written) => {
    expect(problems(`proof:\n  tolerance: ${written}\n`, reach)).toMatch(
      /^costbook\.yaml:2:\d+: proof\.tolerance: found .*, expected USD such as 0\.01: from 0 to 999999, with at most 12 decimals$/,
    );
  });

  test('accounts must be a list of mappings', () => {
    expect(problems('accounts:\n', reach)).toMatchInlineSnapshot(
      `"costbook.yaml:1:1: accounts: found nothing, expected a list with an entry such as - id: …; write one or remove it"`,
    );
    expect(problems('accounts: []\n', reach)).toMatchInlineSnapshot(
      `"costbook.yaml:1:11: accounts: found an empty list, expected a list with an entry such as - id: …; write one or remove it"`,
    );
    expect(problems('accounts: { id: a }\n', reach)).toMatchInlineSnapshot(
      `"costbook.yaml:1:11: accounts: found a mapping, expected a list with an entry such as - id: …; write one or remove it"`,
    );
    expect(problems('accounts: [acc_1, [], null]\n', reach)).toMatchInlineSnapshot(`
      "costbook.yaml:1:12: accounts: found a text, expected an entry such as - id: …
      costbook.yaml:1:19: accounts: found a list, expected an entry such as - id: …
      costbook.yaml:1:23: accounts: found nothing, expected an entry such as - id: …"
    `);
    expect(problems('account: a\naccounts: [{ id: b }]\n', reach)).toMatchInlineSnapshot(
      `"costbook.yaml:1:10: account: found both account and accounts, expected only one of them; move it into the list, as an id"`,
    );
  });

  test('a key that is not text is reported', () => {
    expect(problems('5: 1\n', reach)).toMatchInlineSnapshot(
      `"costbook.yaml:1:1: found a number as a key, expected one of accounts, account, url, token, tokenFile, tokenCommand, oauth, since, concurrency, maxRequestsPerMinute, settleDays, closeAfterDays, lagHours, freshness, verifyDays, deepVerifyPages, inventory, calendar, apiVersion, authorizationHeader or 20 more"`,
    );
    expect(problems('? [tok-1234]\n: 1\n', reach)).toContain('1:3: found a list as a key, expected one of accounts,');
  });

  test('a reference to an unset or empty variable is reported with its place', () => {
    expect(
      problems('url: https://${HOST}/${BASE}\ntoken: ${TOKEN}\nlagHours: "${"\nsettleDays: ${1+1}\n', {
        TOKEN: '',
        BASE: 'v1',
      }),
    ).toMatchInlineSnapshot(`
      "costbook.yaml:1:6: url: found \${HOST}, which is not set, expected an environment variable; set HOST
      costbook.yaml:2:8: token: found \${TOKEN}, which is empty, expected an environment variable; set TOKEN
      costbook.yaml:3:11: lagHours: found \${ without a variable name and } after it, expected \${NAME}; write $\${ for the text itself
      costbook.yaml:4:13: settleDays: found \${ without a variable name and } after it, expected \${NAME}; write $\${ for the text itself"
    `);
  });

  test('a second token source on one level is refused', () => {
    expect(
      problems('url: https://x.example\ntoken: tok-1234\naccounts: [{ id: a, tokenFile: x, tokenCommand: y }]\n'),
    ).toMatchInlineSnapshot(
      `"costbook.yaml:3:49: tokenCommand: found together with tokenFile, expected only one token source; remove one of them"`,
    );
    expect(problems('token: tok-1234\ntokenCommand: x\nurl: https://x.example\n')).toMatchInlineSnapshot(
      `"costbook.yaml:2:15: tokenCommand: found together with token, expected only one token source; remove one of them"`,
    );
    expect(problems('', { ...reach, COSTBOOK_TOKEN_FILE: 'x' })).toMatchInlineSnapshot(
      `"COSTBOOK_TOKEN_FILE: found together with COSTBOOK_TOKEN, expected only one token source; remove one of them"`,
    );
  });

  test('a token that no header can carry is reported without its text', () => {
    expect(problems('token: tök-1234\n', { COSTBOOK_URL: 'https://x.example' })).toMatchInlineSnapshot(
      `"costbook.yaml:1:8: token: found a space or a character that an HTTP header cannot carry, expected printable ASCII without spaces; write only the token"`,
    );
    expect(problems('', { ...reach, COSTBOOK_TOKEN: 'Bearer tok-1234' })).toMatchInlineSnapshot(
      `"COSTBOOK_TOKEN: found the word Bearer before the token, expected the token alone; write only the token"`,
    );
    expect(problems('token: ""\n', { COSTBOOK_URL: 'https://x.example' })).toMatchInlineSnapshot(
      `"costbook.yaml:1:8: token: found an empty text, expected a value; write one or remove the key"`,
    );
  });

  test('a url with credentials, query or fragment is refused without being shown', () => {
    expect(problems('url: https://me:tok-1234@x.example\n', { COSTBOOK_TOKEN: 't' })).toMatchInlineSnapshot(
      `"costbook.yaml:1:6: url: found credentials in the address, expected none; give them as token, tokenFile or tokenCommand"`,
    );
    expect(problems('url: https://x.example/?key=tok-1234\n', { COSTBOOK_TOKEN: 't' })).toMatchInlineSnapshot(
      `"costbook.yaml:1:6: url: found a query or fragment in the address, expected none; remove it"`,
    );
    expect(problems('url: https://x.example/#tok-1234\n', { COSTBOOK_TOKEN: 't' })).toMatchInlineSnapshot(
      `"costbook.yaml:1:6: url: found a query or fragment in the address, expected none; remove it"`,
    );
    expect(problems('', { COSTBOOK_URL: 'x.example:tok-1234', COSTBOOK_TOKEN: 't' })).toMatchInlineSnapshot(
      `"COSTBOOK_URL: found no http or https address, expected one such as https://api.example.com"`,
    );
  });

  test('a token that also occurs elsewhere is hidden there', () => {
    const text = problems('token: tok-1234\nsince: tok-1234\napiVersion: see tok-1234\ntok-1234: 1\n', {
      COSTBOOK_LAG_HOURS: 'tok-1234',
    });
    expect(text).toMatchInlineSnapshot(`
      "costbook.yaml:2:8: since: found "***", expected a date: 2026-10-01, 2026-10, 2026-10-01T00:00:00Z or -7d (all UTC)
      costbook.yaml:3:13: apiVersion: found "see ***", expected a version such as 2026-04-16 or 2026-04-28.preview
      costbook.yaml:4:1: unknown key "***"; expected one of accounts, account, url, token, tokenFile, tokenCommand, oauth, since, concurrency, maxRequestsPerMinute, settleDays, closeAfterDays, lagHours, freshness, verifyDays, deepVerifyPages, inventory, calendar, apiVersion, authorizationHeader or 20 more
      costbook.yaml: found no url, expected the platform's address; write url in costbook.yaml, or set COSTBOOK_URL
      COSTBOOK_LAG_HOURS: found "***", expected a whole number from 0 to 72"
    `);
  });

  test('a key whose colon lacks a space, or is missing, does not show the secret behind it', () => {
    const text = problems(
      'sinks:\n  a: { type: pagerduty, routingKey R0u71ngk3yAAAABBBB }\n  b: { type: slack, url:https://hooks.slack.com/x }\n',
      reach,
    );
    expect(text).toContain('unknown key "routingKey…"; write "routingKey: " and then its value');
    expect(text).toContain('unknown key "url…"; write "url: " and then its value');
    expect(text).not.toMatch(/R0u71|hooks\.slack/);
  });

  test('since must be a whole hour in the past', () => {
    for (const since of ['2026-11-05T10:00:00Z', '2026-11-05T12:00:00+02:00', '-0d']) {
      expect(parse(`since: ${since}`, reach).accounts[0]?.since).toBeLessThanOrEqual(now);
    }
    expect(problems('since: 2026-11-05T11:00:00Z\n', reach)).toMatchInlineSnapshot(
      `"costbook.yaml:1:8: since: found "2026-11-05T11:00:00Z", expected an instant that is not in the future. By the clock of this machine it is 2026-11-05T10:30:00Z: correct the clock if that is wrong, or else since"`,
    );
    expect(problems('since: 2026-10-01T00:00:00+05:30\n', reach)).toMatchInlineSnapshot(
      `"costbook.yaml:1:8: since: found "2026-10-01T00:00:00+05:30", expected a whole hour of UTC; write 2026-09-30T18:00:00Z"`,
    );
    expect(problems('since: "yesterday\\n\\e[31m"\n', reach)).toMatchInlineSnapshot(
      `"costbook.yaml:1:8: since: found "yesterday\\n\\u001b[31m", expected a date: 2026-10-01, 2026-10, 2026-10-01T00:00:00Z or -7d (all UTC)"`,
    );
  });

  test('an id must be a short text without control characters', () => {
    expect(problems('account: ""\n', reach)).toMatchInlineSnapshot(
      `"costbook.yaml:1:10: account: found an empty text, expected a value; write one or remove the key"`,
    );
    expect(problems('account: "a\\tb"\n', reach)).toMatchInlineSnapshot(
      `"costbook.yaml:1:10: account: found "a\\tb", expected a text without control characters; remove them"`,
    );
    expect(problems(`account: ${'a'.repeat(201)}\n`, reach)).toMatchInlineSnapshot(
      `"costbook.yaml:1:10: account: found 201 characters, expected at most 200; shorten it"`,
    );
    expect(
      problems('url: https://x.example\ntoken: tok-1\naccounts:\n  - id: .\n  - id: ".."\n'),
    ).toMatchInlineSnapshot(`
      "costbook.yaml:4:9: id: found ".", which is a step in a path, expected an account ID; correct it
      costbook.yaml:5:9: id: found "..", which is a step in a path, expected an account ID; correct it"
    `);
    expect(problems('', { ...reach, COSTBOOK_ACCOUNT: '..' })).toMatchInlineSnapshot(
      `"COSTBOOK_ACCOUNT: found "..", which is a step in a path, expected an account ID; correct it"`,
    );
    expect(parse('account: ...\n', reach).accounts[0]?.id).toBe('...');
    expect(parse(`account: ${'a'.repeat(200)}\n`, reach).accounts[0]?.id).toHaveLength(200);
  });

  test('a path that only a shell understands is refused', () => {
    expect(problems('tokenFile: ~/token\n', { COSTBOOK_URL: 'https://x.example' })).toMatchInlineSnapshot(
      `"costbook.yaml:1:12: tokenFile: found ~, which only a shell expands, expected a path; write an absolute one"`,
    );
  });

  test('headers that are not headers, that Costbook sets itself, or that repeat a name are refused', () => {
    const text =
      'headers: { X-Team: finops, "a b": x, Accept: y, service-version: z, X-Two: "1\\n2" }\nthreadHeader: X-T\nworkspaceHeader: x-t\n';
    expect(problems(text, reach)).toMatchInlineSnapshot(`
      "costbook.yaml:1:35: a b: found "a b", expected the name of an HTTP header: letters, digits and -
      costbook.yaml:1:46: Accept: found "Accept", which Costbook sets itself; remove it
      costbook.yaml:1:66: service-version: found "service-version", which Costbook sets itself; remove it
      costbook.yaml:1:76: X-Two: found a text that no HTTP header can carry, expected ASCII without line breaks
      costbook.yaml:2:15: threadHeader: found the same name for both headers, workspaceHeader and threadHeader, expected two; change one of them"
    `);
    expect(parse('headers: { X-Team: finops, X-Key: "${KEY}" }\n', { ...reach, KEY: 'k-1' }).headers).toEqual({
      'X-Team': 'finops',
      'X-Key': 'k-1',
    });
  });

  test('a sandbox URL without the sandbox, or with other names in braces, is refused', () => {
    expect(problems('sandboxUrl: https://{workspace}.example.com\n', reach)).toContain('found no {sandbox}');
    expect(problems('sandboxUrl: https://{sandbox}.{zone}.example.com\n', reach)).toContain('found "{zone}"');
    expect(problems('sandboxUrl: ftp://{sandbox}\n', reach)).toContain('found no http or https address');
  });

  test('both headers under one name are refused', () => {
    expect(problems('versionHeader: authorization\n', reach)).toMatchInlineSnapshot(
      `"costbook.yaml:1:16: versionHeader: found the same name for both headers, authorizationHeader and versionHeader, expected two; change one of them"`,
    );
  });

  test('a very long list of mistakes is cut and counted', () => {
    const lines = problems('x: 1\n'.repeat(1000), reach).split('\n');
    expect(lines).toHaveLength(501);
    expect(lines.at(-1)).toBe('and 500 more problems');
  });
});

describe('parseConfig(…, { requireAccounts: false })', () => {
  function parseLocal(text: string, env: Env = {}) {
    return parseConfig({ text, file, env, now, requireAccounts: false });
  }

  test('needs no setting', () => {
    expect(parseLocal('').accounts).toEqual([]);
  });

  test('returns what is known of an account without url and token', () => {
    expect(parseLocal('accounts: [{ id: a, since: 2026-10 }, { id: b }, { name: nobody }]').accounts).toEqual([
      { id: 'a', name: undefined, url: undefined, token: undefined, since: Date.parse('2026-10-01T00:00:00Z') },
      { id: 'b', name: undefined, url: undefined, token: undefined, since: undefined },
    ]);
  });

  test('treats a reference to an unset variable as a missing value', () => {
    expect(parseLocal('url: ${HOST}\ntoken: ${TOKEN}\naccount: a\n').accounts).toMatchObject([
      { id: 'a', url: undefined, token: undefined },
    ]);
  });

  test('reports invalid values all the same', () => {
    expect(
      problems('url: x\ntoken: a b c d\nlagHours: ${LAG}\n', { COSTBOOK_TOKNE: 'x' }, { requireAccounts: false }),
    ).toMatchInlineSnapshot(`
      "costbook.yaml:1:6: url: found no http or https address, expected one such as https://api.example.com
      costbook.yaml:2:8: token: found a space or a character that an HTTP header cannot carry, expected printable ASCII without spaces; write only the token
      costbook.yaml:3:11: lagHours: found \${LAG}, which is not set, expected an environment variable; set LAG
      COSTBOOK_TOKNE: unknown variable; did you mean COSTBOOK_TOKEN? rename or unset it"
    `);
  });
});

describe('loadConfig({ dir, env, now })', () => {
  let dir = '';
  beforeAll(() => {
    dir = mkdtempSync(join(tmpdir(), 'costbook-config-'));
  });
  afterAll(() => rmSync(dir, { recursive: true, force: true }));

  function folder(name: string, files: Record<string, string | Buffer>): string {
    const path = join(dir, name);
    mkdirSync(path);
    for (const [at, content] of Object.entries(files)) writeFileSync(join(path, at), content);
    return path;
  }

  function refusal(path: string): string {
    const caught = thrown(() => loadConfig({ dir: path, env: reach, now }));
    expect(caught).toBeInstanceOf(UsageError);
    return caught instanceof Error ? caught.message.replaceAll(dir, '<dir>') : '';
  }

  test('accepts a folder without the file', () => {
    expect(loadConfig({ dir: folder('bare', {}), env: reach, now }).concurrency).toBe(4);
  });

  test('reports both ways to configure, and the folder, if there is no configuration', () => {
    const path = folder('nothing', {});
    const caught = thrown(() =>
      loadConfig({ dir: path, env: { COSTBOOK_TOKNE: 'tok-1', COSTBOOK_LAG_HOURS: 'x' }, now }),
    );
    expect(caught).toBeInstanceOf(UsageError);
    expect(caught instanceof Error ? caught.message.replaceAll(dir, '<dir>') : '').toMatchInlineSnapshot(`
      "<dir>/nothing: found no costbook.yaml in this folder and no COSTBOOK_URL. Start with "costbook init", name the folder of the file with --dir (COSTBOOK_DIR), or set COSTBOOK_URL, COSTBOOK_TOKEN, COSTBOOK_ACCOUNT and COSTBOOK_SINCE.
      COSTBOOK_TOKNE: unknown variable; did you mean COSTBOOK_TOKEN? rename or unset it
      COSTBOOK_LAG_HOURS: found "x", expected a whole number from 0 to 72"
    `);
  });

  test('reports only the token as missing if the address is set', () => {
    const caught = thrown(() =>
      loadConfig({ dir: folder('half', {}), env: { COSTBOOK_URL: 'https://x.example' }, now }),
    );
    expect(caught instanceof Error ? caught.message.replaceAll(dir, '<dir>') : '').toMatchInlineSnapshot(
      `"<dir>/half/costbook.yaml: found no token, expected one source of it; write token, tokenFile, tokenCommand or oauth in <dir>/half/costbook.yaml, or set COSTBOOK_TOKEN, COSTBOOK_TOKEN_FILE or COSTBOOK_TOKEN_COMMAND"`,
    );
  });

  test('needs no configuration for a command that never contacts the platform', () => {
    expect(loadConfig({ dir: folder('local', {}), env: {}, now, requireAccounts: false }).accounts).toEqual([]);
  });

  test('reads the file, with paths relative to its folder', () => {
    const path = folder('whole', { 'costbook.yaml': 'url: https://x.example\ntokenFile: token\n' });
    expect(loadConfig({ dir: path, env: {}, now }).accounts[0]?.token).toEqual({ kind: 'file', path: `${path}/token` });
  });

  test('names the file by its path in errors', () => {
    expect(refusal(folder('wrong', { 'costbook.yaml': 'lagHours: -1\n' }))).toMatchInlineSnapshot(
      `"<dir>/wrong/costbook.yaml:1:11: lagHours: found -1, expected a whole number from 0 to 72"`,
    );
  });

  test.each(['costbook.yml', 'Costbook.yaml'])('refuses %s next to or instead of costbook.yaml by name', (name) => {
    expect(refusal(folder(`alone-${name}`, { [name]: '' }))).toContain(`${name}: found this file, expected the name`);
    expect(refusal(folder(`both-${name}`, { [name]: '', 'costbook.yaml': '' }))).toContain(
      `${name}: found this file next to`,
    );
  });

  test('does not ignore costbook.yml silently', () => {
    expect(refusal(folder('yml', { 'costbook.yml': '' }))).toMatchInlineSnapshot(
      `"<dir>/yml/costbook.yml: found this file, expected the name costbook.yaml; rename it"`,
    );
  });

  test('refuses a file over 1 MiB without reading it', () => {
    const path = folder('large', { 'costbook.yaml': '' });
    truncateSync(join(path, 'costbook.yaml'), 1024 * 1024 + 1);
    expect(refusal(path)).toMatchInlineSnapshot(
      `"<dir>/large/costbook.yaml: found 1048577 bytes, expected at most 1 MiB; remove everything except the configuration"`,
    );
    expect(problems('#'.repeat(1024 * 1024 + 1), reach)).toMatchInlineSnapshot(
      `"costbook.yaml: found 1048577 bytes, expected at most 1 MiB; remove everything except the configuration"`,
    );
  });

  test('reports a file that is not UTF-8, or not a file', () => {
    expect(refusal(folder('utf16', { 'costbook.yaml': Buffer.from('\ufeffurl: x', 'utf16le') }))).toMatchInlineSnapshot(
      `"<dir>/utf16/costbook.yaml: found bytes that are not UTF-8; save the file as UTF-8"`,
    );
    const path = folder('folder', {});
    mkdirSync(join(path, 'costbook.yaml'));
    expect(refusal(path)).toMatchInlineSnapshot(
      `"<dir>/folder/costbook.yaml: found something other than a text file, expected YAML; move it away"`,
    );
  });
});

describe('for any file and environment', () => {
  const secret = 's3cret-t0ken';
  const key = fc.constantFrom(
    ...[...configVariables.values(), 'accounts', 'proof', 'landing', 'keep', 'tolerance'],
    ...['id', 'name', '__proto__', '- id', '- token', '? a', 'tokne', '<<'],
  );
  const value = fc.oneof(
    fc.constantFrom(secret, `"${secret}`, `[${secret}]`, `{a: ${secret}}`, `*${secret}`, `&a ${secret}`, `!${secret}`),
    fc.constantFrom(
      `https://a:${secret}@x`,
      '${TOKEN}',
      '${TOKEN',
      '',
      '|',
      '>-',
      '*a',
      '&a [*a]',
      '2026-10',
      '-1',
      '0x1F',
    ),
    fc.string(),
  );
  const line = fc.tuple(fc.constantFrom('', '  ', '    ', '\t'), key, fc.constantFrom(': ', ':', ' '), value);
  const text = fc.oneof(
    fc.string({ unit: anyCharacter }),
    fc.array(line.map((parts) => parts.join(''))).map((lines) => lines.join('\n')),
  );
  const env = fc.dictionary(
    fc.constantFrom(...configVariables.keys(), 'COSTBOOK_TOKNE', 'TOKEN'),
    fc.oneof(fc.constantFrom(secret, '', '1', 'https://x.example'), fc.string()),
  );

  test('only a UsageError is thrown, no message contains the token, and each mistake is one line', () => {
    fc.assert(
      fc.property(text, env, fc.boolean(), (written, variables, requireAccounts) => {
        const withToken = { ...variables, COSTBOOK_TOKEN: secret };
        const caught = thrown(() => parseConfig({ text: written, file, env: withToken, now, requireAccounts }));
        if (caught === undefined) return;
        expect(caught).toBeInstanceOf(UsageError);
        if (!(caught instanceof UsageError)) return;
        expect(caught.message).not.toContain(secret);
        for (const each of caught.message.split('\n')) {
          expect(each).toMatch(/^(\/books\/costbook\.yaml(:\d+:\d+)?: |COSTBOOK_\w+: |and \d+ more problems$)/);
        }
      }),
      { numRuns: 2000 },
    );
  });

  // Both failed by chance once: a word of a broken token was hidden in the name of a variable.
  test.each([
    ['token: (\n    account: https://a:s3cret-t0ken@x\ntolerance: ', 'COSTBOOK_PROOF_TOLERANCE', ' '],
    ['token: (\n  account: \nkeep: s3cret-t0ken', 'COSTBOOK_LANDING_KEEP', secret],
  ])('a token that broken YAML spreads over lines does not hide variable names: %j', (written, variable, value) => {
    const message = problems(written, { [variable]: value, COSTBOOK_TOKEN: secret }, { requireAccounts: false });
    expect(message).toContain(`${variable}: found`);
    expect(message).not.toContain(secret);
  });

  test('a word of the token does not hide the file name, and an unknown variable shows no token', () => {
    const message = problems('token: costbook\nx: 1', { COSTBOOK_TOKEN: 'costbook', COSTBOOK_S3CRET: '1' });
    expect(message).toContain('costbook.yaml:2:1: ');
    expect(problems('', { ...reach, COSTBOOK_TOKEN: 'S3CRET', COSTBOOK_S3CRET: '1' })).toContain('COSTBOOK_***: ');
  });

  test('a token in the file is hidden like one in the environment', () => {
    fc.assert(
      fc.property(text, env, (written, variables) => {
        const caught = thrown(() => parseConfig({ text: `token: "${secret}"\n${written}`, file, env: variables, now }));
        if (caught !== undefined) expect(caught instanceof UsageError ? caught.message : caught).not.toContain(secret);
      }),
      { numRuns: 2000 },
    );
  });
});

describe('parseConfig: inventory', () => {
  const base = 'url: https://api.example\ntoken: main-token\n';

  test('is on without separate tokens by default', () => {
    expect(parse(base).accounts[0]?.inventory).toBeUndefined();
  });

  test.each([
    ['inventory: false', {}, false],
    ['inventory: true', {}, true],
    ['', { COSTBOOK_INVENTORY: 'false' }, false],
    ['inventory: true', { COSTBOOK_INVENTORY: 'false' }, false],
    ['inventory: false', { COSTBOOK_INVENTORY: 'true' }, true],
    ['inventory: ${LIST}', { LIST: 'false' }, false],
  ] as const)('%s with %j: %s', (text, env, isRead) => {
    expect(parse(`${base}${text}\n`, env).accounts[0]?.inventory).toEqual({ isRead, tokens: [] });
  });

  test('accepts client credentials for an account and for a workspace, and keeps their secrets', () => {
    const secrets: string[] = [];
    const of = (more: string) => `oauth: { clientId: costbook, clientSecret: "\${SECRET}"${more} }`;
    const west = '{ oauth: { clientId: west, clientSecret: west-secret } }';
    const text = `url: https://x.example/v0\n${of(', tokenPath: /id/token')}\ninventory: { tokens: { west: ${west} } }\n`;
    const keepSecret = (secret: string) => secrets.push(secret);
    const { accounts } = parseConfig({ text, file, env: { SECRET: 's3cret' }, now, keepSecret });
    const own = { kind: 'oauth', tokenPath: '/id/token', clientId: 'costbook', clientSecret: 's3cret' };
    const ofWest = { kind: 'oauth', tokenPath: '/v0/oauth/token', clientId: 'west', clientSecret: 'west-secret' };
    expect(accounts).toMatchObject([{ token: own, inventory: { tokens: [{ workspace: 'west', token: ofWest }] } }]);
    expect(secrets).toEqual(expect.arrayContaining(['s3cret', 'west-secret']));
    expect(
      problems(`url: https://x.example\noauth: { clientSecret: "not shown\\n", path: / }\n`),
    ).toMatchInlineSnapshot(`
      "costbook.yaml:2:8: oauth: found no clientId, expected one; write it below oauth
      costbook.yaml:2:24: clientSecret: found a text that no HTTP header can carry, expected ASCII without line breaks
      costbook.yaml:2:39: unknown key "path"; expected one of tokenPath, clientId or clientSecret"
    `);
    expect(
      problems(`token: tok-1234\nurl: https://x.example\n${of(', tokenPath: id')}\n`, { SECRET: 'x' }),
    ).toMatchInlineSnapshot(`
      "costbook.yaml:3:8: oauth: found together with token, expected only one token source; remove one of them
      costbook.yaml:3:68: tokenPath: found "id", expected a path of the platform such as /v0/oauth/token"
    `);
  });

  test('accepts a token for a workspace, from any source', () => {
    const text = `${base}inventory:\n  tokens:\n    north: \${NORTH}\n    south: { tokenFile: keys/south }\n    west: { tokenCommand: pass west }\n`;
    expect(parse(text, { NORTH: 'north-token' }).accounts[0]?.inventory).toEqual({
      isRead: true,
      tokens: [
        {
          workspace: 'north',
          token: { kind: 'value', value: 'north-token' },
          tokenSetting: expect.stringMatching(/^inventory\.tokens\.north \(.+:5:12\)$/),
        },
        {
          workspace: 'south',
          token: { kind: 'file', path: expect.stringMatching(/\/keys\/south$/) },
          tokenSetting: expect.stringMatching(/:6:12\)$/),
        },
        {
          workspace: 'west',
          token: { kind: 'command', command: 'pass west' },
          tokenSetting: expect.stringMatching(/:7:11\)$/),
        },
      ],
    });
    expect(parse(text, { NORTH: 'north-token', COSTBOOK_INVENTORY: 'false' }).accounts[0]?.inventory?.isRead).toBe(
      false,
    );
  });

  test('keeps the workspaces of several accounts apart', () => {
    const entry = (id: string, more: string) => `  - id: ${id}\n    ${more}\n`;
    const text = `${base}accounts:\n${entry('a', 'inventory: { tokens: { north: n-token } }')}${entry('b', 'inventory: false')}${entry('c', 'name: C')}`;
    expect(parse(text).accounts.map(({ inventory }) => inventory)).toMatchObject([
      { isRead: true, tokens: [{ workspace: 'north' }] },
      { isRead: false, tokens: [] },
      undefined,
    ]);
  });

  test('reports every mistake with its place, without a token', () => {
    const text = `${base}inventory:\n  token: {}\n  tokens:\n    north: \${NORTH_TOKEN}\n    south: { tokenFil: x }\n    west: {}\n    east: has space\n    7: x-token\n    north: y-token\n    up: { token: z-token, tokenFile: f }\n`;
    expect(problems(text)).toMatchInlineSnapshot(`
      "costbook.yaml:4:3: unknown key "token"; it belongs to the top level; move it there
      costbook.yaml:6:12: north: found \${NORTH_TOKEN}, which is not set, expected an environment variable; set NORTH_TOKEN
      costbook.yaml:7:14: unknown key "tokenFil"; did you mean tokenFile? rename or remove it
      costbook.yaml:8:11: west: found no token, expected token, tokenFile, tokenCommand or oauth; write one
      costbook.yaml:9:11: east: found a space or a character that an HTTP header cannot carry, expected printable ASCII without spaces; write only the token
      costbook.yaml:10:5: found a number, expected a text; put it in quotes
      costbook.yaml:11:5: found "north" a second time, first on line 6; keep one
      costbook.yaml:12:38: tokenFile: found together with token, expected only one token source; remove one of them"
    `);
  });

  test.each(['inventory: yes', 'inventory: []', 'inventory: { tokens: [] }', 'inventory: { tokens: {} }'])(
    'refuses %s',
    (text) => {
      expect(problems(`${base}${text}\n`)).toContain(':3:');
    },
  );

  test('refuses tokens at the top level if there are several accounts', () => {
    const text = `${base}inventory: { tokens: { north: n } }\naccounts:\n  - id: a\n  - id: b\n`;
    expect(problems(text)).toContain('found tokens at the top level, but there are 2 accounts; move them');
  });
});
