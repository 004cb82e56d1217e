--! about: Tables and columns get the names of docs/glossary.md. The views are made anew after the migrations.

-- Views that have other names now.
drop view if exists corrections;
drop view if exists amounts;
drop view if exists amounts_billed;
drop view if exists proofs;
drop view if exists ledger.amounts_at_close;

alter table ledger.amounts rename to hourly_costs;
alter table ledger.proofs rename to reconciliation;

alter table ledger.loads rename column amounts to row_count;
alter table ledger.reconciliation rename column reading to attempt;
alter table ledger.reconciliation rename column amounts to row_count;
alter table ledger.reconciliation rename column compared to check_code;
alter table ledger.unproven rename column because to reason;
alter table ledger.contradictions rename column because to reason;
alter table ledger.closes rename column amounts to row_count;
alter table ledger.closes rename column digest to sha256;
alter table ledger.closes rename column reopened_because to reopen_reason;
alter table ledger.account_runs rename column amounts to row_count;
alter table ledger.listings rename column because to reason;
alter table ledger.alerts rename column is_told to is_notified;
alter table ledger.outbox rename column digest to summary;
alter table ledger.deliveries rename column because to reason;
alter table ledger.anomalies rename column told_day to notified_day;
alter table ledger.anomalies rename column is_told to is_notified;

-- The command and step `digest` is `summarize`.
update ledger.runs set command = 'summarize' where command = 'digest';
update ledger.steps set step = 'summarize', command_line = 'summarize' || command_line[7:] where step = 'digest';

-- Facts and messages are JSON: a key is followed by a colon, which a text within is not, as its quotes are escaped.
update ledger.alerts
set
  alert_key = case alert_key when 'run/digest' then 'run/summarize' else alert_key end,
  fact = replace(replace(replace(replace(
    fact, '"because":', '"reason":'), '"lacking":', '"gaps":'), '"run/digest"', '"run/summarize"'),
    '"command":"digest"', '"command":"summarize"'),
  end_fact = replace(replace(replace(replace(
    end_fact, '"because":', '"reason":'), '"lacking":', '"gaps":'), '"run/digest"', '"run/summarize"'),
    '"command":"digest"', '"command":"summarize"');
update ledger.acknowledgements set alert_key = 'run/summarize' where alert_key = 'run/digest';
update ledger.outbox
set
  kind = case kind when 'digest' then 'summary' else kind end,
  message = replace(replace(replace(replace(replace(replace(
    message, '"because":', '"reason":'), '"lacking":', '"gaps":'), '"run/digest"', '"run/summarize"'),
    '"command":"digest"', '"command":"summarize"'), '"kind":"digest"', '"kind":"summary"'), '"digest":', '"summary":');

-- What a window differs by, which was only in its sentence before.
alter table ledger.unproven add column cost_difference decimal(38, 12);
alter table ledger.contradictions add column cost_difference decimal(38, 12);

-- Codes in the place of sentences.
update ledger.reconciliation
set
  check_code = case
    when check_code like 'pages of % and the rows they leave out = their total'
      then 'pages_match_total.' || replace(check_code[10:-42], ' ', '_') || '.with_left_out'
    when check_code like 'pages of % = their total' then 'pages_match_total.' || replace(check_code[10:-15], ' ', '_')
    when check_code like 'hours of a group = the group (%)'
      then 'hours_match_group.' || replace(check_code[31:-2], ' ', '_')
    when check_code like 'buckets of a group = the group (%)'
      then 'buckets_match_group.' || replace(check_code[33:-2], ' ', '_')
    when check_code like 'groups are named once (%)' then 'groups_are_unique.' || replace(check_code[24:-2], ' ', '_')
    else case check_code
      when 'all rows = the total of detail, which leaves some out' then 'all_rows_match_total.detail'
      when 'hours = the control' then 'hours_match_control'
      when 'rows = the control''s total' then 'rows_match_control'
      when 'rows without uuid have no negative usage' then 'usage_is_not_negative'
      when 'days = the platform''s daily totals' then 'days_match_platform'
      when 'series = the platform''s totals of them' then 'series_match_platform'
      when 'names = the platform''s totals of them' then 'names_match_platform'
      when 'month of a billing dimension = the platform''s total' then 'month_dimension_matches_platform'
      when 'month = the platform''s total' then 'month_matches_platform'
      else check_code
    end
  end;
update ledger.contradictions set question = replace(question, ' by ', '_by_');
