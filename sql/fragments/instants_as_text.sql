--! about: The instants of state_of_accounts as text.
strftime(history_start, '%Y-%m-%dT%H:%M:%SZ') as history_start,
strftime(complete_from, '%Y-%m-%dT%H:%M:%SZ') as complete_from,
strftime(complete_through, '%Y-%m-%dT%H:%M:%SZ') as complete_through,
strftime(settled_through, '%Y-%m-%dT%H:%M:%SZ') as settled_through
