--! about: The meter of each billing dimension.
select billing_dimension, meter from focus_dimensions;
