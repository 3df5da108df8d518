import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A network between a client and a server of loopback, which can be cut. */
export interface TcpProxy extends AsyncDisposable {
  readonly port: number;
  /** The port of the server. A change holds for new connections. */
  target: number;
  /** The host and the port, for a URL. */
  readonly address: string;
  /** Stops to forward, also for new connections. Nothing is closed, as when a cable is cut. */
  cut(): void;
  heal(): void;
  /** Calls back with each piece that a client has sent, before it is forwarded. */
  onSent: (piece: Buffer) => void;
}

/** Starts a proxy for a port of loopback. */
export async function startTcpProxy(target: number): Promise<TcpProxy> {
  const sockets = new Set<Socket>();
  let isCut = false;
  const forward = (from: Socket, to: Socket, onPiece: (piece: Buffer) => void) => {
    sockets.add(from);
    from.on('data', (piece) => {
      onPiece(piece as Buffer);
      // What has arrived when the network is cut is lost.
      if (!isCut) to.write(piece);
    });
    from.on('error', () => {});
    from.on('close', () => {
      sockets.delete(from);
      if (!isCut) to.destroy();
    });
    if (isCut) from.pause();
  };
  const server = createServer((client) => {
    const upstream = connect(proxy.target, '127.0.0.1');
    forward(client, upstream, (piece) => proxy.onSent(piece));
    forward(upstream, client, () => {});
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const proxy: TcpProxy = {
    port,
    address: `127.0.0.1:${port}`,
    target,
    cut() {
      isCut = true;
      for (const socket of sockets) socket.pause();
    },
    heal() {
      isCut = false;
      for (const socket of sockets) socket.resume();
    },
    onSent: () => {},
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return proxy;
}
