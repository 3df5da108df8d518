"""Levels of a chain in numpy. Each line on stdin is a JSON object with the path of raw float64 columns and the number of contracts.

The columns are call or put (1 or -1), strike, time in years, bid, ask and open interest. The work is the same as Zomma's: forwards by
parity, implied volatilities by Newton's method from out-of-the-money quotes, gamma, walls, max pain, and the flip of a gamma profile at 161
levels. Each answer is a line with the CPU time, which does not include the reading of the columns, and the levels.
"""

import json
import sys
import time

import numpy as np
from scipy.special import ndtr

RATE = 0.04
LEVELS = 161
DENSITY = 0.3989422804014327


def forwards_of(cp, strike, tte, mid, spot):
    """Returns the forward of each expiry by parity: the median over the five pairs that are closest to the money."""
    expiries, which = np.unique(tte, return_inverse=True)
    result = spot * np.exp(RATE * expiries)
    for i, years in enumerate(expiries):
        rows = which == i
        calls, puts = rows & (cp > 0) & (mid > 0), rows & (cp < 0) & (mid > 0)
        both, c, p = np.intersect1d(strike[calls], strike[puts], assume_unique=True, return_indices=True)
        if len(both) == 0:
            continue
        near = np.argsort(np.abs(both - spot))[:5]
        gap = mid[calls][c[near]] - mid[puts][p[near]]
        result[i] = np.median(both[near] + gap * np.exp(RATE * years))
    return expiries, which, result


def implied_volatility(cp, forward, strike, tte, price):
    """Returns Black volatilities by Newton's method from the point of inflection, with a bound on each step."""
    root = np.sqrt(tte)
    value = price * np.exp(RATE * tte)
    moneyness = np.log(forward / strike)
    total = np.sqrt(2 * np.abs(moneyness)) + 1e-3
    for _ in range(12):
        d1 = moneyness / total + 0.5 * total
        d2 = d1 - total
        error = cp * (forward * ndtr(cp * d1) - strike * ndtr(cp * d2)) - value
        slope = forward * np.exp(-0.5 * d1 * d1) * DENSITY
        step = error / np.maximum(slope, 1e-12)
        total = np.clip(total - np.clip(step, -0.5 * total, 0.5), 1e-4, 20)
        if np.max(np.abs(step)) < 1e-9:
            break
    return total / root


def gamma_sums(spots, carry, strike, deviation, weight):
    """Returns the sum of gamma by weight at each spot. `carry` is the forward divided by spot."""
    d1 = np.log(spots)[:, None] / deviation + (np.log(carry / strike) / deviation + 0.5 * deviation)
    np.multiply(d1, d1, out=d1)
    np.multiply(d1, -0.5, out=d1)
    return np.exp(d1, out=d1) @ (weight * DENSITY / deviation) / spots


def max_pain(strike, cp, interest):
    strikes, where = np.unique(strike, return_inverse=True)
    calls = np.bincount(where, np.where(cp > 0, interest, 0))
    puts = np.bincount(where, np.where(cp < 0, interest, 0))
    below = strikes * np.cumsum(calls) - np.cumsum(calls * strikes)
    above = np.sum(puts * strikes) - np.cumsum(puts * strikes) - strikes * (np.sum(puts) - np.cumsum(puts))
    return strikes[np.argmin(below + above)]


def levels_of(columns, spot):
    cp, strike, tte, bid, ask, interest = columns
    mid = np.where((bid > 0) & (ask > bid), 0.5 * (bid + ask), 0.0)
    expiries, which, forwards = forwards_of(cp, strike, tte, mid, spot)
    forward = forwards[which]
    outside = (cp * (strike - forward) >= 0) & (mid > 0)
    iv = np.zeros(len(cp))
    solved = implied_volatility(cp[outside], forward[outside], strike[outside], tte[outside], mid[outside])
    iv[outside] = solved
    for i in range(len(expiries)):
        rows = which == i
        known = rows & outside
        order = np.argsort(strike[known])
        if len(order) > 0:
            iv[rows & ~outside] = np.interp(strike[rows & ~outside], strike[known][order], iv[known][order])
    live = (iv > 0) & (interest > 0)
    cp, strike, tte, interest = cp[live], strike[live], tte[live], interest[live]
    carry = forward[live] / spot
    deviation = iv[live] * np.sqrt(tte)
    weight = cp * interest * 100
    d1 = np.log(carry * spot / strike) / deviation + 0.5 * deviation
    exposure = np.exp(-0.5 * d1 * d1) * DENSITY / deviation * weight * spot * 0.01
    strikes, where = np.unique(strike, return_inverse=True)
    calls = np.bincount(where, np.where(cp > 0, exposure, 0))
    puts = np.bincount(where, np.where(cp < 0, exposure, 0))
    spots = spot * np.exp(np.linspace(np.log(0.8), np.log(1.2), LEVELS))
    profile = gamma_sums(spots, carry, strike, deviation, weight) * spots * spots * 0.01
    turns = np.flatnonzero(np.diff(np.sign(profile)))
    flip = None
    if len(turns) > 0:
        at = turns[np.argmin(np.abs(spots[turns] - spot))]
        flip = spots[at] - profile[at] * (spots[at + 1] - spots[at]) / (profile[at + 1] - profile[at])
    expiries, which = np.unique(tte, return_inverse=True)
    first = which == np.argmax(np.bincount(which, np.abs(exposure)))
    return {
        "net_gex": float(exposure.sum()),
        "call_wall": float(strikes[np.argmax(calls)]),
        "put_wall": float(strikes[np.argmin(puts)]),
        "flip": None if flip is None else float(flip),
        "max_pain": float(max_pain(strike[first], cp[first], interest[first])),
        "profile": float(profile.sum()),
    }


for line in sys.stdin:
    job = json.loads(line)
    columns = np.fromfile(job["path"], np.float64).reshape(6, job["count"])
    started = time.process_time()
    levels = levels_of(columns, job["spot"])
    print(json.dumps({"cpuMs": 1e3 * (time.process_time() - started), "levels": levels}), flush=True)
