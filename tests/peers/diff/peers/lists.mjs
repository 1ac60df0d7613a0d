// The lists of the servers: every defined member at least once, and members that no revision defines.
const ICONS = [{ src: 'data:image/svg+xml;base64,PHN2Zy8+', mimeType: 'image/svg+xml', sizes: ['any'], theme: 'dark' }];
const OBJECT = { type: 'object' };

/** JSON Schema words that a gateway has no reason to understand. */
const SCHEMA = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  $defs: { name: { $anchor: 'name', type: 'string', pattern: '^\\p{L}+$' } },
  properties: {
    who: { $ref: '#/$defs/name', 'x-unknown': { a: [null] } },
    many: { type: 'array', prefixItems: [{ const: 1 }], items: false, minItems: 0 },
  },
  // oxlint-disable-next-line unicorn/no-thenable -- a word of JSON Schema
  allOf: [{ if: { required: ['who'] }, then: { maxProperties: 3 }, else: true }],
  unevaluatedProperties: false,
  additionalProperties: { anyOf: [{ type: ['string', 'null'] }, { enum: ['ü', 1, null] }] },
};

export const LISTS = {
  tools: [
    {
      name: 'described',
      title: 'Described',
      description: 'Has every member',
      icons: ICONS,
      inputSchema: OBJECT,
      annotations: {
        title: 'Old title',
        readOnlyHint: true,
        destructiveHint: false,
        idempotentHint: true,
        openWorldHint: false,
      },
      _meta: { 'com.example/tool': { deep: [1, null] } },
    },
    {
      name: 'shown',
      inputSchema: OBJECT,
      _meta: {
        ui: { resourceUri: 'ui://shown/index.html', visibility: ['model', 'app'] },
        'ui/resourceUri': 'ui://shown/index.html',
      },
    },
    { name: 'unknown_members', inputSchema: OBJECT, 'x-tool': { kept: true }, annotations: { 'x-hint': 'kept' } },
    { name: 'schemas', inputSchema: SCHEMA, outputSchema: { ...SCHEMA, title: 'Out' } },
    { name: 'as_task', inputSchema: OBJECT, execution: { taskSupport: 'optional' } },
    { name: 'work', inputSchema: OBJECT },
    { name: 'odd.name/with:signs-and_more', inputSchema: OBJECT, description: '' },
  ],
  prompts: [
    {
      name: 'everything',
      title: 'Everything',
      description: 'All kinds of content',
      icons: ICONS,
      arguments: [{ name: 'who', title: 'Who', description: 'Whom', required: true, 'x-argument': 1 }, { name: 'how' }],
      _meta: { 'com.example/prompt': 1 },
      'x-prompt': [],
    },
    { name: 'ask' },
    { name: 'third', arguments: [] },
  ],
  resources: [
    {
      uri: 'text://one',
      name: 'one',
      title: 'One',
      description: 'A text',
      mimeType: 'text/plain',
      size: 3,
      icons: ICONS,
      annotations: { audience: ['user', 'assistant'], priority: 0.25, lastModified: '2026-01-01T00:00:00Z' },
      _meta: { 'com.example/resource': true },
      'x-resource': { kept: 1 },
    },
    { uri: 'blob://two', name: 'two', mimeType: 'application/octet-stream' },
    {
      uri: 'ui://shown/index.html',
      name: 'ui',
      mimeType: 'text/html;profile=mcp-app',
      _meta: { ui: { csp: { connectDomains: [] } } },
    },
  ],
  resourceTemplates: [
    {
      uriTemplate: 'text://{author}/{+path}{?q*}',
      name: 'notes',
      title: 'Notes',
      description: 'By author',
      mimeType: 'text/plain',
      icons: ICONS,
      annotations: { priority: 1 },
      _meta: { 'com.example/template': 1 },
      'x-template': null,
    },
  ],
};

/** Two pages; a cursor that was never given out is refused in the words of the server. */
export function page(area, { cursor } = {}, call) {
  const middle = Math.ceil(LISTS[area].length / 2);
  const result = { _meta: { 'com.example/list': { area } }, 'x-list': area };
  if (cursor === undefined) return { ...result, [area]: LISTS[area].slice(0, middle), nextCursor: `${area}: 2 / ü` };
  if (cursor === `${area}: 2 / ü`) return { ...result, [area]: LISTS[area].slice(middle) };
  throw call.fail(-32602, `Not a page of ${area}: ${cursor}`, { cursor });
}
