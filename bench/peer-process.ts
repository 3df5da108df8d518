import { join } from 'node:path';

/** Debian's packages (numpy, scipy, FastAPI, uvicorn) come before those of another Python, which may add orjson. */
export const PEER_ENV = {
  PYTHONPATH: '/usr/lib/python3/dist-packages',
  OPENBLAS_NUM_THREADS: '1',
  POLARS_MAX_THREADS: '1',
};
export const PYTHON = Bun.which('python3') ?? 'python3';
export const pythonFile = (name: string) => join(import.meta.dir, 'python', name);

/** Returns the packages of Python and npm that are missing. Bun is asked for those that the bench's own lock file has. */
export function missingPeers(python: readonly string[], npm: readonly string[]): string[] {
  const env = { ...process.env, ...PEER_ENV };
  const imports = (name: string) => {
    try {
      return Bun.spawnSync([PYTHON, '-c', `import ${name}`], { env, stderr: 'ignore' }).success;
    } catch {
      return false;
    }
  };
  return [...python.filter((name) => !imports(name)), ...npm.filter((name) => !isInstalled(name))];
}

export function isInstalled(name: string): boolean {
  try {
    Bun.resolveSync(name, import.meta.dir);
    return true;
  } catch {
    return false;
  }
}

export interface PeerProcess extends Disposable {
  /** Sends a job, and resolves with its answer. Rejects if the process ends. */
  ask<Answer>(job: object): Promise<Answer>;
}

/** Starts a process that answers each line of JSON on stdin with a line of JSON. */
export function startPeer(command: readonly string[]): PeerProcess {
  const child = Bun.spawn([...command], {
    stdin: 'pipe',
    stdout: 'pipe',
    stderr: 'inherit',
    env: { ...process.env, ...PEER_ENV },
  });
  const lines = linesOf(child.stdout);
  return {
    async ask<Answer>(job: object): Promise<Answer> {
      child.stdin.write(`${JSON.stringify(job)}\n`);
      await child.stdin.flush();
      const { value } = await lines.next();
      if (value === undefined) throw new Error(`${command.join(' ')} ended`);
      return JSON.parse(value) as Answer;
    },
    [Symbol.dispose]: () => child.kill(),
  };
}

async function* linesOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<string, undefined> {
  let rest = '';
  for await (const piece of stream.pipeThrough(new TextDecoderStream() as never) as unknown as AsyncIterable<string>) {
    const lines = (rest + piece).split('\n');
    rest = lines.pop()!;
    yield* lines;
  }
}

/** Starts the process of Polars and DuckDB. */
export const startPeerWorker = () => startPeer([process.execPath, join(import.meta.dir, 'peer-worker.mjs')]);
