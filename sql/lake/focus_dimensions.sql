--! about: FOCUS names of each billing dimension.
--! grain: billing_dimension
--! version: 1
from focus_dimensions
order by billing_dimension
