"""Reads every table of a lake with pyarrow or Polars: `read_lake.py <pyarrow|polars> <folder>`.

Prints JSON: by table the rows, the exact sums of its decimal columns, and the first and last instant of each column of
instants, in microseconds.
"""

import json
import sys
from pathlib import Path

reader, folder = sys.argv[1], Path(sys.argv[2])
tables = json.loads((folder / "_manifest").read_text())["tables"]


def by_pyarrow(name, partition):
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.dataset as ds

    hive = ds.partitioning(pa.schema([(each, pa.string()) for each in partition]), flavor="hive")
    table = ds.dataset(folder / name, format="parquet", partitioning=hive if partition else None).to_table()
    sums, instants = {}, {}
    for field in table.schema:
        column = table[field.name]
        if pa.types.is_decimal(field.type):
            total = pc.sum(column.cast(pa.decimal128(38, field.type.scale))).as_py()
            sums[field.name] = None if total is None else format(total, "f")
        elif pa.types.is_timestamp(field.type):
            assert field.type.tz == "UTC" and field.type.unit == "us", field
            ends = pc.min_max(column.cast(pa.int64())).as_py()
            instants[field.name] = [ends["min"], ends["max"]]
    return {"rows": table.num_rows, "sums": sums, "instants": instants}


def by_polars(name, partition):
    import polars as pl

    pattern = f"{folder / name}/{'*/' * len(partition)}*.parquet"
    table = pl.scan_parquet(pattern, hive_partitioning=bool(partition), try_parse_hive_dates=False).collect()
    sums, instants = {}, {}
    for column, kind in table.schema.items():
        if isinstance(kind, pl.Decimal):
            total = table[column].cast(pl.Decimal(38, kind.scale)).sum() if table[column].count() else None
            sums[column] = None if total is None else format(total, "f")
        elif isinstance(kind, pl.Datetime):
            assert kind.time_zone == "UTC" and kind.time_unit == "us", (column, kind)
            values = table[column].to_physical()
            instants[column] = [values.min(), values.max()]
    return {"rows": table.height, "sums": sums, "instants": instants}


read = by_pyarrow if reader == "pyarrow" else by_polars
found = {name: read(name, of["partition"]) for name, of in tables.items() if (folder / name).exists()}
print(json.dumps(found))
