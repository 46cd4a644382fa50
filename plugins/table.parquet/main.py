"""Rows of Parquet files, streamed by row group, so that a table of any size takes the memory of one group."""
import datetime
import decimal
import glob
import os
import urllib.parse

import imgflow_source


def plain(value):
    if isinstance(value, (datetime.date, datetime.datetime, decimal.Decimal)):
        return str(value)
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, dict):
        return {name: plain(part) for name, part in value.items()}
    if isinstance(value, list):
        return [plain(part) for part in value]
    return value


def items(config):
    try:
        import pyarrow.parquet
    except ImportError:
        raise RuntimeError("table.parquet needs pyarrow: pip install pyarrow") from None
    pattern = config["path"]
    if os.path.isdir(pattern):
        pattern = os.path.join(pattern, "*.parquet")
    paths = sorted(glob.glob(pattern))
    if not paths:
        raise RuntimeError(f"there is no Parquet file at {pattern}")
    wanted = config.get("columns")
    for path in paths:
        table = pyarrow.parquet.ParquetFile(path)
        names = [config["url"]] + ([config["key"]] if config.get("key") else [])
        missing = [name for name in names if name not in table.schema_arrow.names]
        if missing:
            raise RuntimeError(f"{path} has no column {missing[0]}; it has {', '.join(table.schema_arrow.names)}")
        columns = sorted(set(wanted) | set(names)) if wanted else None
        for group in range(table.num_row_groups):
            for row in table.read_row_group(group, columns=columns).to_pylist():
                row = {name: plain(value) for name, value in row.items()}
                url = row.get(config["url"]) or ""
                if "://" not in url:
                    url = urllib.parse.urljoin(config.get("base") or "", url)
                item = {"url": url, "row": row}
                if config.get("key"):
                    item["key"] = str(row[config["key"]])
                yield item


imgflow_source.serve(items)
