--! about: Failed runs and steps have their failures as a list of records, in place of one text with a code and a step:
--! about: a JSON list, the failure that decides the exit code first. Each record has a code, a subject, what was found,
--! about: and the next step with the person who takes it; in the run of a job also the step of the job.
create temporary macro step_of(next_step) as case
  when next_step is not null
    then { who: split_part(next_step, ': ', 1), words: next_step[length(split_part(next_step, ': ', 1)) + 3:] }
end;

create temporary macro failures_of(error, code, next_step) as case
  when error is not null
    then cast(to_json([{
      code: coalesce(code, 'unknown'), subject: null, found: error, next: step_of(next_step)
    }]) as varchar)
end;

alter table ledger.runs alter error type varchar using failures_of(error, error_code, next_step);
alter table ledger.runs rename column error to failures;
alter table ledger.runs drop column error_code;
alter table ledger.runs drop column next_step;

alter table ledger.steps alter error type varchar using failures_of(error, error_code, next_step);
alter table ledger.steps rename column error to failures;
alter table ledger.steps drop column error_code;
alter table ledger.steps drop column next_step;

alter table ledger.account_runs alter error type varchar using failures_of(error, null, null);
alter table ledger.account_runs rename column error to failures;

-- The next step of a listing is a record too.
alter table ledger.listings alter next_step type varchar using cast(to_json(step_of(next_step)) as varchar);

drop macro failures_of;
drop macro step_of;
