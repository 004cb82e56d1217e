--! about: What the storage of a resource costs a month of 730 hours at the rate of its last complete day, in USD. One row:
--! about: workspace, type and name.
--! include: resources_at_pace_of_day
  and contains(costs.billing_dimension, 'storage')
group by subject;
