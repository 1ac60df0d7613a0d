// Results that use every member.
const BYTES = Buffer.from('not really an image').toString('base64');
const ANNOTATIONS = { audience: ['user'], priority: 0.5, lastModified: '2026-01-01T00:00:00Z' };

export const CONTENT = {
  text: {
    type: 'text',
    text: 'A text \u0000 \u2028 ☃ 😀 "quoted"',
    annotations: ANNOTATIONS,
    _meta: { 'com.example/text': 1 },
  },
  image: {
    type: 'image',
    data: BYTES,
    mimeType: 'image/png',
    annotations: ANNOTATIONS,
    _meta: { 'com.example/image': {} },
  },
  audio: { type: 'audio', data: BYTES, mimeType: 'audio/wav', _meta: { 'com.example/audio': [] } },
  embedded: {
    type: 'resource',
    resource: { uri: 'text://embedded', mimeType: 'text/plain', text: 'embedded', _meta: { 'com.example/inner': 1 } },
    annotations: ANNOTATIONS,
    _meta: { 'com.example/outer': 2 },
  },
  blob: { type: 'resource', resource: { uri: 'blob://embedded', blob: BYTES } },
  link: {
    type: 'resource_link',
    uri: 'text://linked',
    name: 'linked',
    title: 'Linked',
    description: 'To be read',
    mimeType: 'text/plain',
    size: 12,
    icons: [{ src: 'https://example.com/i.png' }],
    annotations: ANNOTATIONS,
    _meta: { 'com.example/link': null },
  },
};

export const STRUCTURED = {
  text: 'ü\u2029',
  none: null,
  deep: [[[{ '': { ' ': [true, false, 0, -0.5, 1e-7, 9007199254740991] } }]]],
  constructor: 'a member as any other',
};

export const RESULTS = {
  prompt: (args) => ({
    description: `For ${args?.who}`,
    messages: Object.values(CONTENT).map((content, index) => ({ role: index % 2 ? 'assistant' : 'user', content })),
    _meta: { 'com.example/prompt': args ?? null },
    'x-prompt': 'kept',
  }),
  resource: (uri) => RESOURCES[uri] ?? (uri.startsWith('text://by/') ? text(uri) : undefined),
};

function text(uri, more) {
  return { contents: [{ uri, mimeType: 'text/plain', text: `At ${uri}`, ...more }] };
}

const RESOURCES = {
  'text://one': {
    ...text('text://one', { _meta: { 'com.example/content': 1 }, 'x-content': [1] }),
    _meta: { 'com.example/read': { at: 'one' } },
    'x-read': true,
  },
  'blob://two': { contents: [{ uri: 'blob://two', mimeType: 'application/octet-stream', blob: BYTES }] },
  'text://several': { contents: [...text('text://several/1').contents, { uri: 'blob://several/2', blob: BYTES }] },
  'text://empty': { contents: [] },
  'ui://shown/index.html': {
    contents: [
      {
        uri: 'ui://shown/index.html',
        mimeType: 'text/html;profile=mcp-app',
        text: '<p>',
        _meta: { ui: { prefersBorder: true } },
      },
    ],
  },
};
