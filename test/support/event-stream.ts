/** An event of an SSE stream, as far as Zomma sends any. */
export interface StreamEvent {
  readonly id: string | undefined;
  readonly event: string;
  readonly data: string;
}

/** The events of a stream one by one, comments and bare fields left out; undefined at its end. */
export function eventsOf(body: ReadableStream<Uint8Array>): {
  next(): Promise<StreamEvent | undefined>;
  /** All that has come, as it was sent. */
  readonly text: string;
} {
  const reader = body.pipeThrough(new TextDecoderStream() as never).getReader() as ReadableStreamDefaultReader<string>;
  let text = '';
  let at = 0;
  return {
    async next() {
      for (;;) {
        const end = text.indexOf('\n\n', at);
        if (end < 0) {
          const { value, done } = await reader.read();
          if (done) return undefined;
          text += value;
          continue;
        }
        const lines = text.slice(at, end).split('\n');
        at = end + 2;
        const field = (name: string) => lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2);
        const event = field('event');
        if (event !== undefined) return { id: field('id'), event, data: field('data')! };
      }
    },
    get text() {
      return text;
    },
  };
}
