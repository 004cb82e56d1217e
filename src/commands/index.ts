import { allocationCommand } from './allocation.ts';
import { checkCommand } from './check.ts';
import { closeCommand } from './close.ts';
import type { Command } from './command.ts';
import { demoCommand } from './demo.ts';
import { emulatorCommand } from './emulator.ts';
import { ingestCommand } from './ingest.ts';
import { planCommand } from './plan.ts';
import { rebuildCommand } from './rebuild.ts';
import { reopenCommand } from './reopen.ts';
import { reportCommand } from './report.ts';
import { restatementsCommand } from './restatements.ts';
import { sqlCommand } from './sql.ts';
import { statusCommand } from './status.ts';
import { verifyCommand } from './verify.ts';

export type { Command, CommandContext, CommandInput, CommandOption } from './command.ts';
export { commonOptions } from './common-options.ts';

/** Every command, in the order in which help shows them. */
export const commands: readonly Command[] = [
  ingestCommand,
  reportCommand,
  verifyCommand,
  sqlCommand,
  checkCommand,
  statusCommand,
  restatementsCommand,
  allocationCommand,
  closeCommand,
  reopenCommand,
  rebuildCommand,
  planCommand,
  demoCommand,
  emulatorCommand,
];
