--! about: The billing dimensions whose usage each scope in $scopes counts: those in its unit, as far as the books have any.
--! grain: id, billing_dimension
with
--! include: scopes
--! include: series_in_scopes
members as (select id, series_id from series_in_scopes)
select distinct members.id, series.billing_dimension
from members
join series using (series_id)
where series.billing_dimension is not null
order by members.id, series.billing_dimension
