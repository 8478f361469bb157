"""What a wheel weighs and what it costs to import: python core/python/tests/wheel.py WHEEL, in a Python that has it."""

import os
import statistics
import subprocess
import sys

BYTES, MILLISECONDS = 4_800_000, 10.0
TIMED = "import numpy, time; t = time.perf_counter(); import undercurve; print(1e3 * (time.perf_counter() - t))"

size = os.path.getsize(sys.argv[1])
times = [float(subprocess.run([sys.executable, "-c", TIMED], capture_output=True, text=True, check=True).stdout) for _ in range(11)]
print(f"wheel {size:,} bytes (at most {BYTES:,}); import after NumPy {statistics.median(times):.1f} ms (at most {MILLISECONDS:g})")
assert size <= BYTES and statistics.median(times) <= MILLISECONDS
