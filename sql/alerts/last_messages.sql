--! about: The last message to each sink about an alert key.
select sink, message
from ledger.outbox
where kind = 'alerts'
  and list_contains(cast(from_json(message -> '$.entries[*].key', '["VARCHAR"]') as varchar[]), $key)
qualify row_number() over (partition by sink order by message_number desc) = 1
order by message_number;
