import { expect, test } from 'bun:test';
import { withComponents } from '../../src/http/openapi-schemas.ts';
import { documented, namedObject, objectOf, textField } from '../../src/operations/engine/schemas.ts';

/** Which schemas of a document become components, and how the places refer to them. */
const levels = () => namedObject('Levels', undefined, { spot: textField('Spot.') });
const inline = (text: string) => objectOf({ text: textField(text) });
const documentOf = (paths: object) =>
  withComponents({ paths, components: { headers: {} } }) as Promise<never> as Promise<Document>;

interface Document {
  readonly paths: Record<string, unknown>;
  readonly components: { readonly schemas: Record<string, unknown>; readonly headers: object };
}
const LEVELS = {
  type: 'object',
  properties: { spot: { type: 'string', description: 'Spot.' } },
  required: ['spot'],
  additionalProperties: false,
};
const REF = { $ref: '#/components/schemas/Levels' };

test('a named schema is a component, also in one place, and other schemas stay inline', async () => {
  const { paths, components } = await documentOf({ a: levels(), b: inline('B.') });
  expect(paths).toMatchObject({ a: REF, b: { type: 'object', properties: { text: { description: 'B.' } } } });
  expect(components).toEqual({ headers: {}, schemas: { Levels: LEVELS } });
});

test('equal schemas are one component with the name that one of them has, and places keep their own descriptions', async () => {
  const { paths, components } = await documentOf({
    a: objectOf({ spot: textField('Spot.') }),
    b: { ...levels(), description: 'Before.' },
    c: { ...levels(), description: 'After.' },
  });
  expect(paths).toEqual({ a: REF, b: { ...REF, description: 'Before.' }, c: { ...REF, description: 'After.' } });
  expect(components.schemas).toEqual({ Levels: LEVELS });
});

test('the component has the description that all places share', async () => {
  const described = { ...levels(), description: 'Levels.' };
  const { paths, components } = await documentOf({ a: described, b: described });
  expect(paths).toEqual({ a: REF, b: REF });
  expect(components.schemas).toEqual({ Levels: { ...LEVELS, description: 'Levels.' } });
});

test('what stands once within a repeated schema stays inline', async () => {
  const outer = () => namedObject('Outer', undefined, { inner: inline('Inner.') });
  expect(Object.keys((await documentOf({ a: outer(), b: outer() })).components.schemas)).toEqual(['Outer']);
});

test('an unnamed schema of several places gets a name that the test of the document refuses', async () => {
  const { paths, components } = await documentOf({ a: inline('B.'), b: inline('B.') });
  expect(paths.a).toEqual(paths.b);
  expect(Object.keys(components.schemas)).toEqual([expect.stringMatching(/^Shared\d+$/)]);
});

test('keywords of the document are keywords, and examples stay as they are', async () => {
  const word = documented(textField('Word.'), { name: 'Word', enum: ['a', 'b'] });
  const example = { type: 'object', properties: { spot: 1 } };
  const { paths, components } = await documentOf({
    a: word,
    b: { schema: word, example },
    c: { schema: word, example },
  });
  const ref = { $ref: '#/components/schemas/Word' };
  expect(paths).toEqual({ a: ref, b: { schema: ref, example }, c: { schema: ref, example } });
  expect(components.schemas).toEqual({ Word: { type: 'string', description: 'Word.', enum: ['a', 'b'] } });
});

test('keywords of the document are in no JSON of the schema, such as the definition of a tool', async () => {
  expect(JSON.stringify(documented(textField('Word.'), { enum: ['a'] }))).toBe(JSON.stringify(textField('Word.')));
});

test('one name for two schemas is an error', async () => {
  const other = namedObject('Levels', undefined, { spot: textField('Other.') });
  await expect(documentOf({ a: levels(), b: other })).rejects.toThrow('Two schemas have the name Levels');
});
