import { toolView } from '../../../src/operations/engine/perform.ts';
import { TOOLS } from '../../../src/operations/registry.ts';
import type { ToolDescription, ToolObjectSchema } from '../../../web/data/tool-fields.ts';

/** The tools by name, as `/openapi.json` describes them: the answer is one of several schemas, of which the first is the default answer. */
export const TOOL_DESCRIPTIONS: ReadonlyMap<string, ToolDescription> = new Map(
  TOOLS.map((tool) => {
    const { input, output } = toolView(tool);
    return [
      tool.name,
      {
        summary: tool.title,
        description: tool.description,
        requestBody: { content: { 'application/json': { schema: input, example: tool.example } } },
        responses: { 200: { content: { 'application/json': { schema: { anyOf: [output] } } } } },
      } as unknown as ToolDescription,
    ];
  }),
);

/** Returns the description of a tool with other arguments. */
export function toolTaking(properties: ToolObjectSchema['properties']): ToolDescription {
  const [tool] = TOOL_DESCRIPTIONS.values();
  const schema = properties ? { properties } : {};
  return { ...tool!, requestBody: { content: { 'application/json': { schema } } } };
}
