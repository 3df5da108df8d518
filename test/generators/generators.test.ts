import { expect } from 'bun:test';
import { askExample, withExampleMarket } from '../../scripts/openapi-examples.ts';
import { listen } from '../../src/http/listen.ts';
import { testNeeding } from '../support/needs.ts';
import { withFolder } from '../support/process.ts';
import { IS_FULL } from '../support/size.ts';
import { areInstalled, GENERATORS, generate } from './generators.ts';

/** Clients that generators write from the document compile under strict rules, and get the answer of every operation of a running server. */
for (const generator of IS_FULL ? GENERATORS : GENERATORS.slice(0, 1)) {
  testNeeding(areInstalled, 'not installed: test/generators')(
    `a client of ${generator.name} compiles, and calls every operation`,
    () =>
      withExampleMarket(async (service, document, calls) => {
        const server = listen(service.app.handle, { host: '127.0.0.1', port: 0, tls: undefined });
        try {
          await withFolder(async (folder) => {
            await generate(generator, folder, document, server.url);
            const headers = { 'X-API-Key': service.key };
            const ask = await generator.open(folder, { baseUrl: server.url, headers });
            for (const call of calls) {
              const plain = await askExample(service, call);
              const isJson = plain.headers.get('content-type')!.startsWith('application/json');
              const { status, data } = await ask(call);
              expect([call.operationId, status]).toEqual([call.operationId, 200]);
              if (isJson)
                expect([call.operationId, keysOf(data)]).toEqual([call.operationId, keysOf(await plain.json())]);
              else if (!generator.readsText)
                expect([call.operationId, (data as Blob).size]).toEqual([
                  call.operationId,
                  (await plain.bytes()).length,
                ]);
            }
          });
        } finally {
          await server.stop(1_000);
        }
      }),
    180_000,
  );
}

const keysOf = (answer: unknown) => Object.keys(answer as object).sort();
