"""Export the results of a study as a table: CSV, or Parquet with DuckDB. The only module that imports DuckDB."""

import csv
import io
import json
import os
import tempfile
from pathlib import Path

from ucls._util.files import write_atomic
from ucls.core.metrics import Metrics
from ucls.errors import UserError
from ucls.study.storage.result import Circumstance
from ucls.study.storage.store import Store

HEADS = ["id", "label", "agent", "env", "steps", "seed", "settings", "status", *Metrics._fields, "arrays_sha256"]
PARQUET = b"PAR1"  # at both ends of such a file


def export_csv(store: Store, name: str, results_only: bool = False) -> str:
    """Write one row per finished run, sorted by id; equal results give equal text if `results_only`."""
    rows = {row.id: row for row in store.rows(name) if row.metrics is not None}
    digests = store.digests(name)
    contents = store.contents(name)
    about = {} if results_only else store.circumstances(name)
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(HEADS + ([] if results_only else list(Circumstance._fields)))
    for id in sorted(rows):
        row = rows[id]
        settings = json.dumps(json.loads(contents[id])["settings"], sort_keys=True)
        cells = [id, row.label, row.agent, row.env, row.steps, row.seed, settings, row.status]
        cells += ["" if value is None else repr(value) for value in row.metrics or ()]
        writer.writerow([*cells, digests[id], *([] if results_only else about[id])])
    return out.getvalue()


def refuse_other_files(path: Path) -> None:
    """Refuse to overwrite anything but an earlier export."""
    if not os.path.lexists(path):
        return
    if not path.is_file():
        raise UserError(f"{path} is not a file: give another --out")
    content = path.read_bytes()
    parquet = content[:4] == content[-4:] == PARQUET and HEADS[-1].encode() in content
    if content and not parquet and not content.startswith(",".join(HEADS).encode()):
        raise UserError(f"{path} exists and is not an exported study: give another --out")


def export_parquet(text: str, path: Path) -> None:
    """Write a CSV text as a Parquet file."""
    try:
        import duckdb
    except ImportError:
        raise UserError("Parquet needs DuckDB: pip install 'ucls[analysis]', or export as csv") from None

    def write(target: Path) -> None:
        with tempfile.NamedTemporaryFile("w", suffix=".csv") as file, duckdb.connect(config={"threads": 1}) as db:
            file.write(text)
            file.flush()
            table = db.read_csv(file.name, header=True, all_varchar=False)
            table.write_parquet(str(target))

    write_atomic(path, write)
