--! about: The closed months of an account that depend on hours fetched under a fast clock.
select distinct strftime(closes.billing_month, '%Y-%m') as month
from ledger.closes as closes
join ledger.claims_corrected as corrected using (account)
join ledger.loads as loads on loads.load_number = corrected.load_number
where closes.account = $account
  and closes.reopened_at is null
  and closes.load_number >= corrected.load_number
  and loads.window_end > cast(closes.billing_month as timestamp)
  and corrected.claimed_end < cast(closes.billing_month as timestamp) + interval 1 month
order by month;
