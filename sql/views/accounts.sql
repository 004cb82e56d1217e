--! about: Accounts, also those in costbook.yaml that have no load yet: through when the books of each are complete
--! about: (every hour loaded and proven) and settled.
--! grain: account
create or replace view accounts as
with claims as (
  select load_number, min(claimed_end) as claimed_end
  from ledger.claims_corrected
  group by load_number
),
claimed as (
  select
    accounts.account,
    accounts.history_start,
    greatest(covered.window_start, accounts.history_start) as part_start,
    least(covered.window_end, covered.claimed_end, claims.claimed_end) as part_end
  from ledger.accounts as accounts
  join ledger.covered as covered using (account)
  left join claims on claims.load_number = covered.load_number
  where accounts.replaced_at is null
    and covered.replaced_by is null
    and least(covered.window_end, covered.claimed_end, claims.claimed_end) > greatest(covered.window_start, accounts.history_start)
),
in_order as (
  select
    account,
    part_start,
    part_end,
    coalesce(
      max(part_end) over (
        partition by account order by part_start rows between unbounded preceding and 1 preceding
      ),
      history_start
    ) as reached
  from claimed
),
holes as (
  select account, min(part_start) as first_hole_end
  from in_order
  where part_start > reached
  group by account
),
complete as (
  select in_order.account, max(in_order.part_end) as complete_through
  from in_order
  left join holes using (account)
  where holes.first_hole_end is null or in_order.part_start < holes.first_hole_end
  group by in_order.account
),
first_hours as (
  select account, min(window_start) as first_covered
  from ledger.covered
  where replaced_by is null
  group by account
)
select
  accounts.account,
  accounts.name, --: Account name from costbook.yaml
  accounts.role, --: Role of the token that last queried the platform: admin or member
  accounts.history_start, --: First hour of the account's history, UTC; null if the platform has not reported it
  first_hours.first_covered, --: First hour in the books, UTC
  complete.complete_through, --: Every hour before this instant is loaded and proven, without gaps, UTC; null if no hour is
  -- greatest() ignores nulls: an account without complete hours must not look settled.
  case
    when complete.complete_through is not null
      then greatest(accounts.history_start, complete.complete_through - to_days(accounts.settle_days))
  end as settled_through, --: The platform is no longer expected to change hours before this instant, UTC
  case when accounts.has_ended then accounts.recorded_at end as ended_at --: Since when no run reads the account, because costbook.yaml no longer names it, UTC; null while runs read it
from ledger.accounts as accounts
left join first_hours using (account)
left join complete using (account)
where accounts.replaced_at is null;
