"""Computes the Greeks of a file of columns with numpy, once for each byte that it reads from a pipe.

`python3 kernel_turns.py IN COUNT REQUESTS ANSWERS` reads seven columns as greeks.py does. After each computation, it writes the processor
time of the process to the pipe ANSWERS, in ns as a whole number of eight bytes. It ends when the pipe REQUESTS is closed.
"""

import sys
import time

import numpy as np
from greeks import greeks

source, count, requests, answers = sys.argv[1:]
columns = np.fromfile(source, np.float64).reshape(7, int(count))
with open(requests, "rb", buffering=0) as given, open(answers, "wb", buffering=0) as done:
    while given.read(1):
        greeks(*columns)
        done.write(time.process_time_ns().to_bytes(8, sys.byteorder))
