--! about: The definition that applies if the books have no allocation rules: no cost has an owner.
'{"dimensions": ["team", "product", "environment"], "aliases": [],
  "rules": [{"name": "default", "conditions": [], "owner": [], "split": null}]}'
