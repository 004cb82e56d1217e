--! about: The keys of all labels of all resources.
select distinct unnest(json_keys(labels)) as key from ledger.resources where labels is not null order by key;
