/**
 * `bun bench/health-probe.ts URL` requests /health every 5 ms from a process of its own, until stdin ends. Then it writes the time of each
 * answer to stdout, as a JSON array of milliseconds. A slow answer does not delay the next request, which uses another connection.
 */
const EVERY_MS = 5;
const url = new URL(process.argv[2]!);
const latencies: number[] = [];
const idle: Connection[] = [];
let waiting = 0;

interface Connection {
  readonly socket: Bun.Socket;
  askedAt: number;
}

function ask(connection: Connection): void {
  connection.askedAt = performance.now();
  connection.socket.write(`GET /health HTTP/1.1\r\nHost: ${url.host}\r\n\r\n`);
}

async function connect(): Promise<Connection> {
  const socket = await Bun.connect({
    hostname: url.hostname,
    port: Number(url.port),
    socket: {
      // The answer is small, so it arrives in one piece.
      data() {
        latencies.push(performance.now() - connection.askedAt);
        waiting--;
        idle.push(connection);
      },
    },
  });
  const connection: Connection = { socket, askedAt: 0 };
  return connection;
}

let isOver = false;
void Bun.stdin.text().then(() => {
  isOver = true;
});
while (!isOver) {
  waiting++;
  const connection = idle.pop();
  if (connection) ask(connection);
  else void connect().then(ask);
  await Bun.sleep(EVERY_MS);
}
while (waiting > 0) await Bun.sleep(1);
console.log(JSON.stringify(latencies));
process.exit(0);

export {};
