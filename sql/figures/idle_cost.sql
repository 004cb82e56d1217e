--! about: What a resource costs a month of 730 hours at the rate of its last complete day, in USD; savings have it of resources that
--! about: nobody uses. One row: workspace, type and name.
--! include: resources_at_pace_of_day
group by subject;
