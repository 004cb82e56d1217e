--! about: A window that did not prove; its last proven state stands.
insert into ledger.unproven
select
  $account, cast($window_start as timestamp), cast($window_end as timestamp), $because, $is_young,
  cast($run_number as bigint), cast($seen_at as timestamp);
