/** Options that every command takes, before or after its name. */
export const commonOptions = [
  { flags: '--dir <dir>', summary: 'project folder (COSTBOOK_DIR); the current folder by default' },
  {
    flags: '--now <instant>',
    summary: 'use this instant as the current time (COSTBOOK_NOW); timeouts and waits use real time',
  },
  { flags: '--json', summary: 'print one JSON value on stdout and nothing else (COSTBOOK_JSON=1)' },
  { flags: '--exact', summary: 'on a terminal: show every decimal and column, as in a pipe' },
  { flags: '--log-format <format>', summary: 'human or json (COSTBOOK_LOG_FORMAT); human on a terminal by default' },
] as const;
