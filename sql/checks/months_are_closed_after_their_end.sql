--! about: No closed month depends on hours that were fetched under a fast clock. If one does, run costbook reopen and
--! about: close it again.
--! severity: warn
select
  closes.account,
  closes.billing_month,
  closes.closed_at,
  min(corrected.claimed_end) as complete_through_then
from ledger.closes as closes
join ledger.claims_corrected as corrected using (account)
join ledger.loads as loads on loads.load_number = corrected.load_number
where closes.reopened_at is null
  and closes.load_number >= corrected.load_number
  and loads.window_end > cast(closes.billing_month as timestamp)
  and corrected.claimed_end < cast(closes.billing_month as timestamp) + interval 1 month
group by closes.account, closes.billing_month, closes.closed_at
