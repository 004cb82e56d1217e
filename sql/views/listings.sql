--! about: Every attempt to fetch a listing of resources from the platform, and its outcome.
--! grain: account, token_workspace, resource_type, run_number
create or replace view listings as
select
  account,
  token_workspace, --: Workspace that the listing was asked for; null if it has the resources of all that the token reaches
  resource_type, --: Resource type, as costs name it; workspace for the list of workspaces
  run_number, --: Run that fetched the listing
  read_at, --: When the listing was fetched, UTC
  outcome, --: read: fetched to the last page. partial: not fetched to the last page. shrunk: more than half of the known resources are missing, so the known ones stay. refused: the platform does not serve the listing to this token. failed: the listing could not be fetched
  reason, --: Why the listing was not fetched in full; null if it was
  (next_step ->> '$.who') || ': ' || (next_step ->> '$.words') as next_step, --: What to do about it; null if the listing was fetched in full
  shortfall, --: How many items fewer the listing has than the platform's count of them; null if it has as many, or if that is not known. The same shortfall on three nights is the platform's own, and the listing then counts as complete
  resources, --: Resources in the listing
  opened, --: Resource states that started with this listing
  ended, --: Resource states that ended with this listing
  requests, --: Requests sent to fetch the listing
  row_number() over (
    partition by account, token_workspace, resource_type order by read_at desc, run_number desc
  ) = 1 as is_last, --: Whether this is the latest attempt to fetch this listing
  next_step as step --: The next step as a JSON object: who takes it (Act or Wait), its words, and the commands that they name; null if the listing was fetched in full
from ledger.listings;
