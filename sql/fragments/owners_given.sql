--! about: The rows of few_owners, from $owners (answer_cache/owners): it takes longer to plan the view than to read it.
select unnest(
  from_json(
    $owners,
    '[{
      "series_id": "UBIGINT", "from_time": "TIMESTAMP", "to_time": "TIMESTAMP", "rule_number": "INTEGER",
      "rule": "VARCHAR", "is_split": "BOOLEAN", "owner": "VARCHAR", "is_mounted": "BOOLEAN",
      "mount_split": {
        "by": "VARCHAR", "over": ["VARCHAR"], "billing_dimension": "VARCHAR",
        "owners": [{"owner": "VARCHAR", "weight": "VARCHAR"}]
      }
    }]'
  )
) as owner_row
