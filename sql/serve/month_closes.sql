--! about: The close of a month, a row per account; no row while it is open.
select account, strftime(closed_at, '%Y-%m-%dT%H:%M:%SZ') as closed_at, invoiced, no_invoice, sha256
from closes
where is_closed and billing_month = cast($month as date)
order by account;
