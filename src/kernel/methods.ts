// The methods of the neutral model by what they have in common. What only one revision has is said in its dialect.
import { dictionary } from './containers/dictionary.ts';

export type ListArea = 'tools' | 'prompts' | 'resources' | 'resourceTemplates';

export const LIST_METHOD_BY_AREA = {
  tools: 'tools/list',
  prompts: 'prompts/list',
  resources: 'resources/list',
  resourceTemplates: 'resources/templates/list',
} as const satisfies Record<ListArea, string>;

export const LIST_METHODS = Object.values(LIST_METHOD_BY_AREA);

export const AREA_BY_LIST_METHOD: ReadonlyMap<string, ListArea> = new Map(
  Object.entries(LIST_METHOD_BY_AREA).map(([area, method]) => [method, area as ListArea]),
);

/** The requests during which a server may ask, and whose results pass through unparsed. */
export const CALL_METHODS: ReadonlySet<string> = new Set(['tools/call', 'prompts/get', 'resources/read']);

/** The methods that run a tool, with the params that hold its name and arguments. */
export const RUN_METHODS: Readonly<Record<string, { name: string; args: string }>> = dictionary({
  'tools/call': { name: 'name', args: 'arguments' },
  'interaction.start': { name: 'toolName', args: 'initialParams' },
});

/** Requests about one task; they go to the connection on which it runs. */
export const ONE_TASK_METHODS: ReadonlySet<string> = new Set([
  'tasks/get',
  'tasks/result',
  'tasks/update',
  'tasks/cancel',
]);

export const TASK_METHODS: ReadonlySet<string> = new Set([...ONE_TASK_METHODS, 'tasks/list']);

/** The capability that a client needs for each question of a server. */
export const CAPABILITY_BY_ASK: Readonly<Record<string, 'elicitation' | 'sampling' | 'roots'>> = dictionary({
  'elicitation/create': 'elicitation',
  'sampling/createMessage': 'sampling',
  'roots/list': 'roots',
});

/**
 * Notifications about a connection or its requests, in any dialect. They are never passed on: one client could cancel
 * the requests of another, or end a shared server.
 */
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

/** Whether the protocol knows this only as a request. Without an id it has no meaning, but a careless server may act on it. */
export function isRequestMethod(method: string): boolean {
  return /^(?:tools|prompts|resources|completion|tasks|logging)\/|^interaction\./.test(method);
}
