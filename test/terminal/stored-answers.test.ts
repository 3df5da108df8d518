import { expect, test } from 'bun:test';
import { Value } from '@sinclair/typebox/value';
import { restView } from '../../src/operations/engine/perform.ts';
import { OPERATIONS } from '../../src/operations/registry.ts';
import { WEB_OPERATIONS, type WebOperation } from '../../web/operations.ts';
import { readAnswers, STORED_TICKER, type StoredAnswer } from './stored-answers.ts';

const answers = readAnswers();

/** The operation that answers a request. */
function operationOf({ request }: StoredAnswer): string | undefined {
  const [method, address] = request.split(' ');
  const path = address!.replace(`/${STORED_TICKER}`, '/{ticker}');
  const found = (Object.entries(WEB_OPERATIONS) as [string, WebOperation][]).find(
    ([, web]) => web.method === method && [path, path.split('?')[0]].includes(web.path),
  );
  return found?.[0];
}

// If an answer is not as the server's now is: bun test/terminal/record-answers.ts
test.each(answers.map((each) => [each.request, each] as const))('%s has the form of its operation', (_, answer) => {
  const operation = OPERATIONS.find(({ name }) => name === operationOf(answer))!;
  expect(operation).toBeDefined();
  const { provenance, ...body } = answer.body;
  if (operation.full.properties.provenance) body.provenance = provenance;
  const isRoute = answer.request.startsWith('GET ') && operation.rest !== undefined;
  const schema = isRoute ? restView(operation).output : operation.full;
  expect([...Value.Errors(schema, body)].map(({ path, message }) => `${path}: ${message}`)).toEqual([]);
});

test('every answer from market data is labelled as simulated', () => {
  const ofMarket = answers.filter(({ headers }) => 'x-data-as-of' in headers);
  expect(ofMarket.length).toBeGreaterThan(12);
  for (const { request, headers } of ofMarket)
    expect({ request, simulated: headers['x-data-simulated'] }).toEqual({ request, simulated: 'true' });
  const feeds = answers.find(({ request }) => request.endsWith('/feeds'))!;
  expect(feeds.body.feeds.map(({ simulated }: { simulated: boolean }) => simulated)).toEqual([true]);
});
