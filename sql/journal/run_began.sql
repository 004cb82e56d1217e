--! about: A run begins. Only one process writes, so what is still called running was ended from outside.
update ledger.runs set outcome = 'interrupted' where outcome = 'running';

update ledger.steps set outcome = 'interrupted' where outcome = 'running';

insert into ledger.runs (run_number, command, started_at, outcome)
values (cast($run_number as bigint), $command, cast($started_at as timestamp), 'running');
