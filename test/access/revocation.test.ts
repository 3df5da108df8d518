import { expect, test } from 'bun:test';
import { openAccess, openData } from '../../src/server/stored-data.ts';
import { PROGRAM, startServer, withFolder } from '../support/process.ts';

const UUID = '5d0e3f5c-3a55-4d0e-9a43-6a3c1f1d7e21';
/** The documented limit. The server checks every 10 ms. */
const SEEN_WITHIN_MS = 50;

test('a server sees a revocation by another process, or its end, within 50 ms despite its cache', async () => {
  await withFolder(async (folder) => {
    await using server = await startServer(PROGRAM, ['start', '--port', '0', '--data-dir', folder]);
    using store = openData(folder);
    const access = openAccess(store, folder);
    const { apiKey } = await access.addMember({ uuid: UUID });
    const ask = async () => (await fetch(`${server.url}/api/v1/universe`, { headers: { 'X-API-Key': apiKey } })).status;
    const seenAfter = async (status: number): Promise<number> => {
      const changedAt = performance.now();
      for (;;) {
        const askedAt = performance.now();
        if ((await ask()) === status) return askedAt - changedAt;
        expect(askedAt - changedAt).toBeLessThan(1_000);
      }
    };
    expect(await seenAfter(200)).toBeLessThan(SEEN_WITHIN_MS);
    for (let round = 0; round < 5; round++) {
      for (let each = 0; each < 50; each++) expect(await ask()).toBe(200);
      await access.revoke(UUID);
      expect(await seenAfter(403)).toBeLessThan(SEEN_WITHIN_MS);
      await access.addMember({ uuid: UUID });
      expect(await seenAfter(200)).toBeLessThan(SEEN_WITHIN_MS);
    }
  });
});
