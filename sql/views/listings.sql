--! about: Every attempt to read a resource listing, and its outcome.
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
  next_step,
  shortfall,
  resources,
  opened,
  ended,
  requests,
  row_number() over (
    partition by account, token_workspace, resource_type order by read_at desc, run_number desc
  ) = 1 as is_last
from ledger.listings;
comment on view listings is 'Every attempt to fetch a listing of resources from the platform, and its outcome';
comment on column listings.account is 'Billing account';
comment on column listings.token_workspace is 'Workspace of the token in inventory.tokens with which the listing was fetched; null if it was the account''s own token';
comment on column listings.resource_type is 'Resource type, as costs name it';
comment on column listings.run_number is 'Run that fetched the listing';
comment on column listings.read_at is 'When the listing was fetched, UTC';
comment on column listings.outcome is 'read: fetched to the last page. partial: not fetched to the last page. shrunk: more than half of the known resources are missing, so the known ones stay. refused: the platform does not serve the listing to this token. failed: the listing could not be fetched';
comment on column listings.reason is 'Why the listing was not fetched in full; null if it was';
comment on column listings.next_step is 'What to do about it; null if the listing was fetched in full';
comment on column listings.shortfall is 'How many items fewer the listing has than the platform''s count of them; null if it has as many, or if that is not known. The same shortfall on three nights is the platform''s own, and the listing then counts as complete';
comment on column listings.resources is 'Resources in the listing';
comment on column listings.opened is 'Resource states that started with this listing';
comment on column listings.ended is 'Resource states that ended with this listing';
comment on column listings.requests is 'Requests sent to fetch the listing';
comment on column listings.is_last is 'Whether this is the latest attempt to fetch this listing';
