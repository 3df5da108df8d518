import { openStreams } from './battle.ts';

/** `bun test/faults/hostile/killed.ts URL KEY` opens streams of both transports, prints `open`, and waits to be killed. */
const [url, key] = process.argv.slice(2) as [string, string];
await openStreams({ url, key }, 20);
console.log('open');
setInterval(() => {}, 1_000_000);
