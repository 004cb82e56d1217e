import { dayMs, floorDay, formatInstant, type Instant } from '../time/time.ts';
import type { SqlRow } from '../warehouse/store/index.ts';
import type { BooksView } from './books/index.ts';
import { html, type Markup } from './markup.ts';

const weeksShown = 18;
const weekdays = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'];
// 1970-01-05 was a Monday.
const firstMonday = 4 * dayMs;

type DayState = 'complete' | 'partial' | 'unproven' | 'missing' | 'none';

const words: Readonly<Record<DayState, string>> = {
  complete: 'complete, matches the platform’s totals',
  partial: 'not complete yet',
  unproven: 'does not match the platform’s totals',
  missing: 'missing',
  none: 'before the books start, or not over yet',
};

/** A calendar of the last weeks: which days are complete and match the platform's totals. */
export async function coverageCalendar(view: BooksView, now: Instant): Promise<Markup> {
  const to = floorDay(now) + dayMs;
  const monday = Math.floor((to - dayMs - firstMonday) / (7 * dayMs)) * 7 * dayMs + firstMonday;
  const from = monday - (weeksShown - 1) * 7 * dayMs;
  const rows = await view.rows('proven_days', { from: formatInstant(from), to: formatInstant(to) });
  const states = new Map(rows.map((row) => [String(row['day']), { state: stateOf(row), row }]));
  const weeks = Array.from({ length: weeksShown }, (_, week) => from + week * 7 * dayMs);
  const dayOf = (at: Instant) => formatInstant(at).slice(0, 10);
  const counted = [...states.values()].map(({ state }) => state);
  const bad = counted.filter((state) => state === 'unproven' || state === 'missing').length;
  const finding =
    bad === 0
      ? `All ${counted.filter((state) => state === 'complete').length} complete days match the platform’s totals`
      : `${bad} ${bad === 1 ? 'day is' : 'days are'} missing or ${bad === 1 ? 'does' : 'do'} not match the platform’s totals`;
  return html`<section><div class="wide" role="region" aria-label="Days in the books" tabindex="0"><table class="calendar">
<caption>${finding}</caption>
<thead><tr><th scope="col"><span class="spoken">Weekday</span></th>${weeks.map((week) => html`<th scope="col">${dayOf(week).slice(5)}</th>`)}</tr></thead>
<tbody>${weekdays.map(
    (weekday, index) =>
      html`<tr><th scope="row">${weekday}</th>${weeks.map((week) => {
        const day = dayOf(week + index * dayMs);
        const { state = 'none' as const, row = undefined } = states.get(day) ?? {};
        const text = `${day}: ${words[state]}${state === 'partial' && row !== undefined ? `, ${row['hours_covered']} of ${row['hours_expected']} hours` : ''}`;
        return html`<td class="day-${state}" title="${text}"><span class="spoken">${text}</span></td>`;
      })}</tr>
`,
  )}</tbody>
</table></div>
<p class="keys">${(['complete', 'partial', 'unproven', 'missing'] as const).map((state) => html`<span class="day-key day-${state}"></span> ${words[state]} `)}</p></section>`;
}

function stateOf(row: SqlRow): DayState {
  const [expected, covered] = [Number(row['hours_expected']), Number(row['hours_covered'])];
  if (Number(row['unproven']) > 0) return 'unproven';
  if (expected === 0) return 'none';
  if (covered >= expected) return 'complete';
  return covered > 0 ? 'partial' : 'missing';
}
