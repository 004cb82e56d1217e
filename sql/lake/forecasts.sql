--! about: Every forecast of a period total, as it was made.
--! grain: complete_through, scope_kind, budget, account, workspace, resource_type, scope, period_kind, period
--! version: 2
from forecasts
order by complete_through, scope_kind, budget, account, workspace, resource_type, scope, period_kind, period
