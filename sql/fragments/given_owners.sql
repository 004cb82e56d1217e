--! about: CTE owners like few_owners, instead of it, from $owners (answer_cache/owners): to plan the view takes longer than to read
--! about: this.
owners as materialized (
  select owner_row.*
  from (
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
  )
),
