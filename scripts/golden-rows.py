"""What pyarrow and DuckDB read in files of rows, as JSON: python3 scripts/golden-rows.py FILE.parquet FILE.csv

Rows are lists, in the order of the schema. Times are nanoseconds, as text: JSON has no numbers of so many digits.
"""
import json
import sys

import duckdb
import pyarrow
import pyarrow.parquet as parquet

TIME = "time"


def plain(names, row):
    return [str(value) if name == TIME else value for name, value in zip(names, row)]


def by_pyarrow(path):
    table = parquet.read_table(path)
    schema = [f"{field.name}: {field.type}{'' if field.nullable else ' not null'}" for field in table.schema]
    at = table.schema.get_field_index(TIME)
    numbers = table.set_column(at, TIME, table.column(TIME).cast(pyarrow.int64()))
    rows = [plain(row.keys(), row.values()) for row in numbers.to_pylist()]
    return {"schema": schema, "rows": rows}


def by_duckdb(source, path, time):
    found = duckdb.sql(f"SELECT * REPLACE ({time} AS time) FROM {source}", params=[path])
    rows = [plain(found.columns, row) for row in found.fetchall()]
    types = duckdb.sql(f"DESCRIBE SELECT * FROM {source}", params=[path]).fetchall()
    return {"schema": [f"{name}: {type}" for name, type, *_ in types], "rows": rows}


parquet_path, csv_path = sys.argv[1:]
read = {
    "versions": f"pyarrow {pyarrow.__version__}, duckdb {duckdb.__version__}",
    "pyarrow": by_pyarrow(parquet_path),
    "duckdb": by_duckdb("read_parquet(?)", parquet_path, "epoch_ns(time)"),
    "csv": by_duckdb("read_csv(?, all_varchar = true)", csv_path, "time"),
}
json.dump(read, sys.stdout)
