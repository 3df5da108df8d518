import { rmSync, writeFileSync } from 'node:fs';

/**
 * `bun bench/peer-worker.mjs` does the work of Polars and DuckDB in a process of its own, because their thread pools are of one thread here
 * and their packages may be missing. Each line on stdin is a job as JSON, with the kind of the job in `do`. Each line on stdout is the
 * answer: the number of rows, and the CPU time of the work, ms. The passing of columns to numpy, through files, does not count.
 * - chain: reads the CSV `path` of a chain with Polars, keeps the live rows, and writes the columns that python/chain.py reads to `raw`.
 * - options: reads the CSV `path` of options with Polars, and writes the columns that python/greeks.py reads to `raw`. The start of the
 *   process counts too, so each process gets this job once, first.
 * - greeks: writes the options of the last job, with the Greeks of the file `raw`, to the CSV `path` with Polars.
 * - tape: copies the CSV `path` of a tape to a table of the new DuckDB file `database`, and removes the file.
 */
const JOBS = { chain, options, greeks, tape };
const GREEKS = ['price', 'delta', 'gamma', 'vega', 'theta', 'rho', 'vanna', 'charm', 'volga'];

let frame;

for await (const line of console) {
  const job = JSON.parse(line);
  console.log(JSON.stringify(await JOBS[job.do](job)));
}

async function timed(work) {
  const before = process.cpuUsage();
  const result = await work();
  const { user, system } = process.cpuUsage(before);
  return [result, (user + system) / 1e3];
}

/** A column of 1 for calls and -1 for puts. */
function sidesOf(pl) {
  return pl
    .when(pl.col('put_call').eq(pl.lit('C')))
    .then(pl.lit(1))
    .otherwise(pl.lit(-1))
    .cast(pl.Float64)
    .alias('side');
}

/** Writes columns of float64 to a file, one after the other. */
function writeRaw(path, table) {
  const columns = table.columns.map((name) => table.getColumn(name).toTypedArray());
  writeFileSync(path, Buffer.concat(columns.map((each) => Buffer.from(each.buffer, each.byteOffset, each.byteLength))));
}

async function chain({ path, raw }) {
  const { default: pl } = await import('nodejs-polars');
  const number = (name) => pl.col(name).cast(pl.Float64).fillNull(pl.lit(0));
  const [[table, spot], cpuMs] = await timed(() => {
    const all = pl.readCSV(path, { inferSchemaLength: 1_000 });
    // An expiry ends at four o'clock in New York, in summer.
    const at = Date.parse(all.getColumn('as_of').get(0)) - 20 * 3_600_000;
    const days = pl.col('expiry').str.strptime(pl.Date, '%Y-%m-%d').cast(pl.Int32).cast(pl.Float64);
    const rows = all.filter(pl.col('strike').gt(pl.lit(0))).select(
      sidesOf(pl),
      number('strike'),
      days
        .minus(pl.lit(at / 864e5))
        .div(pl.lit(365))
        .alias('tte'),
      number('bid'),
      number('ask'),
      number('open_interest'),
    );
    return [rows.filter(pl.col('tte').gt(pl.lit(0))), all.getColumn('spot').get(0)];
  });
  writeRaw(raw, table);
  return { cpuMs, rows: table.height, spot };
}

async function options({ path, raw }) {
  const { default: pl } = await import('nodejs-polars');
  frame = pl.readCSV(path, { inferSchemaLength: 1_000 });
  const table = frame.select(sidesOf(pl), 'spot', 'strike', 'tte', 'iv', 'rate', 'dividend');
  const { user, system } = process.cpuUsage();
  writeRaw(raw, table);
  return { cpuMs: (user + system) / 1e3, rows: frame.height };
}

async function greeks({ raw, path }) {
  const { default: pl } = await import('nodejs-polars');
  const values = new Float64Array(await Bun.file(raw).arrayBuffer());
  const rows = frame.height;
  const columns = GREEKS.map((name, i) => pl.Series(name, values.subarray(i * rows, (i + 1) * rows)));
  const [, cpuMs] = await timed(() => frame.hstack(columns).writeCSV(path));
  return { cpuMs, rows };
}

async function tape({ path, database }) {
  const { DuckDBInstance } = await import('@duckdb/node-api');
  const instance = await DuckDBInstance.create(database, { threads: '1' });
  const connection = await instance.connect();
  const [, cpuMs] = await timed(async () => {
    await connection.run(`CREATE TABLE tape AS SELECT * FROM read_csv('${path}')`);
    await connection.run('CHECKPOINT');
  });
  const count = await connection.runAndReadAll('SELECT count(*) FROM tape');
  connection.closeSync();
  instance.closeSync();
  rmSync(database, { force: true });
  return { cpuMs, rows: Number(count.getRows()[0][0]) };
}
