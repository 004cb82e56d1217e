--! about: A closed month is open again; its close stays on record.
update ledger.closes
set reopened_at = cast($reopened_at as timestamp), reopen_reason = $reason
where billing_month = cast($billing_month as date) and reopened_at is null;
