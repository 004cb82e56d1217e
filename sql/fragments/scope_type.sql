--! about: The type of a scope for from_json. A key that the scope does not name is null.
'{"account": ["VARCHAR"], "workspace": ["VARCHAR"], "resource_type": ["VARCHAR"], "resource_name": ["VARCHAR"],
  "billing_dimension": ["VARCHAR"], "unit": "VARCHAR", "label": [{"pointer": "VARCHAR", "values": ["VARCHAR"]}],
  "owner": [{"pointer": "VARCHAR", "values": ["VARCHAR"]}]}'
