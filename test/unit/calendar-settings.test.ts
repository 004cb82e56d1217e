import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { holidaysOf, parseCalendar } from '../../src/config/calendar-settings.ts';
import { dayMs } from '../../src/time.ts';

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

  test('ends for events that repeat for ever', async () => {
    const dir = await folderWith({ 'a.ics': ics('DTSTART;VALUE=DATE:19000101\r\nRRULE:FREQ=DAILY') });
    expect(holidaysOf({ dates: [], files: ['a.ics'] }, dir).size).toBe(1000);
  });

  test('names every file that cannot be read', async () => {
    const dir = await folderWith({ 'junk.ics': 'not a calendar', 'empty.ics': ics() });
    expect(() => holidaysOf({ dates: [], files: ['missing.ics', 'junk.ics', 'empty.ics'] }, dir)).toThrow(
      /missing\.ics: .*\n.*junk\.ics: found no iCalendar file.*\n.*empty\.ics: found no event/,
    );
  });
});
