--! about: A run starts. Only one process writes, so any run still recorded as running was killed.
update ledger.runs set outcome = 'interrupted' where outcome = 'running';

update ledger.steps set outcome = 'interrupted' where outcome = 'running';

insert into ledger.runs (run_number, command, started_at, outcome, command_line)
values (cast($run_number as bigint), $command, cast($started_at as timestamp), 'running', $command_line);
