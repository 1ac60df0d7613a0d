// WebSocket towards clients, as a row of http/upgrades.ts.
import type { Upgrade } from '../http/upgrade.ts';

export const webSocketUpgrade: Upgrade = {
  transport: 'websocket',
  label: 'WebSocket',
  path: '/ws',
  urlOf: (url) => url.replace(/^http/, 'ws'),
  open: async (context) => (await import('./accept-websockets.ts')).acceptWebSockets(context),
};
