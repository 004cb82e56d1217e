--! about: What is each team (or other owner) charged for the month, compared with the month before and its budget?
--! grain: month, owner
--! params: month month = last-complete, account text = *, dimension text = team, budgets text = *
--! totals: direct_cost, shared_cost, cost, cost_month_before, change
--! formats: csv, parquet
--! top: cost
--! important: owner, cost, direct_cost, shared_cost, change, budget, cost_month_before, compared_end, month
-- One row per owner, over all accounts; null is cost without an owner. An incomplete month is compared with the same
-- hours of the month before: up to compared_end, through which every account is complete. The budget is the smallest
-- monthly budget in jobs/budgets.yaml whose scope names this owner and nothing else.
with owner_hours as (
  select owner, bucket_start, is_shared, cost
  from ledger.costs_by_owner
  where bucket_start >= cast($month as timestamp) - interval 1 month
    and bucket_start < cast($month as timestamp) + interval 1 month
    and ($account is null or account = $account)
),
--! include: charged_owners
