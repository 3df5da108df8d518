import { PassThrough } from 'node:stream';
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio';

/** What was asked for gets so long to be answered once nothing more can be asked. */
const LAST_ANSWERS_MS = 10_000;

/**
 * MCP's transport over this process's standard input and output, and the promise that its client has closed its end. Whoever pipes
 * questions in closes it with the last of them: as long as `isBusy`, within bounds, the end is held back so that they are answered.
 */
export function standardStreams(isBusy: () => boolean): { transport: StdioServerTransport; closed: Promise<void> } {
  const input = new PassThrough();
  const closed = Promise.withResolvers<void>();
  process.stdin.pipe(input, { end: false });
  process.stdin.once('end', async () => {
    const deadline = performance.now() + LAST_ANSWERS_MS;
    // Twice at least: what was read last is taken up in one turn and answered in another.
    for (let idle = 0; idle < 2 && performance.now() < deadline; idle = isBusy() ? 0 : idle + 1) {
      await new Promise(setImmediate);
    }
    input.end();
    closed.resolve();
  });
  return { transport: new StdioServerTransport(input, process.stdout), closed: closed.promise };
}
