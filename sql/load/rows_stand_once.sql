--! about: Whether no two rows of the window are of one series and hour: an entry has each hour once.
select
  not exists (select 1 from differences)
  and (select count(*) = count(distinct series_id) from detail_entries) as stand_once;
