/**
 * Computes Greeks, implied volatilities and jump probabilities of random options with the package of the kernels, in any engine, and prints
 * as JSON: the number of values, their SHA-256, and the processor time of each kernel in ns per option. Arguments: the folder of the package,
 * the number of options, and the number of rounds to time (0 for none). The options come from whole numbers and the four operations alone,
 * so that every engine computes the same ones.
 */
import { createHash } from 'node:crypto';
import { pathToFileURL } from 'node:url';

const [folder, options, rounds] = process.argv.slice(2);
const { loadKernels } = await import(pathToFileURL(`${folder}/kernels.js`).href);
const kernels = await loadKernels();
const count = Number(options);

let state = 38;
const random = () => {
  state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
  return state / 4_294_967_296;
};
const column = (rows, value) => Float64Array.from({ length: rows }, value);
const market = (rows) => ({
  callPut: column(rows, () => (random() < 0.5 ? 1 : -1)),
  spot: column(rows, () => 20 + 500 * random()),
  tte: column(rows, () => 0.0005 + 2 * random() * random()),
  iv: column(rows, () => 0.08 + 0.72 * random()),
  rate: column(rows, () => 0.06 * random()),
  dividend: column(rows, () => 0.03 * random()),
});
const withStrikes = (each) => ({ ...each, strike: each.spot.map((spot) => spot * (0.7 + 0.6 * random())) });
const withJumps = (each) => ({
  ...each,
  jumpIntensity: each.spot.map(() => 0.1 + 5 * random()),
  jumpMean: each.spot.map(() => -0.1 + 0.12 * random()),
  jumpVol: each.spot.map(() => 0.02 + 0.15 * random()),
});

const greeks = withStrikes(market(count));
const answers = kernels.greeks(greeks);
const priced = { ...greeks, price: answers.price };
const jumps = withJumps(withStrikes(market(Math.ceil(count / 2))));
const results = [answers, kernels.impliedVolatility(priced), kernels.merton(jumps)].flatMap((each) =>
  Object.values(each),
);

const hash = createHash('sha256');
for (const values of results) {
  // The sign and the payload of a NaN are the engine's choice.
  const bits = values.map((value) => (Number.isNaN(value) ? Number.NaN : value));
  hash.update(new Uint8Array(bits.buffer));
}

/** Times the kernel alone on the rows that the last call has left in the block. */
const nsPerOption = (kernel, run) => {
  run();
  const rows = kernels.exports.blockRows();
  const call = () => kernels.exports[kernel](rows, kernels.block, 0);
  for (let i = 0; i < 400; i++) call();
  const times = Array.from({ length: Number(rounds) }, () => {
    const before = process.cpuUsage();
    for (let i = 0; i < 50; i++) call();
    const { user, system } = process.cpuUsage(before);
    return ((user + system) * 1000) / (50 * rows);
  });
  return times.toSorted((a, b) => a - b)[times.length >> 1];
};
const few = (columns) =>
  Object.fromEntries(Object.entries(columns).map(([name, values]) => [name, values.slice(0, 1024)]));
const ns = Number(rounds) > 0 && {
  greeks: nsPerOption('blackScholes', () => kernels.greeks(few(greeks))),
  impliedVolatility: nsPerOption('impliedVolatility', () => kernels.impliedVolatility(few(priced))),
  merton: nsPerOption('merton', () => kernels.merton(few(jumps))),
};
console.log(
  JSON.stringify({
    values: results.reduce((sum, { length }) => sum + length, 0),
    sha256: hash.digest('hex'),
    ...(ns && { ns }),
  }),
);
