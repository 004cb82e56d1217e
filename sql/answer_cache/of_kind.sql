--! about: The stored answers of one kind: those for one state of the books ($state), or all.
select question, state, run_number, epoch_ms(made_at) as made_at, answer
from ledger.cached_answers
where kind = $kind and ($state is null or state = $state)
