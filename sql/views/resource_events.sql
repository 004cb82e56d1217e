--! about: Deployment history of each resource, as the platform lists it. An event stays when the platform lists it no
--! about: longer. The platform lists no events of sandboxes.
--! grain: account, workspace, resource_type, resource_name, event_time, revision, status, event_type, message
create or replace view resource_events as
select
  account,
  workspace, --: Workspace that contains the resource
  resource_type, --: Resource type, as costs name it
  resource_name,
  event_time, --: When it happened, by the platform's clock, UTC
  event_type, --: Type of the event, such as deployment
  status, --: Deployment status that the event led to, such as DEPLOYED
  message, --: Message of the platform, cut to 1000 characters
  revision, --: Revision that the event is about
  canary_revision, --: Canary revision that the event is about
  recorded_at --: When Costbook first saw the event, UTC
from ledger.resource_events;
