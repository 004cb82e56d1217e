--! about: The structure of a definition of allocation rules, as from_json takes it.
'{
  "dimensions": ["VARCHAR"],
  "aliases": [{"label": "VARCHAR", "alias": "VARCHAR", "value": "VARCHAR"}],
  "rules": [{
    "name": "VARCHAR", "from": "VARCHAR", "until": "VARCHAR",
    "conditions": [{
      "number": "INTEGER", "field": "VARCHAR", "kind": "VARCHAR", "value": "VARCHAR", "owner": "VARCHAR"
    }],
    "owner": [{"dimension": "VARCHAR", "value": "VARCHAR", "label": "VARCHAR"}],
    "split": {
      "by": "VARCHAR", "over": ["VARCHAR"], "billing_dimension": "VARCHAR",
      "owners": [{"owner": "VARCHAR", "weight": "VARCHAR"}]
    }
  }]
}'
