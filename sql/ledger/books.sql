--! about: Where all accounts stand together.
select
  --! include: instants_as_text
from (
  select
    --! include: state_of_accounts
  from accounts
);
