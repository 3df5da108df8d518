import { nice, ticks } from 'd3-array';

type Span = readonly [first: number, last: number];

/** Maps numbers to pixels linearly. The scale also maps numbers outside the domain to pixels outside the range. */
export interface LinearScale {
  (value: number): number;
  readonly domain: Span;
  /** Returns the number for a pixel position. */
  invert(pixel: number): number;
  /** Returns about `count` round numbers within the domain. */
  ticks(count: number): number[];
}

/** Returns a linear scale. If the domain has length 0, the scale maps every number to the middle of the range. */
export function linearScale(domain: Span, range: Span): LinearScale {
  const between = ([from, to]: Span, [start, end]: Span) => {
    const length = to - from;
    return (value: number) => {
      const share = length === 0 ? 0.5 : (value - from) / length;
      return start * (1 - share) + end * share;
    };
  };
  return Object.assign(between(domain, range), {
    domain,
    invert: between(range, domain),
    ticks: (count: number) => ticks(...domain, count),
  });
}

/** Returns a linear scale whose domain is extended to round numbers. `count` is the approximate number of ticks. */
export function niceScale([low, high]: Span, range: Span, count: number): LinearScale {
  return linearScale(nice(low, high, count), range);
}
