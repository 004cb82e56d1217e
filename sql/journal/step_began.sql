--! about: A step of a job run starts.
insert into ledger.steps (run_number, position, step, command_line, outcome, started_at)
values (
  cast($run_number as bigint), cast($position as integer), $step, $command_line, 'running', cast($started_at as timestamp)
);
