/**
 * The part of d3-interpolate that d3-scale needs for axes of numbers. The build puts it in place of the whole package, because the
 * interpolation of colours, which the terminal does not use, takes 7 KB of script gzipped.
 */
export const interpolateNumber = (a: number, b: number) => (t: number) => a * (1 - t) + b * t;

export const interpolateRound = (a: number, b: number) => (t: number) => Math.round(a * (1 - t) + b * t);

export const interpolate = interpolateNumber;
