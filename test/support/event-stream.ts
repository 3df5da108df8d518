/** An event of an SSE stream, with the fields that Zomma sends. */
export interface StreamEvent {
  readonly id: string | undefined;
  readonly event: string;
  readonly data: string;
}

/** Yields the events of a stream one by one, without comments and bare fields. Returns `undefined` at the end of the stream. */
export function eventsOf(body: ReadableStream<Uint8Array>): {
  next(): Promise<StreamEvent | undefined>;
  /** The comments and bare fields read so far, which are not part of an event. */
  readonly others: readonly string[];
} {
  const reader = body.pipeThrough(new TextDecoderStream() as never).getReader() as ReadableStreamDefaultReader<string>;
  const others: string[] = [];
  let blocks: string[] = [];
  let i = 0;
  let rest = '';
  return {
    others,
    async next() {
      for (;;) {
        while (i < blocks.length) {
          const block = blocks[i++]!;
          const lines = block.split('\n');
          const field = (name: string) => lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2);
          const event = field('event');
          if (event !== undefined) return { id: field('id'), event, data: field('data')! };
          others.push(block);
        }
        const { value, done } = await reader.read();
        if (done) return undefined;
        blocks = (rest + value).split('\n\n');
        rest = blocks.pop()!;
        i = 0;
      }
    },
  };
}
