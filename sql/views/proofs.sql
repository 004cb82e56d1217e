--! about: Every comparison with the platform's own totals.
--! grain: run_number, account, window_start, reading, compared, measure, billing_dimension
create or replace view proofs as
select
  run_number,
  reading,
  load_number,
  account,
  window_start,
  window_end,
  compared,
  measure,
  billing_dimension,
  amounts,
  ours,
  theirs,
  difference,
  tolerance,
  proven,
  proven_at
from ledger.proofs;
comment on view proofs is 'Every comparison of a window with the totals of the platform, passed or not';
comment on column proofs.run_number is 'Run that compared';
comment on column proofs.reading is 'Which reading of the window within the run: what does not prove is read again';
comment on column proofs.load_number is 'Load that the proof let through; null where the window did not prove, or where the books were verified without a load';
comment on column proofs.account is 'Account that pays';
comment on column proofs.window_start is 'First hour of the window, UTC';
comment on column proofs.window_end is 'End of the window, UTC, exclusive';
comment on column proofs.compared is 'What was compared with what';
comment on column proofs.measure is 'cost (USD), usage (in its unit) or groups (a count)';
comment on column proofs.billing_dimension is 'Dimension of the comparison; null where all are meant';
comment on column proofs.amounts is 'How many amounts of ours were added up';
comment on column proofs.ours is 'Our sum';
comment on column proofs.theirs is 'The total of the platform';
comment on column proofs.difference is 'Ours less theirs, kept also where it is within the tolerance';
comment on column proofs.tolerance is 'Largest difference that rounding explains';
comment on column proofs.proven is 'Whether the difference is within the tolerance';
comment on column proofs.proven_at is 'When, UTC';
