--! about: How many messages wait for a sink to take them.
select count(*) as messages from messages where outcome = 'pending';
