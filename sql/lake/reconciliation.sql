--! about: Every comparison with the platform's totals.
--! grain: run_number, account, window_start, window_end, attempt, check_code, measure, billing_dimension, load_number
--! version: 1
from reconciliation
order by run_number, account, window_start, window_end, attempt, check_code, measure, billing_dimension, load_number
