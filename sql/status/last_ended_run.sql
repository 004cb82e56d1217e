--! about: The last run that ended.
select run_number, command, outcome, exit_code, error, error_code, next_step, failures from runs where outcome <> 'running' order by run_number desc limit 1;
