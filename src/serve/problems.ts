import { CostbookError } from '../base/errors.ts';
import { faultAndStep } from '../base/failure.ts';
import { act, nextWords } from '../base/next-step.ts';
import type { Problem, Status } from '../health/index.ts';
import { table } from './layout.ts';
import { html, type Markup } from './markup.ts';
import type { PageRequest } from './page.ts';

const keptMs = 60_000;

/** What pages show of a status. */
export interface Shown {
  readonly problems: readonly (Pick<Problem, 'found' | 'follows' | 'next'> & Partial<Problem>)[];
  readonly alerts: Pick<Status['alerts'], 'list'>;
}

/** The status of the project, read at most once a minute for each snapshot. */
export function statusOf({ view, now, project }: PageRequest): Promise<Shown> {
  return view.once(`status ${Math.floor(now / keptMs)}`, () =>
    project.status().catch((error: unknown): Shown => {
      // A page shows what it can: other numbers do not depend on it.
      if (!(error instanceof CostbookError)) throw error;
      const { found, next = act('run "costbook doctor".') } = faultAndStep(error);
      return { problems: [{ found, follows: [], next }], alerts: { list: [] } };
    }),
  );
}

/** What is wrong, once for each cause, as `status` and `doctor` show it. */
export function problemsSection(problems: Shown['problems']): Markup | '' {
  if (problems.length === 0) return '';
  return html`<section class="alerts">${table(
    'Problems',
    [
      {
        head: 'What',
        cell: ({ found, also = [], follows }) =>
          html`<b>${found}</b>${also.map((words) => html`<br><b>${words}</b>`)}${follows.map((words) => html`<br>So: ${words}`)}`,
      },
      { head: 'Next step', cell: ({ next }) => nextWords(next) },
    ],
    problems,
    '',
  )}</section>`;
}
