--! about: The keys of all labels that any resource has.
select distinct unnest(json_keys(labels)) as key from ledger.resources where labels is not null order by key;
