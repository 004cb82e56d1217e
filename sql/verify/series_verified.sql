--! about: When the series of each billing dimension were last verified, by the instant at which the question began.
select
  case when starts_with(compared, 'pages of names') then 'names' else 'series' end as question,
  billing_dimension, epoch_ms(window_start) as verified_from, epoch_ms(max(proven_at)) as at
from ledger.proofs as proofs
where account = $account and (starts_with(compared, 'pages of series') or starts_with(compared, 'pages of names'))
  -- What was found to contradict itself is asked first of all until it does not.
  and not exists (
    select 1 from ledger.contradictions as contradictions
    where contradictions.account = proofs.account
      and proofs.compared like 'pages of ' || split_part(contradictions.question, ' ', 1) || '%'
      and contradictions.window_start < proofs.window_end and contradictions.window_end > proofs.window_start
      and coalesce(contradictions.billing_dimension = proofs.billing_dimension, true)
  )
group by question, billing_dimension, window_start;
