import { createServer } from 'node:http';
import { describe, expect, test } from 'vitest';
import { MachineError, UsageError } from '../../src/base/errors.ts';
import type { CommandContext } from '../../src/commands/command.ts';
import { emulatorCommand } from '../../src/commands/emulator.ts';
import { faultNames, parseFaults } from '../../src/emulator/fault-plan.ts';
import { openClock } from '../../src/time/clock.ts';

describe('parseFaults(text)', () => {
  test('reads names with a rate, or with their default', () => {
    expect(parseFaults('429=0.5, missing-without-uuid')).toEqual([
      { name: '429', rate: 0.5 },
      { name: 'missing-without-uuid', rate: 1 },
    ]);
  });

  test('empty text means no fault', () => {
    expect(parseFaults('')).toEqual([]);
  });

  test('lists every mistake, and the available faults', () => {
    expect(() => parseFaults('429=0,tea,reset=2,coffee,late=x,500,500')).toThrow(
      new UsageError(
        'fault 429: expected a rate above 0 and up to 1, found "0"; unknown fault "tea"; ' +
          'fault reset: expected a rate above 0 and up to 1, found "2"; unknown fault "coffee"; ' +
          `fault late: expected a rate above 0 and up to 1, found "x"; fault 500 is given twice; faults are ${faultNames.join(', ')}`,
      ),
    );
  });
});

describe('costbook emulator', () => {
  function contextOf(signal: AbortSignal, write: CommandContext['write']): CommandContext {
    return {
      effects: {
        ...openClock(() => Date.UTC(2026, 9, 21)),
        log: { info() {}, warn() {} },
        random: () => 0.5,
        sleep: () => Promise.resolve(),
      },
      timers: { elapsed: () => 0, everyMinute: async () => ({ stop() {} }) },
      dir: '/tmp',
      json: false,
      env: {},
      signal,
      write,
      folder: '/',
      stdio: { stdin: process.stdin, stdout: process.stdout },
      answer: async () => undefined,
      isTerminal: false,
      layout: {},
      waitingFor: () => undefined,
      readInput: async () => '',
      ask: undefined,
      tell() {},
      progress() {},
      commandLine: 'emulator',
      nameRun() {},
      httpAnswers: () => new Map(),
      keepSecret() {},
      redact: (text) => text,
      openHttp: () => () => Promise.reject(new Error('the emulator asks nobody')),
    };
  }

  test('prints its address on one line, serves, and exits 0 when interrupted', async () => {
    const interrupt = new AbortController();
    const written: string[] = [];
    let status = 0;
    const context = contextOf(interrupt.signal, async (data) => {
      const text = String(data);
      written.push(text);
      const { url, account, tokens } = JSON.parse(text) as { url: string; account: string; tokens: { member: string } };
      const response = await fetch(`${url}/v0/accounts/${account}/metrics/enums/group-by`, {
        headers: { authorization: `Bearer ${tokens.member}` },
      });
      status = response.status;
      await response.text();
      interrupt.abort();
    });
    expect(await emulatorCommand.run({ arguments: [], options: { port: '0', resources: '12' } }, context)).toBe(0);
    expect(status).toBe(200);
    expect(written).toHaveLength(1);
    expect(written[0]).toMatch(
      /^\{"url":"http:\/\/127\.0\.0\.1:\d+","inferenceUrl":"http:[^"]+\/_inference","sandboxUrl":"http:[^"]+\{region\}","control":\{"url":"http:[^"]+\/_control","token":"[^"]+"\},"account":"[^"]+","tokens":\{"admin":"[^"]+","member":"[^"]+"\},"workspaceTokens":\{"production":"[^"]+",.*\}\}\n$/,
    );
  });

  test('serves accounts and header names that its flags set', async () => {
    const interrupt = new AbortController();
    let seen: unknown;
    const context = contextOf(interrupt.signal, async (data) => {
      const first = JSON.parse(String(data)) as { url: string; otherAccounts: { tokens: { admin: string } }[] };
      const response = await fetch(`${first.url}/v0/accounts`, {
        headers: { 'x-acme-authorization': `Bearer ${first.otherAccounts[0]?.tokens.admin}` },
      });
      seen = await response.json();
      interrupt.abort();
    });
    const headerNames = 'authorization=X-Acme-Authorization, version=Acme-Version';
    const options = { resources: '12', accounts: '2', headerNames, host: '127.0.0.1' };
    expect(await emulatorCommand.run({ arguments: [], options }, context)).toBe(0);
    expect(seen).toMatchObject([{ id: 'acc-harbor-labs-2' }]);
  });

  test('refuses to call back another machine', async () => {
    const context = contextOf(AbortSignal.abort(), () => Promise.resolve());
    const options = { resources: '12', callbackUrl: 'https://hooks.example.com' };
    await expect(emulatorCommand.run({ arguments: [], options }, context)).rejects.toThrow('https://hooks.example.com');
  });

  test('lists every wrong flag', async () => {
    const context = contextOf(AbortSignal.abort(), () => Promise.resolve());
    const options = {
      port: '70000',
      seed: '-1',
      resources: '0',
      latencyMs: 'long',
      storyEnd: 'never',
      faults: 'tea',
      accounts: '0',
      headerNames: 'colour=red',
    };
    const refused = emulatorCommand.run({ arguments: [], options }, context);
    await expect(refused).rejects.toThrow(UsageError);
    for (const flag of [
      '--port',
      '--seed',
      '--resources',
      '--latency-ms',
      '--story-end',
      '--accounts',
      '--header-names: "colour=red"',
      '--faults: unknown fault "tea"',
    ]) {
      await expect(refused).rejects.toThrow(flag);
    }
  });

  test('names a port that is in use', async () => {
    const other = createServer();
    const port = await new Promise<number>((resolve) => {
      other.listen(0, '127.0.0.1', () => {
        const address = other.address();
        resolve(typeof address === 'object' && address !== null ? address.port : 0);
      });
    });
    const context = contextOf(AbortSignal.abort(), () => Promise.resolve());
    const refused = emulatorCommand.run({ arguments: [], options: { port: String(port) } }, context);
    await expect(refused).rejects.toThrow(MachineError);
    await expect(refused).rejects.toThrow(`port ${port} of 127.0.0.1 is in use`);
    other.close();
  });
});
