--! about: The last run that ended.
select command, outcome, exit_code, error from runs where outcome <> 'running' order by run_number desc limit 1;
