/** Columns of options that differ in every field, so that a kernel cannot reuse a result for the next option. */
export type OptionSet = ReturnType<typeof distinctOptions>;

/** Returns random options like listed ones: spot 20 to 520, strike within 30 %, one day to two years, volatility 8 to 80 %. */
export function distinctOptions(count: number, seed = 1) {
  const random = generator(seed);
  const column = (value: (i: number) => number): Float64Array =>
    Float64Array.from({ length: count }, (_, i) => value(i));
  const spot = column(() => 20 + 500 * random());
  return {
    count,
    callPut: column(() => (random() < 0.5 ? 1 : -1)),
    spot,
    strike: column((i) => spot[i]! * (0.7 + 0.6 * random())),
    tte: column(() => 1 / 365 + 2 * random() ** 2),
    iv: column(() => 0.08 + 0.72 * random()),
    rate: column(() => 0.06 * random()),
    dividend: column(() => 0.03 * random()),
  };
}

/** Returns the options, for implied volatilities, out of the money at new strikes within two and a half deviations of the forward. */
export function outOfTheMoney(options: OptionSet, seed = 6): OptionSet {
  const random = generator(seed);
  const deviations = options.spot.map(() => 5 * random() - 2.5);
  const strike = options.spot.map((spot, i) => {
    const T = options.tte[i]!;
    return (
      spot * Math.exp((options.rate[i]! - options.dividend[i]!) * T + deviations[i]! * options.iv[i]! * Math.sqrt(T))
    );
  });
  return { ...options, strike, callPut: deviations.map((each) => (each >= 0 ? 1 : -1)) };
}

/** Returns random jump parameters for the options: 0.1 to 5.1 jumps a year, mean jumps of -10 to 2 %, jump volatilities of 2 to 17 %. */
export function jumpsFor({ count }: OptionSet, seed = 2) {
  const random = generator(seed);
  const column = (value: () => number) => Float64Array.from({ length: count }, value);
  return {
    jumpIntensity: column(() => 0.1 + 5 * random()),
    jumpMean: column(() => -0.1 + 0.12 * random()),
    jumpVol: column(() => 0.02 + 0.15 * random()),
  };
}

/** Creates Mulberry32, a small random number generator that gives the same numbers on every machine. */
export function generator(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
