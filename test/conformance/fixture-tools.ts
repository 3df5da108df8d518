import { Type } from '@sinclair/typebox';
import { ClientError } from '../../src/core/errors.ts';
import type { Operation, Provenance } from '../../src/operations/engine/operation.ts';

/** The tools that the suites call by name, as operations. `changed` is called if one of them has changed the list. */
export function createFixtureTools(changed: () => void): () => readonly Operation[] {
  const toggle = tool('test_trigger_tool_change', 'Offers one tool more, or one less.', () => {
    offered = offered === few ? more : few;
    changed();
    return say('The list of tools is another.');
  });
  const few = [SIMPLE, REFUSING, STEPWISE, WITH_SCHEMA, WITH_PICTURE, toggle];
  const more = [...few, ADDED];
  let offered = few;
  return () => offered;
}

const SIMPLE = tool('test_simple_text', 'Says one sentence.', () => say('This is a simple text response for testing.'));

const REFUSING = tool('test_error_handling', 'Always refuses.', () => {
  throw new ClientError('unprocessable', 'This tool intentionally returns an error for testing');
});

const STEPWISE = tool('test_tool_with_progress', 'Answers in three steps.', function* () {
  for (const message of ['First', 'Second', 'Third']) yield { message, total: 3 };
  return say('Three steps were taken.');
});

const ADDED = tool('test_added_tool', 'Comes and goes.', () => say('Here.'));

/** Has keywords of JSON Schema 2020-12 that the registry's schemas do not use. They are passed through. */
const WITH_SCHEMA: Operation = {
  ...tool('json_schema_2020_12_tool', 'Has a schema with many keywords.', () => say('ok')),
  input: Type.Object(
    {
      name: Type.Optional(Type.String()),
      address: Type.Optional(Type.Unsafe({ $ref: '#/$defs/address' })),
      contactMethod: Type.Optional(Type.Unsafe({ type: 'string', enum: ['phone', 'email'] })),
      phone: Type.Optional(Type.String()),
      email: Type.Optional(Type.String()),
    },
    {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      $defs: {
        address: {
          $anchor: 'addressDef',
          type: 'object',
          properties: { street: { type: 'string' }, city: { type: 'string' } },
        },
      },
      allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
      if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema.
      then: { required: ['phone'] },
      else: { required: ['email'] },
      additionalProperties: false,
    },
  ),
};

const ORIGIN: Provenance = {
  ...{ source: 'fixture', simulated: true, as_of: '2026-11-20T21:00:00.000Z', age_s: 0, stale: false, notes: [] },
};

/** Answers with a picture without being asked, because the suites call it without arguments. */
const WITH_PICTURE: Operation = {
  ...tool('test_image_content', 'Answers with a picture.', () => ({
    ...say('See the picture.'),
    provenance: ORIGIN,
  })),
  input: Type.Object({ format: Type.Optional(Type.Literal('image', { default: 'image' })) }),
  picture: () => '<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"/>',
};

function tool(name: string, description: string, run: Operation['run']): Operation {
  return {
    // Some of the tools change the server, so no answer may be cached.
    ...{ name, title: name, description, page: 'house', example: {}, run, ofNow: true },
    input: Type.Object({}, { additionalProperties: false }),
    full: Type.Object({ text: Type.String({ description: 'What is said.' }) }, { additionalProperties: false }),
    tool: { question: name, method: name, units: [], answers: ['text'] },
  };
}

function say(text: string) {
  return { result: { text } };
}
