import { execFileSync } from 'node:child_process';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { holidaysOf, parseCalendar } from '../../src/config/calendar-settings.ts';
import { dayMs } from '../../src/time/time.ts';

async function folderWith(files: Readonly<Record<string, string>>): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'costbook-calendar-'));
  for (const [name, text] of Object.entries(files)) await writeFile(join(dir, name), text);
  return dir;
}

function ics(...events: readonly string[]): string {
  const all = events.map((event, index) => `BEGIN:VEVENT\r\nUID:${index}\r\n${event}\r\nEND:VEVENT`);
  return `BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:x\r\n${all.join('\r\n')}\r\nEND:VCALENDAR\r\n`;
}

describe('parseCalendar(text)', () => {
  test('reads dates and files', () => {
    expect(parseCalendar('2026-12-25, holidays.ics')).toEqual({ dates: ['2026-12-25'], files: ['holidays.ics'] });
  });

  test('refuses days that do not exist and files of another kind, all at once', () => {
    expect(() => parseCalendar('2026-02-30,holidays.csv,2026-12-25')).toThrow(/"2026-02-30".*\n.*"holidays\.csv"/);
  });
});

describe('holidaysOf(calendar, dir)', () => {
  test('reads days, several days and yearly repetitions of a file', async () => {
    const dir = await folderWith({
      'holidays.ics': ics(
        'DTSTART;VALUE=DATE:20261225\r\nDTEND;VALUE=DATE:20261227',
        'DTSTART;VALUE=DATE:20200501\r\nRRULE:FREQ=YEARLY;COUNT=8',
        'DTSTART;VALUE=DATE:20260101',
        'DTSTART:20260615T090000Z\r\nDTEND:20260615T100000Z',
      ),
    });
    const holidays = holidaysOf({ dates: ['2026-10-03'], files: ['holidays.ics'] }, dir);
    for (const date of ['2026-10-03', '2026-12-25', '2026-12-26', '2026-01-01', '2020-05-01', '2027-05-01']) {
      expect(holidays).toContain(Date.parse(date) / dayMs);
    }
    for (const date of ['2026-12-27', '2028-05-01', '2026-06-15', '2026-01-02']) {
      expect(holidays).not.toContain(Date.parse(date) / dayMs);
    }
  });

  /** The days of a calendar file in 2026 and 2027. */
  async function datesIn(text: string): Promise<string[]> {
    const found = holidaysOf({ dates: [], files: ['a.ics'] }, await folderWith({ 'a.ics': text }));
    const dates = [...found].sort((a, b) => a - b).map((day) => new Date(day * dayMs).toISOString().slice(0, 10));
    return dates.filter((date) => /^202[67]/.test(date));
  }
  const christmas = ['2026-12-25', '2026-12-26'];

  test('ends for events that repeat for ever, after this century', async () => {
    const dir = await folderWith({ 'a.ics': ics('DTSTART;VALUE=DATE:20000106\r\nRRULE:FREQ=WEEKLY') });
    const holidays = holidaysOf({ dates: [], files: ['a.ics'] }, dir);
    expect(holidays).toContain(Date.parse('2026-10-01') / dayMs);
    expect(holidays.size).toBe(5270);
  });

  test.each([
    ['30,000 daily events', Array.from({ length: 30_000 }, () => 'DTSTART;VALUE=DATE:20200101\r\nRRULE:FREQ=DAILY')],
    ['every second', ['DTSTART;VALUE=DATE:20200101\r\nRRULE:FREQ=SECONDLY;BYMONTH=2;BYMONTHDAY=30']],
    ['an event of 9,000 years', ['DTSTART;VALUE=DATE:10000101\r\nDTEND;VALUE=DATE:99990101']],
    ['countless weeks', ['DTSTART;VALUE=DATE:20200101\r\nDURATION:P99999999999W\r\nRRULE:FREQ=DAILY;COUNT=9']],
    ['800,000 days in a list', [`DTSTART;VALUE=DATE:20200101\r\nRDATE;VALUE=DATE:${'20200101,'.repeat(8e5)}20200101`]],
    ['250,000 rules', [`DTSTART;VALUE=DATE:20200101${'\r\nRRULE:FREQ=DAILY;COUNT=9'.repeat(250_000)}`]],
    [
      '60,000 moves of one event',
      [
        'UID:a\r\nDTSTART;VALUE=DATE:20200101\r\nRRULE:FREQ=DAILY',
        ...Array(60_000).fill('UID:a\r\nRECURRENCE-ID;RANGE=THISANDFUTURE:20200101\r\nDTSTART;VALUE=DATE:20200101'),
      ],
    ],
  ])('%s end within the budget of days', async (_, events) => {
    await expect(datesIn(ics(...events))).rejects.toThrow(
      'a.ics: found more than 100000 days of events and their repetitions, expected holidays; remove the other events; ' +
        'correct the file, or the setting calendar',
    );
  });

  test('refuses what would be read for minutes: thousands of zones, a line of millions of letters', async () => {
    const zones = Array.from({ length: 600 }, (_, zone) => `BEGIN:VTIMEZONE\r\nTZID:x${zone}\r\nEND:VTIMEZONE`);
    const day = 'DTSTART;VALUE=DATE:20261225';
    await expect(datesIn(ics(day).replace('BEGIN:VEVENT', `${zones.join('\r\n')}\r\nBEGIN:VEVENT`))).rejects.toThrow(
      'found 600 time zones, expected at most 500',
    );
    await expect(datesIn(ics(`${day}\r\nSUMMARY${';a=b'.repeat(50_000)}:x`))).rejects.toThrow(
      'found a line of more than 10000 parameters',
    );
  });

  test('looks for no day that never comes, and counts to no large interval', async () => {
    const never = 'DTSTART;VALUE=DATE:20261225\r\nRRULE:FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30';
    expect(await datesIn(ics(never))).toEqual(['2026-12-25']);
    const huge = 'DTSTART;VALUE=DATE:20261225\r\nRRULE:FREQ=DAILY;INTERVAL=1000000000';
    await expect(datesIn(ics(huge))).rejects.toThrow('a.ics: found INTERVAL=1000000000, expected at most 1000');
  });

  const monthly = 'UID:rest\r\nDTSTART;VALUE=DATE:20260910\r\nRRULE:FREQ=MONTHLY;COUNT=5';
  test.each([
    ['moved', 'RECURRENCE-ID;VALUE=DATE:20261110\r\nDTSTART;VALUE=DATE:20261109', ['09-10', '10-10', '11-09', '12-10']],
    [
      'cancelled',
      'RECURRENCE-ID;VALUE=DATE:20261110\r\nDTSTART;VALUE=DATE:20261110\r\nSTATUS:CANCELLED',
      ['09-10', '10-10', '12-10'],
    ],
    [
      'moved from then on, for two days',
      'RECURRENCE-ID;RANGE=THISANDFUTURE;VALUE=DATE:20261110\r\nDTSTART;VALUE=DATE:20261111\r\nDTEND;VALUE=DATE:20261113',
      ['09-10', '10-10', '11-11', '11-12', '12-11', '12-12'],
    ],
    [
      'cancelled from then on',
      'RECURRENCE-ID;RANGE=THISANDFUTURE;VALUE=DATE:20261110\r\nDTSTART;VALUE=DATE:20261110\r\nSTATUS:CANCELLED',
      ['09-10', '10-10'],
    ],
    [
      'moved to some hours',
      'RECURRENCE-ID;VALUE=DATE:20261110\r\nDTSTART:20261109T090000Z\r\nDTEND:20261109T100000Z',
      ['09-10', '10-10', '12-10'],
    ],
  ])('one repetition %s is that event, not the repetition', async (_, override, days) => {
    const event = (lines: string) => `BEGIN:VEVENT\r\n${lines}\r\nEND:VEVENT`;
    const both = [monthly, `UID:rest\r\n${override}`].map(event);
    for (const events of [both, both.toReversed()]) {
      const text = `BEGIN:VCALENDAR\r\n${events.join('\r\n')}\r\nEND:VCALENDAR\r\n`;
      expect((await datesIn(text)).filter((date) => date < '2027').map((date) => date.slice(5))).toEqual(days);
    }
  });

  test('leaves out cancelled events, and the days that an event itself leaves out', async () => {
    const text = ics(
      'DTSTART;VALUE=DATE:20261224\r\nSTATUS:CANCELLED',
      'DTSTART;VALUE=DATE:20261225\r\nRRULE:FREQ=DAILY;COUNT=3\r\nEXDATE;VALUE=DATE:20261226',
    );
    expect(await datesIn(text)).toEqual(['2026-12-25', '2026-12-27']);
  });

  test.each([
    ['of no zone', 'DTSTART:20261225T000000\r\nDTEND:20261227T000000'],
    ['of a zone', 'DTSTART;TZID=Europe/Berlin:20261225T000000\r\nDTEND;TZID=Europe/Berlin:20261227T000000'],
    ['of UTC', 'DTSTART:20261225T000000Z\r\nDTEND:20261227T000000Z'],
    ['to the last minute', 'DTSTART:20261225T000000\r\nDTEND:20261226T235959'],
    ['with a duration', 'DTSTART:20261225T000000\r\nDURATION:P2D'],
    ['that repeat', 'DTSTART:20261225T000000\r\nDTEND:20261226T000000\r\nRRULE:FREQ=DAILY;COUNT=2'],
  ])('times from midnight to midnight %s are days', async (_, event) => {
    expect(await datesIn(ics(event))).toEqual(christmas);
  });

  test('reads every calendar of a file, and dates without VALUE=DATE', async () => {
    const two = `${ics('DTSTART;VALUE=DATE:20261225')}${ics('DTSTART;VALUE=DATE:20261226')}`;
    expect(await datesIn(two)).toEqual(christmas);
    expect(await datesIn(ics('DTSTART:20261225\r\nDTEND:20261227'))).toEqual(christmas);
    const repeated = 'DTSTART:20261225\r\nRRULE:FREQ=DAILY;COUNT=4\r\nEXDATE:20261227,20261228';
    expect(await datesIn(ics(repeated))).toEqual(christmas);
  });

  test('says that no event of a file is a whole day', async () => {
    const meeting = 'DTSTART:20260615T090000Z\r\nDTEND:20260615T100000Z';
    await expect(datesIn(ics(meeting, meeting, 'DTSTART;VALUE=DATE:20261225\r\nSTATUS:CANCELLED'))).rejects.toThrow(
      'a.ics: found 3 events but no whole day: 2 of only some hours and 1 cancelled; expected whole days such as ' +
        'DTSTART;VALUE=DATE:20261225, or from midnight to midnight',
    );
  });

  test('reads no pipe, which may never end, and neither do rates, counts and lookup tables', async () => {
    const dir = await folderWith({});
    execFileSync('mkfifo', [join(dir, 'a.ics')]);
    expect(() => holidaysOf({ dates: [], files: ['a.ics'] }, dir)).toThrow(
      'a.ics: found no regular file, expected a file that the setting calendar names; correct the name',
    );
  });

  test('names every file that cannot be read', async () => {
    const dir = await folderWith({ 'junk.ics': 'not a calendar', 'empty.ics': ics() });
    expect(() => holidaysOf({ dates: [], files: ['missing.ics', 'junk.ics', 'empty.ics'] }, dir)).toThrow(
      /missing\.ics: .*\n.*junk\.ics: found no iCalendar file.*\n.*empty\.ics: found no event/,
    );
  });
});
