--! about: Instants after $after were written under a clock that was fast: they go back by $shift_ms, and none before
--! about: $not_before. The statements for each table follow from the list of tables in src/warehouse/ledger-tables.ts.
--! about: What the landing folder gives back keeps its instants: loads are in the order of their numbers.
set variable false_after = cast($after as timestamp);

set variable shift_back = to_milliseconds(cast($shift_ms as bigint));

set variable not_before = cast($not_before as timestamp);

create or replace temporary macro corrected(written) as
  case
    when written > getvariable('false_after') then greatest(written - getvariable('shift_back'), getvariable('not_before'))
    else written
  end;
