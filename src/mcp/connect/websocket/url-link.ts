// WebSocket towards servers, as a row of url-links.ts.
import type { UrlLink } from '../url-link.ts';

export const webSocketUrls: UrlLink = {
  transport: 'websocket',
  label: 'WebSocket',
  words: ['ws', 'websocket'],
  schemes: ['ws', 'wss'],
  open: async (options) => (await import('./websocket-link.ts')).createWebSocketLink(options),
};
