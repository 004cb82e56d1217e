--! about: The deployment history of each resource, one row per event.
--! grain: account, workspace, resource_type, resource_name, event_time, revision, status, event_type, message
create or replace view resource_events as
select
  account,
  workspace,
  resource_type,
  resource_name,
  event_time,
  event_type,
  status,
  message,
  revision,
  canary_revision,
  recorded_at
from ledger.resource_events;
comment on view resource_events is 'Deployment history of each resource, as the platform lists it. An event stays when the platform lists it no longer. The platform lists no events of sandboxes';
comment on column resource_events.account is 'Billing account';
comment on column resource_events.workspace is 'Workspace that contains the resource';
comment on column resource_events.resource_type is 'Resource type, as costs name it';
comment on column resource_events.resource_name is 'Resource name';
comment on column resource_events.event_time is 'When it happened, by the platform''s clock, UTC';
comment on column resource_events.event_type is 'Type of the event, such as deployment';
comment on column resource_events.status is 'Deployment status that the event led to, such as DEPLOYED';
comment on column resource_events.message is 'Message of the platform, cut to 1000 characters';
comment on column resource_events.revision is 'Revision that the event is about';
comment on column resource_events.canary_revision is 'Canary revision that the event is about';
comment on column resource_events.recorded_at is 'When Costbook first saw the event, UTC';
