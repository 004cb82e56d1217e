--! about: The answers of one kind that hold for the present state of the books ($state); without a state, the last ones. A
--! about: forecast holds in any state, because its question names all that it depends on.
select question, state, run_number, epoch_ms(made_at) as made_at, answer
from ledger.cached_answers
where kind = $kind and ($state is null or state = $state or kind = 'forecast')
