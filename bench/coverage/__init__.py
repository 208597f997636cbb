"""The coverage study: do nominal 95 % intervals hold the truth in 95 % of data sets drawn from it?"""

import os

# The arrays are small: threads of the linear algebra library would only get into each other's way.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")
