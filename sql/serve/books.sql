--! about: Where the accounts that the viewer sees stand together.
select
  --! include: instants_as_text
from (
  select
    --! include: state_of_accounts
  from accounts
  where account in (select account from visible_accounts)
);
