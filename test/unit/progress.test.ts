import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { allCommands } from '../../src/commands/index.ts';
import { openLiveLine } from '../../src/terminal/live-line.ts';
import { openProgress } from '../../src/terminal/progress.ts';

beforeEach(() => void vi.useFakeTimers({ now: 1_000_000 }));
afterEach(() => void vi.useRealTimers());

function shown(kind: 'terminal' | 'log', waitingFor: () => string | undefined = () => undefined) {
  const lines: string[] = [];
  let lastWroteAt = 0;
  const say = (line: string) => {
    lastWroteAt = Date.now();
    lines.push(line);
  };
  const progress = openProgress({
    command: 'check',
    draw: kind === 'terminal' ? (line) => void (lines.at(-1) !== line && lines.push(line)) : undefined,
    log: {
      info: (_event, message, fields) => say(`${message} ${JSON.stringify(fields)}`),
      warn: (_event, message) => say(message),
    },
    waitingFor,
    lastWroteAt: () => lastWroteAt,
    elapsed: Date.now,
  });
  return { lines, progress, say };
}

describe('on a terminal', () => {
  test('a command that ends within two seconds shows nothing', () => {
    const { lines, progress } = shown('terminal');
    progress.show('check 1 of 2');
    vi.advanceTimersByTime(1900);
    progress.end();
    vi.advanceTimersByTime(60_000);
    expect(lines).toEqual(['']); // takes away what is not there
  });

  test('a longer command shows its task, its progress and its duration, and removes the line at its end', () => {
    const { lines, progress } = shown('terminal');
    vi.advanceTimersByTime(3000);
    progress.show('check 1 of 2');
    vi.advanceTimersByTime(1000);
    progress.show('');
    vi.advanceTimersByTime(61_000);
    progress.end();
    expect(lines.slice(0, 3)).toEqual(['check · 2 s', 'check · 3 s', 'check · 3 s · check 1 of 2']);
    expect(lines.slice(-2)).toEqual(['check · 1 min 5 s', '']);
  });

  test('a pending request is shown first, with its host', () => {
    const { lines, progress } = shown('terminal', () => 'api.example.com:443 for 7 s: GET /v0/accounts');
    vi.advanceTimersByTime(3000);
    progress.show('window 1 of 2');
    vi.advanceTimersByTime(1000);
    progress.end();
    expect(lines).toContain('check · 4 s · waiting for api.example.com:443 for 7 s: GET /v0/accounts · window 1 of 2');
  });

  test('a computation without pauses shows each step', () => {
    const { lines, progress } = shown('terminal');
    vi.setSystemTime(1_005_000); // no timer has come
    progress.show('series 2 of 9');
    expect(lines).toEqual(['check · 5 s · series 2 of 9']);
    progress.end();
  });

  test('nothing is drawn during a prompt', async () => {
    const { lines, progress } = shown('terminal');
    const answer = progress.quiet(() => new Promise<string>((done) => setTimeout(() => done('yes'), 10_000)));
    await vi.advanceTimersByTimeAsync(10_000);
    expect(await answer).toBe('yes');
    expect(lines).toEqual(['']);
    vi.advanceTimersByTime(1000);
    expect(lines.at(-1)).toBe('check · 11 s');
    progress.end();
  });
});

describe('without a terminal', () => {
  test('the log names the host and the pending request', () => {
    const { lines, progress } = shown('log', () => 'api.example.com:443 for 7 s: GET /v0/accounts');
    vi.advanceTimersByTime(10_000);
    progress.end();
    expect(lines).toEqual([
      'Still working {"waitingFor":"api.example.com:443 for 7 s: GET /v0/accounts","seconds":10}',
    ]);
  });

  test('the log reports progress every ten seconds if nothing else was written', () => {
    const { lines, progress, say } = shown('log');
    progress.show('check 1 of 2');
    vi.advanceTimersByTime(9000);
    expect(lines).toEqual([]);
    vi.advanceTimersByTime(11_000);
    expect(lines).toEqual([
      'Still working {"on":"check 1 of 2","seconds":10}',
      'Still working {"on":"check 1 of 2","seconds":20}',
    ]);
    vi.advanceTimersByTime(5000);
    say('a window');
    vi.advanceTimersByTime(9000);
    expect(lines.at(-1)).toBe('a window');
    progress.end();
    vi.advanceTimersByTime(60_000);
    expect(lines.at(-1)).toBe('a window');
  });
});

test('only commands that serve until stopped have no progress', async () => {
  const commands = await allCommands();
  expect(commands.filter(({ staysUp }) => staysUp).map(({ name }) => name)).toEqual([
    'schedule',
    'serve',
    'mcp',
    'emulator',
  ]);
});

test('the live line is cut to the terminal, hides secrets, and waits while output has an unfinished line', () => {
  const written: string[] = [];
  const line = openLiveLine({ columns: 12, write: (text) => written.push(text) }, (text) => text.replace('abc', '***'));
  line.show('check abc');
  line.show('check abc');
  line.show('check 100 of 200');
  line.clear();
  line.setUnfinished(true);
  line.show('check 3');
  line.setUnfinished(false);
  line.show('check 4');
  const erase = '\r\x1b[2K';
  expect(written).toEqual(['check ***', erase, 'check 100 …', erase, 'check 4']);
});
