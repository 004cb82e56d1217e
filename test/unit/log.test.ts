import { describe, expect, test } from 'vitest';
import { humanLog, jsonLog } from '../../src/command-line/log.ts';

function logs(runNumber?: number) {
  const said: string[] = [];
  const place = {
    say: (line: string) => void said.push(line),
    now: () => Date.UTC(2026, 8, 13, 2, 15),
    runNumber: () => runNumber,
  };
  return {
    said,
    json: jsonLog(place),
    human: humanLog(place, { isSeen: true }),
    unseen: humanLog(place, { isSeen: false }),
  };
}

describe('jsonLog(place)', () => {
  test('has time, level, run, event, message and fields', () => {
    const { said, json } = logs(12);
    json.info('window.loaded', 'Window loaded', { account: 'acc_one', rows: 3 });
    expect(said).toEqual([
      '{"at":"2026-09-13T02:15:00Z","level":"info","run":12,"event":"window.loaded","message":"Window loaded","account":"acc_one","rows":3}',
    ]);
  });

  test('names no run before there is one', () => {
    const { said, json } = logs();
    json.warn('disk.low', 'careful');
    expect(said).toEqual(['{"at":"2026-09-13T02:15:00Z","level":"warn","event":"disk.low","message":"careful"}']);
  });

  test('lets no field replace the time, the level, the run, the event or the message', () => {
    const { said, json } = logs(12);
    json.warn('disk.low', 'careful', {
      level: 'info',
      run: 1,
      event: 'no',
      message: 'no',
      at: 'never',
      other: 'stays',
    });
    expect(said.map((line) => JSON.parse(line))).toEqual([
      { at: '2026-09-13T02:15:00Z', level: 'warn', run: 12, event: 'disk.low', message: 'careful', other: 'stays' },
    ]);
  });

  test('writes text with several lines on one line', () => {
    const { said, json } = logs();
    json.info('test.run', 'one\ntwo', { reason: 'three\r\nfour\u2028five' });
    expect(said.join('')).not.toMatch(/[\r\n\u2028]/);
    expect(JSON.parse(said.join(''))).toMatchObject({ reason: 'three\r\nfour\u2028five' });
  });

  test('writes messages for people as events: errors, warnings and answers', () => {
    const { said, json } = logs(3);
    json.tell('costbook: the disk is full\nmake room');
    json.tell('warning: the month is open');
    json.tell('In force: costbook: nothing');
    expect(said.map((line) => JSON.parse(line)).map(({ level, event, message }) => [level, event, message])).toEqual([
      ['error', 'command.failed', 'the disk is full\nmake room'],
      ['warn', 'command.warned', 'the month is open'],
      ['info', 'command.answered', 'In force: costbook: nothing'],
    ]);
  });
});

describe('humanLog(place)', () => {
  test('writes one line, with the run and the fields at the end', () => {
    const { said, human } = logs(12);
    human.info('window.loaded', 'window is in the books', {
      account: 'acc_one',
      slots: ['a', 'b'],
      more: { deep: 1 },
      none: undefined,
    });
    human.warn('disk.low', 'careful');
    expect(said).toEqual([
      'window is in the books · run 12 · account acc_one · slots a, b · more {"deep":1}',
      'warning: careful · run 12',
    ]);
  });

  test('has a timestamp unless a person watches', () => {
    const { said, unseen } = logs(12);
    unseen.info('window.loaded', 'window is in the books', { rows: 3 });
    unseen.warn('disk.low', 'careful');
    expect(said).toEqual([
      '2026-09-13T02:15:00Z window is in the books · run 12 · rows 3',
      '2026-09-13T02:15:00Z warning: careful · run 12',
    ]);
  });

  test('lets no text from outside start another line or move the cursor', () => {
    const { said, human } = logs();
    human.info('listing.refused', 'refused', { reason: 'first\nsecond\r\u001b[2Kforged\u2028line' });
    expect(said).toEqual(['refused · reason first second \uFFFD[2Kforged line']);
  });

  test('leaves out warnings that the answer on the same terminal repeats, and no others', () => {
    const said: string[] = [];
    const place = { say: (line: string) => void said.push(line), now: () => 0, runNumber: () => undefined };
    const log = humanLog(place, { isSeen: true, isAnswered: true });
    log.warn('account.outdated', 'The account is not up to date', { reason: 'no answer' });
    log.warn('window.unproven', 'The window was not loaded');
    log.warn('metrics.failed', 'Could not write the metrics of the run');
    expect(said).toEqual(['warning: Could not write the metrics of the run']);
  });
});
