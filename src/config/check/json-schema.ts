// The shape of a configuration as JSON Schema, for editors. Numbers and flags may also be text with a variable.
import { BLOCKS, CONFIG } from './schema.ts';
import type { Shape } from '../../kernel/config/shape.ts';

type JsonSchema = Record<string, unknown>;

const VARIABLE = { type: 'string', pattern: '\\$\\{.+\\}' };

export function configSchema(): JsonSchema {
  const { description, ...root } = toJsonSchema(CONFIG);
  const properties = root['properties'] as JsonSchema;
  const [first, ...others] = BLOCKS;
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'Parley',
    description,
    ...root,
    // Other names for the same block.
    properties: {
      ...properties,
      ...Object.fromEntries(others.map((block) => [block, { $ref: `#/properties/${first}` }])),
    },
    patternProperties: { '^x-': { description: 'Yours: a place for YAML anchors.' } },
    anyOf: BLOCKS.map((block) => ({ required: [block] })),
  };
}

function toJsonSchema(shape: Shape): JsonSchema {
  const description = shape.about;
  switch (shape.kind) {
    case 'text':
      return { description, type: 'string', ...(shape.notEmpty && { minLength: 1 }), ...patternOf(shape) };
    case 'plain':
      return { description, type: ['string', 'number', 'boolean', 'null'] };
    case 'integer':
      return { description, anyOf: [integerSchema(shape), VARIABLE] };
    case 'flag':
      return { description, anyOf: [{ type: 'boolean' }, VARIABLE] };
    case 'choice':
      return { description, enum: shape.values };
    case 'list':
      return { description, type: 'array', items: toJsonSchema(shape.of) };
    case 'record':
      return { description, type: 'object', additionalProperties: toJsonSchema(shape.of) };
    case 'object':
      return { description, type: 'object', properties: propertiesOf(shape.keys), additionalProperties: false };
    case 'either':
      return { description, anyOf: shape.of.map(toJsonSchema) };
    case 'anything':
      return { description };
    case 'foreign':
      return { description: shape.note ?? `Not used by Parley: ${description}` };
  }
}

function patternOf({ pattern }: { pattern?: string }): JsonSchema {
  return pattern === undefined ? {} : { pattern: `${pattern}|${VARIABLE.pattern}` };
}

function integerSchema({ min, max }: { min: number; max: number }): JsonSchema {
  return { type: 'integer', minimum: min, ...(max < Number.MAX_SAFE_INTEGER && { maximum: max }) };
}

function propertiesOf(keys: Readonly<Record<string, Shape>>): JsonSchema {
  return Object.fromEntries(Object.entries(keys).map(([key, shape]) => [key, toJsonSchema(shape)]));
}
