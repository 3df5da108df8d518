"""Greeks of Black, Scholes and Merton in numpy. The result has the units and the order of columns of Zomma's batches.

`python3 greeks.py IN OUT COUNT` reads seven columns of raw float64 (call or put as 1 or -1, spot, strike, time, volatility, rate, dividend
yield), and writes the nine columns of Greeks in the same form.
"""

import sys

import numpy as np
from scipy.special import ndtr

NAMES = ("price", "delta", "gamma", "vega", "theta", "rho", "vanna", "charm", "volga")


def greeks(cp, spot, strike, tte, iv, rate, dividend):
    root = np.sqrt(tte)
    deviation = iv * root
    discount = np.exp(-rate * tte)
    carry = np.exp(-dividend * tte)
    d1 = (np.log(spot / strike) + (rate - dividend + 0.5 * iv * iv) * tte) / deviation
    d2 = d1 - deviation
    density = np.exp(-0.5 * d1 * d1) * 0.3989422804014327
    n1, n2 = ndtr(cp * d1), ndtr(cp * d2)
    asset, bond = cp * spot * carry * n1, cp * strike * discount * n2
    spread = spot * carry * density
    vega = spread * root
    slope = carry * density * (2 * (rate - dividend) * tte - d2 * deviation) / (2 * tte * deviation)
    return (
        asset - bond,
        cp * carry * n1,
        carry * density / (spot * deviation),
        0.01 * vega,
        (dividend * asset - rate * bond - spread * iv / (2 * root)) / 365,
        0.01 * tte * bond,
        -0.01 * carry * density * d2 / iv,
        (dividend * cp * carry * n1 - slope) / 365,
        0.0001 * vega * d1 * d2 / iv,
    )


if __name__ == "__main__":
    source, target, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
    columns = np.fromfile(source, np.float64).reshape(7, count)
    np.concatenate(greeks(*columns)).tofile(target)
