import { readFileSync } from 'node:fs';
import Fastify from 'fastify';

/**
 * A server with Fastify on Node, with schemas of body and answer, as users of Fastify write it. Node 20 does not run TypeScript, so this
 * file loads the same build/kernels.wasm itself. The block of columns begins at 64 KiB (src/math/kernels.ts).
 */
const memory = new WebAssembly.Memory({ initial: 6, maximum: 6 });
const wasm = readFileSync(new URL('../../build/kernels.wasm', import.meta.url));
const { exports: kernels } = new WebAssembly.Instance(new WebAssembly.Module(wasm), {
  env: {
    memory,
    abort() {
      throw new Error('a kernel aborted');
    },
  },
  'decimal-writer': {
    writeRare() {
      throw new Error('this server writes its numbers itself');
    },
  },
});
const BLOCK = 65_536;
const cells = new Float64Array(memory.buffer);
const cell = (column) => (BLOCK + column * kernels.columnBytes()) / Float64Array.BYTES_PER_ELEMENT;
const INPUTS = Array.from({ length: 7 }, (_, i) => cell(i));
/** Column of each Greek, and the factor that converts it to market units (src/math/black-scholes.ts). */
const OUTPUTS = Object.entries({
  delta: [10, 1],
  gamma: [14, 1],
  vega: [15, 0.01],
  theta: [11, 1 / 365],
  rho: [12, 0.01],
  vanna: [16, 0.01],
  charm: [13, 1 / 365],
  volga: [17, 0.0001],
}).map(([name, [column, unit]]) => [name, cell(column), unit]);

function answer({ put_call, spot, strike, tte, iv, rate, dividend }) {
  const given = [put_call === 'C' ? 1 : -1, spot, strike, tte, iv, rate, dividend];
  for (let i = 0; i < given.length; i++) cells[INPUTS[i]] = given[i];
  kernels.blackScholes(1, BLOCK, false);
  const greeks = {};
  for (const [name, index, unit] of OUTPUTS) greeks[name] = cells[index] * unit;
  return greeks;
}

const number = (minimum, maximum, rest = {}) => ({ type: 'number', minimum, maximum, ...rest });
const schema = {
  body: {
    type: 'object',
    required: ['put_call', 'spot', 'strike', 'tte', 'iv'],
    additionalProperties: false,
    properties: {
      put_call: { type: 'string', enum: ['C', 'P'] },
      spot: number(1e-6, 1e9),
      strike: number(1e-6, 1e9),
      tte: number(1e-8, 100),
      iv: number(1e-4, 100),
      rate: number(-1, 1, { default: 0.04 }),
      dividend: number(-1, 1, { default: 0 }),
    },
  },
  response: {
    200: { type: 'object', properties: Object.fromEntries(OUTPUTS.map(([name]) => [name, { type: 'number' }])) },
  },
};

const app = Fastify();
app.post('/api/v1/physics/greeks', { schema }, (request, reply) => {
  reply.send(answer(request.body));
});
console.log(`listening on ${await app.listen({ host: '127.0.0.1', port: 0 })}`);
