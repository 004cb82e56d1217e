--! about: Keeps answers ($answers, a JSON list) for a state of the books, and forgets those of other states.
delete from ledger.cached_answers where state <> $state;

insert into ledger.cached_answers
select kind, question, $state, run_number, cast(made_at as timestamp), answer
from (
  select unnest(
    from_json(
      $answers,
      '[{"kind": "VARCHAR", "question": "VARCHAR", "run_number": "BIGINT", "made_at": "VARCHAR", "answer": "VARCHAR"}]'
    ),
    recursive := true
  )
);
