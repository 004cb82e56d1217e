import { exitCodes } from '../base/errors.ts';
import { reopenMonth } from '../closing/index.ts';
import { reading } from '../options/read.ts';
import { options } from '../options/table.ts';
import { revokedWords } from '../reports/exports/index.ts';
import { writingRun } from '../runs/index.ts';
import { parseMonth } from '../time/time.ts';
import { expectBooks } from '../warehouse/integrity/index.ts';
import { type Invoice, invoiceOption } from '../warehouse/ledger/index.ts';
import type { Command } from './command.ts';

/** How to close the month with the invoice of the revoked close; empty if that had none. */
function closeWords(name: string, invoices: readonly Invoice[]): string {
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
      const { name, closedAt, reopenedAt, invoices, revoked } = await reopenMonth(month, reason, warehouse, context);
      const words = revokedWords(revoked);
      await context.answer(
        { month: name, closedAt, reopenedAt, revoked },
        () =>
          `${name} is open again. It was closed at ${closedAt}; --as-of ${closedAt} still shows the numbers of that close.\n${closeWords(name, invoices)}${words === undefined ? '' : `${words}\n`}`,
      );
      return { exitCode: exitCodes.done };
    });
  },
};
