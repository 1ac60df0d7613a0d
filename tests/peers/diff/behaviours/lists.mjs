// Lists, entry by entry and page by page.
const AREAS = { 'tools/list': 'tools', 'prompts/list': 'prompts', 'resources/list': 'resources' };

export const LISTS = [
  ['tool: title, icons, annotations, _meta', (peer) => entry(peer, 'tools/list', 'described')],
  ['tool: _meta.ui', (peer) => entry(peer, 'tools/list', 'shown')],
  ['tool: unknown members', (peer) => entry(peer, 'tools/list', 'unknown_members')],
  ['tool: JSON Schema words', (peer) => entry(peer, 'tools/list', 'schemas')],
  ['tool: execution', (peer) => entry(peer, 'tools/list', 'as_task')],
  ['tool: odd name', (peer) => entry(peer, 'tools/list', 'odd.name/with:signs-and_more')],
  ['prompt: every member', (peer) => entry(peer, 'prompts/list', 'everything')],
  ['resource: every member', (peer) => entry(peer, 'resources/list', 'one')],
  ['resource: ui://', (peer) => entry(peer, 'resources/list', 'ui')],
  ['resource template: every member', (peer) => peer.request('resources/templates/list', {})],
  ...Object.keys(AREAS).flatMap((method) => [
    [`${method}: the first page, its _meta and unknown members`, (peer) => peer.request(method, {})],
    [`${method}: the last page`, (peer) => peer.request(method, { cursor: `${AREAS[method]}: 2 / ü` })],
    [`${method}: a cursor that the server refuses`, (peer) => peer.request(method, { cursor: 'made up' })],
  ]),
  ['tools/list without params', (peer) => peer.request('tools/list')],
  [
    'list requests: _meta at the server',
    async (peer) => {
      await peer.request('prompts/list', { cursor: 'prompts: 2 / ü', _meta: { 'com.example/list': [1] } });
      return peer.got('prompts/list').at(-1);
    },
  ],
];

async function entry(peer, method, name) {
  const area = AREAS[method];
  const pages = [await peer.request(method, {}), await peer.request(method, { cursor: `${area}: 2 / ü` })];
  return pages.flatMap(({ result }) => result?.[area] ?? []).find((one) => one.name === name) ?? pages;
}
