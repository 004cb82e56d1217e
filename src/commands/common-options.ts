/** Options that every command takes, before or after its name. */
export const commonOptions = [
  { flags: '--dir <dir>', summary: 'the project folder (COSTBOOK_DIR); by default the current one' },
  { flags: '--now <instant>', summary: 'what the books call now (COSTBOOK_NOW); waiting still takes real time' },
  { flags: '--json', summary: 'one JSON value on stdout and nothing else (COSTBOOK_JSON=1)' },
  { flags: '--exact', summary: 'on a terminal: every decimal and column, as a pipe gets them' },
  { flags: '--log-format <format>', summary: 'human or json (COSTBOOK_LOG_FORMAT); human on a terminal by default' },
] as const;
