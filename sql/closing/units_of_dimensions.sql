--! about: The unit of each billing dimension in the books.
select billing_dimension, unit from ledger.units order by billing_dimension;
