--! about: Each account, and the instants through which its books are complete and settled.
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
  accounts.name,
  accounts.role,
  accounts.history_start,
  first_hours.first_covered,
  complete.complete_through,
  -- greatest() ignores nulls: an account without complete hours must not look settled.
  case
    when complete.complete_through is not null
      then greatest(accounts.history_start, complete.complete_through - to_days(accounts.settle_days))
  end as settled_through
from ledger.accounts as accounts
left join first_hours using (account)
left join complete using (account)
where accounts.replaced_at is null;
comment on view accounts is 'Accounts, also those in costbook.yaml that have no load yet: through when the books of each are complete (every hour loaded and proven) and settled';
comment on column accounts.account is 'Billing account';
comment on column accounts.name is 'Account name from costbook.yaml';
comment on column accounts.role is 'Role of the token that last queried the platform: admin or member';
comment on column accounts.history_start is 'First hour of the account''s history, UTC; null if the platform has not reported it';
comment on column accounts.first_covered is 'First hour in the books, UTC';
comment on column accounts.complete_through is 'Every hour before this instant is loaded and proven, without gaps, UTC; null if no hour is';
comment on column accounts.settled_through is 'The platform is no longer expected to change hours before this instant, UTC';
