import { openEngine } from '../../src/cluster/postgres-engine.ts';
import { parseStoreUrl } from '../../src/cluster/store-url.ts';

/**
 * A process that a test freezes: it locks the row 1 in a transaction, says so, and goes on when the test writes a line. It prints how the
 * transaction ended.
 */
const [url, deadlineMs] = process.argv.slice(2);
const engine = openEngine(parseStoreUrl(url!), { replica: 'frozen', deadlineMs: Number(deadlineMs) });
const lines = console[Symbol.asyncIterator]();
try {
  await engine.transaction(async (sql) => {
    await sql`update rows set note = 'frozen' where n = 1`;
    console.log('locked');
    await lines.next();
    await sql`insert into rows values (2)`;
  });
  console.log('committed');
} catch (error) {
  const { name, reason, outcomeUnknown } = error as Error & { reason: string; outcomeUnknown: boolean };
  console.log(`${name} ${reason} ${outcomeUnknown}`);
}
await engine.close();
process.exit();
