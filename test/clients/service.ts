import { BINARY, keyOf, type Server, startLoaded } from '../support/process.ts';
import { openWire, type Wire } from './wire.ts';

/** The compiled server behind a controllable connection, on a data folder that outlives the server. */
export interface Service {
  readonly wire: Wire;
  readonly key: string;
  readonly dataDir: string;
  /** Stops the server and starts another on the same data folder, at the same address. */
  restart(): Promise<void>;
  close(): Promise<void>;
}

export async function startService(dataDir: string): Promise<Service> {
  const wire = await openWire();
  const start = async (): Promise<Server> => {
    const server = await startLoaded(BINARY, ['start', '--port', '0', '--data-dir', dataDir, '--rate-limit', 'off']);
    wire.leadTo(server.url);
    return server;
  };
  let server = await start();
  return {
    wire,
    key: keyOf(server),
    dataDir,
    async restart() {
      await server.stop('SIGTERM');
      server = await start();
    },
    async close() {
      wire.close();
      await server.stop('SIGTERM');
    },
  };
}
