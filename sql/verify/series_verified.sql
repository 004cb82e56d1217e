--! about: When the series of each billing dimension were last verified: the instant at which the query started.
select
  case when starts_with(check_code, 'pages_match_total.names') then 'names' else 'series' end as question,
  billing_dimension, epoch_ms(window_start) as verified_from, epoch_ms(max(proven_at)) as at
from ledger.reconciliation as reconciliation
where account = $account and (starts_with(check_code, 'pages_match_total.series') or starts_with(check_code, 'pages_match_total.names'))
  -- A contradiction is fetched first, until it is gone.
  and not exists (
    select 1 from ledger.contradictions as contradictions
    where contradictions.account = reconciliation.account
      and reconciliation.check_code like 'pages_match_total.' || split_part(contradictions.question, '_by_', 1) || '%'
      and contradictions.window_start < reconciliation.window_end and contradictions.window_end > reconciliation.window_start
      and coalesce(contradictions.billing_dimension = reconciliation.billing_dimension, true)
  )
group by question, billing_dimension, window_start;
