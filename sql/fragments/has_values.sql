--! about: Whether the JSON object `facts` has, for each of the `entries` {pointer, values}, one of the values.
len(
  list_filter(
    entries,
    lambda entry: coalesce(list_contains(entry.values, json_extract_string(facts, entry.pointer)), false)
  )
) = len(entries)
