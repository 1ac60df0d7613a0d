// A minimal stateless client without a library or capabilities.
const REVISION = '2026-07-28';
const META = {
  'io.modelcontextprotocol/protocolVersion': REVISION,
  'io.modelcontextprotocol/clientInfo': { name: 'raw', version: '1.0.0' },
  'io.modelcontextprotocol/clientCapabilities': {},
};

export function openRaw(url) {
  const controller = new AbortController();
  let id = 0;
  return {
    asked: [],
    async call(name, args) {
      const params = { name, arguments: args, _meta: META };
      const response = await fetch(url, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          'mcp-protocol-version': REVISION,
          'mcp-method': 'tools/call',
          'mcp-name': name,
        },
        body: JSON.stringify({ jsonrpc: '2.0', id: ++id, method: 'tools/call', params }),
        signal: controller.signal,
      });
      const { result, error } = lastMessage(response.headers.get('content-type'), await response.text());
      if (error) throw Object.assign(new Error(error.message), error);
      return result;
    },
    leave: async () => controller.abort(),
  };
}

function lastMessage(type, body) {
  if (!type?.startsWith('text/event-stream')) return JSON.parse(body);
  const messages = body.split('\n').filter((line) => line.startsWith('data:'));
  return JSON.parse(messages.at(-1).slice('data:'.length));
}
