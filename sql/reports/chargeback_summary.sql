--! about: What is each team (or other owner) charged for the month, compared with the month before and its budget?
--! for: teams
--! grain: month, owner
--! params: month month = last-complete, account text = *, dimension text = team, budgets text = *
--! totals: direct_cost, shared_cost, cost, correction_cost, invoice_difference, billed_cost, cost_month_before, change
--! top: cost
--! important: owner, billed_cost, cost, correction_cost, direct_cost, shared_cost, change, budget, cost_month_before,
--! important: invoice_difference, billed_later, compared_end, month
-- One row per owner, over all accounts; null is cost without an owner. cost is what the month itself cost, and
-- correction_cost the corrections of earlier closed months that it bills, for the owners of the corrected hours.
-- invoice_difference is what an invoice bills beyond both; nobody owns it. billed_cost adds up to what the month bills,
-- also with --as-of now: billed_later is the part of cost that a closed month did not bill, because it was seen after the
-- close and a later month bills it. An incomplete month is compared with the same hours of the month before: up to
-- compared_end, through which every account is complete. The budget is the smallest monthly budget in jobs/budgets.yaml
-- whose scope names this owner and nothing else.
with owner_hours as (
  select owner, bucket_start, is_shared, cost
  from ledger.costs_by_owner
  where bucket_start >= cast($month as timestamp) - interval 1 month
    and bucket_start < cast($month as timestamp) + interval 1 month
    and ($account is null or account = $account)
),
owner_corrections as (
  select owner, cost, usage_month = cast($month as date) as is_later
  from corrections_allocated
  where (billing_month = cast($month as date) or usage_month = cast($month as date))
    and ($account is null or account = $account)
),
--! include: charged_owners
