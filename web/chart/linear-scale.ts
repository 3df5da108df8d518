import { nice, ticks } from 'd3-array';

type Span = readonly [first: number, last: number];

/** Maps numbers of a domain to pixels of a range, in proportion, also outside of both. */
export interface LinearScale {
  (value: number): number;
  readonly domain: Span;
  /** Returns the number at a pixel. */
  invert(pixel: number): number;
  /** Returns round numbers within the domain, about as many as `count`. */
  ticks(count: number): number[];
}

/** Returns a scale. Every number of a domain without length is in the middle of the range. */
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

/** Returns a scale whose domain is extended to round numbers, about as many as `count`. */
export function niceScale([low, high]: Span, range: Span, count: number): LinearScale {
  return linearScale(nice(low, high, count), range);
}
