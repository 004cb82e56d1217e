import { exitCodes, UsageError } from '../base/errors.ts';
import { invoicesOf } from '../closing/index.ts';
import { reading } from '../options/read.ts';
import { options } from '../options/table.ts';
import { revokedWords } from '../reports/exports/index.ts';
import { formatInstant, formatMonth, parseMonth } from '../time/time.ts';
import { expectBooks } from '../warehouse/integrity/index.ts';
import { type ClosedMonth, invoiceOption } from '../warehouse/ledger/index.ts';
import type { Command } from './command.ts';
import { exportsOfRevoked } from './revoked.ts';
import { writingRun } from './writing-run.ts';

/** How to close the month with the invoice of the revoked close; empty if that had none. */
function closeWords(name: string, month: ClosedMonth): string {
  const invoices = invoicesOf(month);
  return invoices.length === 0
    ? ''
    : `It had ${invoices.length === 1 ? 'an invoice. To close it with the same one' : 'invoices. To close it with the same ones'}: costbook close ${name} ${invoiceOption(invoices)}\n`;
}

export const reopenCommand: Command = {
  name: 'reopen',
  summary: 'Reopen the newest closed month. Its close and your reason stay on record.',
  arguments: [
    { name: '<month>', summary: 'the newest closed month, such as 2026-09, or last for the latest month that is over' },
  ],
  examples: ['costbook reopen 2026-09 --reason "the invoice was corrected"'],
  async run(input, context) {
    const { values, problem, check } = reading(options.reopen, input, context);
    const month = parseMonth(input.arguments[0] ?? '', 'month', context.effects.now()).start;
    const { reason = '', wait: waitMs } = values;
    if (reason.trim() === '') problem('--reason is missing: say why you reopen the month; the books store it');
    check();
    await expectBooks(context.dir); // nothing published: nothing to reopen, no file to make
    return writingRun('reopen', waitMs, context, async (warehouse) => {
      const closed = await warehouse.closedMonths();
      const last = closed.at(-1);
      const before = closed.find((candidate) => candidate.month === month);
      const name = formatMonth(month);
      if (last === undefined || before === undefined) {
        const expected =
          last === undefined ? 'and no other month is' : `and the newest closed month is ${formatMonth(last.month)}`;
        throw new UsageError(`${name} is not closed, ${expected}`);
      }
      if (last.month !== month) {
        const newest = formatMonth(last.month);
        throw new UsageError(
          `${name} cannot be reopened while ${newest} is closed: first run "costbook reopen ${newest} --reason …"`,
        );
      }
      const reopenedAt = await warehouse.reopenMonth(month, context.redact(reason.trim()), context.effects.now());
      const closedAt = formatInstant(before.closedAt);
      const close = { month: name, closedAt: before.closedAt, reopenedAt, isClosedAgain: false };
      const revoked = await exportsOfRevoked(context.dir, [close]);
      const words = revokedWords(revoked);
      await context.write(
        context.json
          ? `${JSON.stringify({ month: name, closedAt, reopenedAt: formatInstant(reopenedAt), revoked })}\n`
          : `${name} is open again. It was closed at ${closedAt}; --as-of ${closedAt} still shows the numbers of that close.\n${closeWords(name, before)}${words === undefined ? '' : `${words}\n`}`,
      );
      return { exitCode: exitCodes.done };
    });
  },
};
