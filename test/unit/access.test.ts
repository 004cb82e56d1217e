import { describe, expect, test } from 'vitest';
import type { ServeSettings } from '../../src/config/index.ts';
import { openAccess } from '../../src/serve/access.ts';
import { ownPage } from '../../src/serve/below-path.ts';

const rule = (name: string, sees: { workspaces?: string[]; owner?: string } = {}) => ({
  ...{ name, workspaces: sees.workspaces, owner: sees.owner },
});
const nobody: ServeSettings = {
  ...{ hosts: [], tokens: [], userHeader: undefined, groupsHeader: undefined, oidc: undefined },
  groups: [rule('finance'), rule('north', { workspaces: ['north'] }), rule('payments', { owner: 'Payments' })],
};
const proxied = { ...nobody, userHeader: 'X-User', groupsHeader: 'X-Groups' };
const noCredentials = { authorization: undefined, session: undefined, user: undefined, groups: undefined };

describe('a person whom a proxy names', () => {
  const seenBy = (groups: string | undefined, settings: ServeSettings = proxied) =>
    openAccess(settings, () => 0).viewerOf({ ...noCredentials, user: 'ada', groups });

  test.each([
    ['finance', { kind: 'all' }],
    ['visitors, north', { kind: 'workspaces', workspaces: ['north'] }],
    ['payments ,x', { kind: 'owner', owner: 'Payments' }],
    ['payments,north', { kind: 'workspaces', workspaces: ['north'] }],
  ])('of the groups %j sees what the first rule of the file shows', (groups, scope) => {
    expect(seenBy(groups)).toEqual({ name: 'ada', scope });
  });

  test.each([undefined, '', 'visitors', 'Finance', 'finance;north', '*'])('of the groups %j sees nothing', (groups) => {
    expect(seenBy(groups)).toMatchObject({ refused: 'no rule', person: { name: 'ada' } });
  });

  test('sees what the rule for everybody shows if no rule before it names a group', () => {
    const settings = { ...proxied, groups: [...proxied.groups, rule('*', { workspaces: ['shared'] })] };
    expect(seenBy(undefined, settings)).toEqual({ name: 'ada', scope: { kind: 'workspaces', workspaces: ['shared'] } });
    expect(seenBy('finance', settings)).toEqual({ name: 'ada', scope: { kind: 'all' } });
  });

  test('is nobody where no header of a proxy is configured', () => {
    const settings = { ...nobody, tokens: [{ ...rule('finance'), token: 'all-0123456789abcdefghij' }] };
    expect(seenBy('finance', settings)).toBeUndefined();
  });
});

describe('a session', () => {
  const start = () => {
    const clock = { now: 0 };
    const access = openAccess(proxied, () => clock.now);
    const started = access.signInAs({ name: 'ada', groups: ['north'] });
    if ('refused' in started) throw new Error('refused');
    const viewer = () => access.viewerOf({ ...noCredentials, session: started.id });
    return { clock, access, id: started.id, viewer };
  };

  test('of a person ends after an hour', () => {
    const { clock, viewer } = start();
    clock.now = 3_599_999;
    expect(viewer()).toMatchObject({ name: 'ada' });
    clock.now = 3_600_000;
    expect(viewer()).toBeUndefined();
  });

  test('ends when its person signs out, and no other does', () => {
    const { access, id, viewer } = start();
    access.signOut('another');
    expect(viewer()).toMatchObject({ name: 'ada' });
    access.signOut(id);
    expect(viewer()).toBeUndefined();
  });
});

const foreign = [
  '//evil.test',
  '/\\evil.test',
  'https://evil.test/',
  '/\t/evil.test',
  '/..//evil.test',
  `/${'x'.repeat(1500)}`,
  `/?${'界'.repeat(1000)}`,
];
test.each<[string | undefined, string]>([
  ['/months?x=1', '/months?x=1'],
  ['/budgets/a%2Fb', '/budgets/a%2Fb'],
  ...foreign.map((given): [string, string] => [given, '/']),
  [undefined, '/'],
])('the page after a sign-in that was asked for with %j is %j', (given, page) => {
  expect(ownPage(given)).toBe(page);
});
