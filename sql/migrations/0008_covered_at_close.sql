--! about: A close has the hours that the books then had. If those are lost and fetched again, they are not late. Closes of
--! about: earlier versions do not have it.
alter table ledger.closes add column covered varchar;
