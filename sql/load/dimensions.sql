--! about: The billing dimensions of the rows at hand.
select distinct billing_dimension from incoming_series order by all;
