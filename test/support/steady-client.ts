import { connect, type Socket } from 'node:net';

export interface SteadyClient {
  /** When the bytes of each request were given to the system, ms of `performance.now()`, and whether the answer has come. */
  readonly sent: readonly { readonly at: number; readonly isAnswered: boolean }[];
  /** The heads of the answers. */
  readonly answers: readonly string[];
  stop(): void;
}

/** A client that sends one request after the other over one connection, and opens the next one when the server closes it. */
export function steadyClient(port: number, request: string): SteadyClient {
  const sent: { at: number; isAnswered: boolean }[] = [];
  const answers: string[] = [];
  let isStopped = false;
  let socket: Socket;
  const open = () => {
    let buffer = '';
    socket = connect(port, '127.0.0.1', send);
    socket.on('data', (piece) => {
      buffer += piece.toString('latin1');
      const headEnd = buffer.indexOf('\r\n\r\n');
      const length = Number(/content-length: (\d+)/i.exec(buffer)?.[1] ?? Number.NaN);
      if (headEnd < 0 || buffer.length < headEnd + 4 + length) return;
      answers.push(buffer.slice(0, headEnd));
      sent.at(-1)!.isAnswered = true;
      buffer = '';
      if (!/connection: close/i.test(answers.at(-1)!)) send();
    });
    socket.on('error', () => {});
    socket.on('close', () => !isStopped && sent.at(-1)?.isAnswered && open());
  };
  const send = () => {
    if (isStopped) return;
    socket.write(request, () => {});
    sent.push({ at: performance.now(), isAnswered: false });
  };
  open();
  return {
    sent,
    answers,
    stop() {
      isStopped = true;
      socket.destroy();
    },
  };
}
