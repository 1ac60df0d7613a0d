// Notifications about a connection or its requests, in any dialect. They are never passed on: one client could cancel
// the requests of another, or end a shared server.
export const WIRE_NOTIFICATIONS: ReadonlySet<string> = new Set([
  'notifications/initialized',
  'notifications/cancelled',
  'notifications/progress',
  'initialized',
  'cancel',
  'progress',
  'shutdown',
  'exit',
]);
