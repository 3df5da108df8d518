/** An event of an SSE stream, as far as Zomma sends any. */
export interface StreamEvent {
  readonly id: string | undefined;
  readonly event: string;
  readonly data: string;
}

/** The events of a stream one by one, comments and bare fields left out; undefined at its end. */
export function eventsOf(body: ReadableStream<Uint8Array>): {
  next(): Promise<StreamEvent | undefined>;
  /** What came up to then and is no event: comments, bare fields. */
  readonly others: readonly string[];
} {
  const reader = body.pipeThrough(new TextDecoderStream() as never).getReader() as ReadableStreamDefaultReader<string>;
  const others: string[] = [];
  let blocks: string[] = [];
  let at = 0;
  let rest = '';
  return {
    others,
    async next() {
      for (;;) {
        while (at < blocks.length) {
          const block = blocks[at++]!;
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
        at = 0;
      }
    },
  };
}
