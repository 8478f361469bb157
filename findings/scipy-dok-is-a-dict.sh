#!/usr/bin/env bash
# A sparse matrix of SciPy given to libraries that read a dict of columns.
#
# Good guess: what is not a frame and not an array is refused as such, and of SciPy's seven sparse layouts a library takes all or none.
#
# What happens: `dok_array` and `dok_matrix` are subclasses of dict, with (row, column) as keys, and the six others are not. Whoever asks
# isinstance(data, dict) takes them for named columns. pandas says "If using all scalar values, you must pass an index", polars asks for
# the truth value of an array, pyarrow finds a number that is not iterable: each a message about something else. The same matrix in csr is
# refused by its type. A test of layouts that stops at csr, csc and coo sees none of it.
#
# Seen: scipy 1.17.1, pandas 3.1.1, polars 2.1.0, pyarrow 26.0.1.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install --quiet numpy==2.4.6 pandas==3.1.1 polars==2.1.0 pyarrow==26.0.1 scipy==1.17.1 
python/bin/python - <<'PY'
import pandas, polars, pyarrow, scipy.sparse

square = scipy.sparse.coo_array(([2.0, 5.0], ([0, 2], [1, 0])), shape=(3, 2))
dicts = [layout for layout in ("bsr", "coo", "csc", "csr", "dia", "dok", "lil") if isinstance(square.asformat(layout), dict)]
print("dicts:", dicts)


def said(make, layout):
    try:
        return type(make(square.asformat(layout))).__name__
    except Exception as error:
        return f"{type(error).__name__}: {error}"


found = {make.__module__.split(".")[0]: [said(make, layout) for layout in ("csr", "dok")] for make in (pandas.DataFrame, polars.DataFrame)}
found["pyarrow"] = [said(pyarrow.table, layout) for layout in ("csr", "dok")]
for name, (csr, dok) in found.items():
    print(f"{name}: csr: {csr[:90]} | dok: {dok[:90]}")
assert dicts == ["dok"]
assert "scalar values" in found["pandas"][1] and "truth value" in found["polars"][1] and "not iterable" in found["pyarrow"][1]
assert all(of[0] != of[1] for of in found.values()), "it is not so any more"
PY
