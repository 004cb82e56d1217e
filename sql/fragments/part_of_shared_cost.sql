--! about: An owner's part of shared cost in a row of the CTE in_order (before, through: the running total in trillionths
--! about: of a dollar without and with the row; is_last: whether it is the last row of the month): the difference of its
--! about: parts of the two totals, by its row of the CTE proportions. In trillionths of a dollar.
case
  when in_order.is_last then proportions.share_through - proportions.share_before
  when proportions.is_last_owner
    then in_order.through - case when proportions.is_after_all then in_order.through else cast(round(in_order.through * proportions.ratio_before) as hugeint) end
  else cast(round(in_order.through * proportions.ratio_through) as hugeint)
    - case when proportions.is_after_all then in_order.through else cast(round(in_order.through * proportions.ratio_before) as hugeint) end
end
- case
  when proportions.is_last_owner then in_order.before
  else cast(round(in_order.before * proportions.ratio_through) as hugeint)
end
+ case when proportions.is_after_all then in_order.before else cast(round(in_order.before * proportions.ratio_before) as hugeint) end
