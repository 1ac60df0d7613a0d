// Notifications about a connection itself or about the requests on it, in the words of any dialect. They mean something only to the
// peer that they were sent to. Passed on, one client could cancel the requests of another, or end a server that many share.
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
