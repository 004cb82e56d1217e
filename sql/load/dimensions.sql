--! about: The billing dimensions of the staged rows.
select distinct billing_dimension from incoming_series order by all;
