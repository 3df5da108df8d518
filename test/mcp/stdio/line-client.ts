import { PassThrough } from 'node:stream';
import { type StandardStreams, standardStreams } from '../../../src/mcp/stdio/standard-streams.ts';
import { until } from '../../support/until.ts';

export interface Message {
  readonly id?: number | string;
  readonly method?: string;
  readonly params?: Readonly<Record<string, unknown>>;
  readonly result?: Readonly<Record<string, unknown>>;
  readonly error?: { readonly code: number; readonly message: string };
}

/** The first message of a client. */
export const OPENING = {
  ...{ id: 0, method: 'initialize' },
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
};

/** A client at the other end of standard streams, in this process. It writes lines and stores the lines that it reads. */
export interface LineClient {
  readonly streams: StandardStreams;
  readonly input: PassThrough;
  readonly output: PassThrough;
  readonly received: readonly Message[];
  say(...messages: readonly Message[]): void;
  /** Waits for the first matching message. */
  hear(fits: (message: Message) => boolean): Promise<Message>;
  /** Sends a request and returns its answer. */
  ask(request: Message): Promise<Message>;
}

export function lineClient(lastAnswersMs?: number): LineClient {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const received: Message[] = [];
  let rest = '';
  output.on('data', (chunk) => {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop()!;
    for (const line of lines) received.push(JSON.parse(line));
  });
  const say: LineClient['say'] = (...messages) =>
    void input.write(messages.map((message) => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`).join(''));
  const hear: LineClient['hear'] = async (fits) => {
    await until(() => received.some(fits));
    return received.find(fits)!;
  };
  return {
    streams: standardStreams(input, output, lastAnswersMs),
    ...{ input, output, received, say, hear },
    ask(request) {
      say(request);
      return hear(({ id, method }) => id === request.id && method === undefined);
    },
  };
}
