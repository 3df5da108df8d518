/**
 * Worst error found: inverse of N 3.02, at p=9.76888e-83.
 * The unit is the change that one rounding of the input and of the result can cause (`scaledError` of the tests).
 */
/**
 * Returns the number x with N(x) = p, where N is the standard normal distribution function. The method is routine PPND16 of M. J. Wichura,
 * "Algorithm AS 241: The percentage points of the normal distribution", Applied Statistics 37 (1988). The coefficients are rounded to
 * doubles. In exact arithmetic, the relative error of the result is below 9.4e-17 for x from -38 to 38. Returns -Infinity for p = 0,
 * Infinity for p = 1, and NaN if p is outside [0, 1].
 */
export function inverseCumulative(p: f64): f64 {
  if (!(p > 0.0 && p < 1.0)) return p === 0.0 ? -Infinity : p === 1.0 ? Infinity : NaN;
  const fromMiddle = p - 0.5;
  if (Math.abs(fromMiddle) <= 0.425) return fromMiddle * middle(0.180625 - fromMiddle * fromMiddle);
  const r = Math.sqrt(-Math.log(fromMiddle < 0.0 ? p : 1.0 - p));
  const x = r <= 5.0 ? tail(r - 1.6) : farTail(r - 5.0);
  return fromMiddle < 0.0 ? -x : x;
}

function middle(r: f64): f64 {
  const p: f64 = A0 + r * (A1 + r * (A2 + r * (A3 + r * (A4 + r * (A5 + r * (A6 + r * A7))))));
  const q: f64 = 1.0 + r * (B1 + r * (B2 + r * (B3 + r * (B4 + r * (B5 + r * (B6 + r * B7))))));
  return p / q;
}

function tail(r: f64): f64 {
  const p: f64 = C0 + r * (C1 + r * (C2 + r * (C3 + r * (C4 + r * (C5 + r * (C6 + r * C7))))));
  const q: f64 = 1.0 + r * (D1 + r * (D2 + r * (D3 + r * (D4 + r * (D5 + r * (D6 + r * D7))))));
  return p / q;
}

function farTail(r: f64): f64 {
  const p: f64 = E0 + r * (E1 + r * (E2 + r * (E3 + r * (E4 + r * (E5 + r * (E6 + r * E7))))));
  const q: f64 = 1.0 + r * (F1 + r * (F2 + r * (F3 + r * (F4 + r * (F5 + r * (F6 + r * F7))))));
  return p / q;
}

// Coefficients of `middle`, for |p - 1/2| <= 0.425.
const A0: f64 = 3.3871328727963665;
const A1: f64 = 133.14166789178438;
const A2: f64 = 1971.5909503065513;
const A3: f64 = 13731.69376550946;
const A4: f64 = 45921.95393154987;
const A5: f64 = 67265.7709270087;
const A6: f64 = 33430.57558358813;
const A7: f64 = 2509.0809287301227;
const B1: f64 = 42.31333070160091;
const B2: f64 = 687.1870074920579;
const B3: f64 = 5394.196021424751;
const B4: f64 = 21213.794301586597;
const B5: f64 = 39307.89580009271;
const B6: f64 = 28729.085735721943;
const B7: f64 = 5226.495278852854;

// Coefficients of `tail`, for sqrt(-ln r) from 1.6 to 5, where r is the smaller of p and 1 - p.
const C0: f64 = 1.4234371107496835;
const C1: f64 = 4.630337846156546;
const C2: f64 = 5.769497221460691;
const C3: f64 = 3.6478483247632045;
const C4: f64 = 1.2704582524523684;
const C5: f64 = 0.2417807251774506;
const C6: f64 = 0.022723844989269184;
const C7: f64 = 0.0007745450142783414;
const D1: f64 = 2.053191626637759;
const D2: f64 = 1.6763848301838038;
const D3: f64 = 0.6897673349851;
const D4: f64 = 0.14810397642748008;
const D5: f64 = 0.015198666563616457;
const D6: f64 = 0.0005475938084995345;
const D7: f64 = 1.0507500716444169e-9;

// Coefficients of `farTail`, for sqrt(-ln r) from 5 to 27, where r is the smaller of p and 1 - p.
const E0: f64 = 6.657904643501103;
const E1: f64 = 5.463784911164114;
const E2: f64 = 1.7848265399172913;
const E3: f64 = 0.29656057182850487;
const E4: f64 = 0.026532189526576124;
const E5: f64 = 0.0012426609473880784;
const E6: f64 = 2.7115555687434876e-5;
const E7: f64 = 2.0103343992922881e-7;
const F1: f64 = 0.599832206555888;
const F2: f64 = 0.1369298809227358;
const F3: f64 = 0.014875361290850615;
const F4: f64 = 0.0007868691311456133;
const F5: f64 = 1.8463183175100548e-5;
const F6: f64 = 1.421511758316446e-7;
const F7: f64 = 2.0442631033899397e-15;
