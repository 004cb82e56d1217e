--! about: When the first run of these books started.
select strftime(min(started_at), '%Y-%m-%dT%H:%M:%SZ') as started_at from runs;
