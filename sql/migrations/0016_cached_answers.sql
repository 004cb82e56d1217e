--! about: Answers that a run has computed: sums of costs, and forecasts. Readers of the same books need not compute them again.
--! about: It has no facts of its own, and a rebuilt warehouse fills it again.
create table ledger.cached_answers (
  kind varchar not null,
  -- SHA-256 of the whole question, with the program that answered it.
  question varchar not null,
  -- The state of the books that it was last asked of. A forecast names all that it depends on in its question.
  state varchar not null,
  run_number bigint not null,
  made_at timestamp not null,
  -- JSON.
  answer varchar not null
);
