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

/** Every command, in the order in which help shows them. */
export const commands: readonly Command[] = [
  ingestCommand,
  reportCommand,
  verifyCommand,
  sqlCommand,
  checkCommand,
  statusCommand,
  restatementsCommand,
  closeCommand,
  reopenCommand,
  rebuildCommand,
  planCommand,
  demoCommand,
  emulatorCommand,
];

/** Options that every command takes, before or after its name. */
export const commonOptions = [
  { flags: '--dir <dir>', summary: 'the project folder (COSTBOOK_DIR); by default the current one' },
  { flags: '--now <instant>', summary: 'what the books call now (COSTBOOK_NOW); waiting still takes real time' },
  { flags: '--json', summary: 'one JSON value on stdout and nothing else (COSTBOOK_JSON=1)' },
  { flags: '--log-format <format>', summary: 'human or json (COSTBOOK_LOG_FORMAT); human on a terminal by default' },
] as const;
