--! about: Instants after $after were written under a fast clock: moves them back by $shift_ms, but not before
--! about: $not_before. The statements for each table follow from the list of tables in src/warehouse/sql/ledger-tables.ts.
--! about: Instants from the landing folder stay as they are: loads are ordered by number.
set variable false_after = cast($after as timestamp);

set variable shift_back = to_milliseconds(cast($shift_ms as bigint));

set variable not_before = cast($not_before as timestamp);

create or replace temporary macro corrected(written) as
  case
    when written > getvariable('false_after') then greatest(written - getvariable('shift_back'), getvariable('not_before'))
    else written
  end;
