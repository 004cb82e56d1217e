--! about: How many messages are not yet delivered.
select count(*) as messages from messages where outcome = 'pending';
