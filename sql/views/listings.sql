--! about: Every reading of a listing of resources, and what came of it.
--! grain: account, token_workspace, resource_type, run_number
create or replace view listings as
select
  account,
  token_workspace,
  resource_type,
  run_number,
  read_at,
  outcome,
  reason,
  resources,
  opened,
  ended,
  requests,
  row_number() over (
    partition by account, token_workspace, resource_type order by read_at desc, run_number desc
  ) = 1 as is_last
from ledger.listings;
comment on view listings is 'Every reading of a listing of resources, and what came of it';
comment on column listings.account is 'Account that pays';
comment on column listings.token_workspace is 'Workspace whose token of inventory.tokens it was read with; null where it was the account''s own';
comment on column listings.resource_type is 'Resource type as costs name it';
comment on column listings.run_number is 'Run that read it';
comment on column listings.read_at is 'When, UTC';
comment on column listings.outcome is 'read: to its last page; partial: not to its last page; shrunk: more than half of what was there is missing, and was kept; refused: the platform does not serve it to this token; failed: it could not be read';
comment on column listings.reason is 'What stood in the way; null where nothing did';
comment on column listings.resources is 'Resources in it';
comment on column listings.opened is 'States of resources that began with it';
comment on column listings.ended is 'States of resources that ended with it';
comment on column listings.requests is 'Requests that it took';
comment on column listings.is_last is 'Whether it is the last reading of that listing';
