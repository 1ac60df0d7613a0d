// The method table: every method of the neutral model, and what the gateway has to know of it. A method has a name and a row here; whether
// an era has it, that era says (mcp/eras). What is decided by method reads a row, so a method that no row knows is refused by rules,
// counted and recorded, and never taken for a harmless one.
import { dictionary } from './containers/dictionary.ts';

export type ListArea = 'tools' | 'prompts' | 'resources' | 'resourceTemplates';

export const LIST_TOOLS = 'tools/list';
export const CALL_TOOL = 'tools/call';
export const LIST_PROMPTS = 'prompts/list';
export const GET_PROMPT = 'prompts/get';
export const LIST_RESOURCES = 'resources/list';
export const LIST_TEMPLATES = 'resources/templates/list';
export const READ_RESOURCE = 'resources/read';
export const SUBSCRIBE_RESOURCE = 'resources/subscribe';
export const UNSUBSCRIBE_RESOURCE = 'resources/unsubscribe';
export const READ_DIRECTORY = 'resources/directory/read';
export const LIST_SKILLS = 'skills/list';
export const GET_SKILL = 'skills/get';
export const COMPLETE_ARGUMENT = 'completion/complete';

export const GET_TASK = 'tasks/get';
export const GET_TASK_RESULT = 'tasks/result';
export const UPDATE_TASK = 'tasks/update';
export const CANCEL_TASK = 'tasks/cancel';
export const LIST_TASKS = 'tasks/list';

export const FLOW_START = 'interaction.start';
export const FLOW_RESPOND = 'interaction.respond';
export const FLOW_EDIT = 'interaction.edit';
export const FLOW_BACK = 'interaction.back';
export const FLOW_EXTEND = 'interaction.extend';
export const FLOW_HAND_OVER = 'interaction.handOver';
export const FLOW_STATE = 'interaction.getState';
export const FLOW_CANCEL = 'interaction.cancel';
export const FLOW_ACKNOWLEDGE = 'interaction.acknowledge';
export const FLOW_PROMPT = 'interaction.prompt';
export const FLOW_CONTINUE = 'interaction.continue';
export const FLOW_COMPLETE = 'interaction.complete';
export const FLOW_ENDED = 'interaction.ended';
export const FLOW_WAITING = 'interaction.waiting';
export const FLOW_WITHDRAWN = 'interaction.withdrawn';
export const FLOW_TIMEOUT_WARNING = 'interaction.timeoutWarning';

export const INITIALIZE = 'initialize';
export const DISCOVER_SERVER = 'server/discover';
export const LISTEN_FOR_CHANGES = 'subscriptions/listen';
export const TELL_CAPABILITIES = 'capabilities';
export const PING_PEER = 'ping';
export const SET_LOG_LEVEL = 'logging/setLevel';

export const ELICIT_INPUT = 'elicitation/create';
export const SAMPLE_MESSAGE = 'sampling/createMessage';
export const LIST_ROOTS = 'roots/list';

export const ROOTS_CHANGED = 'notifications/roots/list_changed';
export const ELICITATION_COMPLETED = 'notifications/elicitation/complete';
export const REQUEST_CANCELLED = 'notifications/cancelled';
export const REQUEST_PROGRESS = 'notifications/progress';

/**
 * `list`, `use`, `subscription` and `completion` are about what servers offer; `task` and `flow` about a call that runs on; `meta` about the
 * connection. Targets handle these. An `opening` is answered by the era, an `ask` goes to the client, and a `notice` has no answer.
 */
type MethodKind =
  | 'list'
  | 'use'
  | 'subscription'
  | 'completion'
  | 'task'
  | 'flow'
  | 'meta'
  | 'opening'
  | 'ask'
  | 'notice';

export interface MethodRow {
  readonly kind: MethodKind;
  /** What it lists or uses; a `flow` that has one begins a session. */
  readonly area?: ListArea | 'skills';
  /** The member of its params with the name or URI of what it uses. */
  readonly named?: 'name' | 'uri' | 'toolName';
  /** The member with the arguments, if it runs a tool. */
  readonly args?: 'arguments' | 'initialParams';
  /** The server may ask its client before it answers. */
  readonly asks?: true;
  /** What wrote the text for the model that its result is, or holds. */
  readonly content?: 'tool' | 'prompt' | 'resource';
  /** It counts for the rates of servers and tools. */
  readonly rated?: true;
  /** It may be sent again after a failure. */
  readonly safe?: true;
  /** It only looks, and so has no line in the audit log. */
  readonly quiet?: true;
  /** Its result is what the server offers to everyone, or nothing. */
  readonly impersonal?: true;
  /** It asks nobody, and does not depend on earlier requests. */
  readonly alone?: true;
  /** It lets the tool of a session run on. */
  readonly continues?: true;
  /** The capability that the client needs. */
  readonly capability?: 'elicitation' | 'sampling' | 'roots';
}

const list = { kind: 'list', safe: true, quiet: true, impersonal: true, alone: true } as const;
const use = { kind: 'use', asks: true, rated: true } as const;

const ROWS = {
  [LIST_TOOLS]: { ...list, area: 'tools' },
  [CALL_TOOL]: { ...use, area: 'tools', named: 'name', args: 'arguments', content: 'tool' },
  [LIST_PROMPTS]: { ...list, area: 'prompts' },
  [GET_PROMPT]: { ...use, area: 'prompts', named: 'name', content: 'prompt', safe: true },
  [LIST_RESOURCES]: { ...list, area: 'resources' },
  [LIST_TEMPLATES]: { ...list, area: 'resourceTemplates' },
  [READ_RESOURCE]: { ...use, area: 'resources', named: 'uri', content: 'resource', safe: true },
  [SUBSCRIBE_RESOURCE]: { kind: 'subscription', area: 'resources', named: 'uri' },
  [UNSUBSCRIBE_RESOURCE]: { kind: 'subscription', area: 'resources', named: 'uri' },
  [READ_DIRECTORY]: { kind: 'use', area: 'skills', named: 'uri' },
  [LIST_SKILLS]: { kind: 'list', area: 'skills' },
  [GET_SKILL]: { kind: 'use', area: 'skills', named: 'uri' },
  [COMPLETE_ARGUMENT]: { kind: 'completion', rated: true, safe: true, quiet: true, alone: true },

  [GET_TASK]: { kind: 'task', content: 'tool', quiet: true },
  [GET_TASK_RESULT]: { kind: 'task', asks: true, content: 'tool' },
  [UPDATE_TASK]: { kind: 'task' },
  [CANCEL_TASK]: { kind: 'task' },
  [LIST_TASKS]: { kind: 'task', quiet: true },

  [FLOW_START]: { kind: 'flow', area: 'tools', named: 'toolName', args: 'initialParams', rated: true },
  [FLOW_RESPOND]: { kind: 'flow', continues: true },
  [FLOW_EDIT]: { kind: 'flow', continues: true },
  [FLOW_BACK]: { kind: 'flow', continues: true },
  [FLOW_CONTINUE]: { kind: 'flow' },
  [FLOW_COMPLETE]: { kind: 'flow' },
  [FLOW_EXTEND]: { kind: 'flow' },
  [FLOW_HAND_OVER]: { kind: 'flow' },
  [FLOW_STATE]: { kind: 'flow', quiet: true },
  [FLOW_CANCEL]: { kind: 'flow' },
  [FLOW_ACKNOWLEDGE]: { kind: 'flow' },
  [FLOW_PROMPT]: { kind: 'ask' },
  [FLOW_ENDED]: { kind: 'notice' },
  [FLOW_WAITING]: { kind: 'notice' },
  [FLOW_WITHDRAWN]: { kind: 'notice' },
  [FLOW_TIMEOUT_WARNING]: { kind: 'notice' },

  [TELL_CAPABILITIES]: { kind: 'meta', quiet: true, impersonal: true, alone: true },
  [PING_PEER]: { kind: 'meta', quiet: true, impersonal: true },
  [SET_LOG_LEVEL]: { kind: 'meta', quiet: true },
  [ROOTS_CHANGED]: { kind: 'meta' },

  [INITIALIZE]: { kind: 'opening', quiet: true },
  [DISCOVER_SERVER]: { kind: 'opening', quiet: true },
  [LISTEN_FOR_CHANGES]: { kind: 'opening', quiet: true },

  [ELICIT_INPUT]: { kind: 'ask', capability: 'elicitation' },
  [SAMPLE_MESSAGE]: { kind: 'ask', capability: 'sampling' },
  [LIST_ROOTS]: { kind: 'ask', capability: 'roots' },

  [ELICITATION_COMPLETED]: { kind: 'notice' },
  [REQUEST_CANCELLED]: { kind: 'notice' },
  [REQUEST_PROGRESS]: { kind: 'notice' },
} as const satisfies Record<string, MethodRow>;

type Method = keyof typeof ROWS;

const TABLE: ReadonlyMap<string, MethodRow> = new Map(Object.entries(ROWS));

/** Undefined for a method that is not in the table. */
export function rowOf(method: string): MethodRow | undefined {
  return TABLE.get(method);
}

/** The methods whose rows are like this, in the order of the table. */
export function methodsWhere(isMeant: (row: MethodRow) => unknown): readonly Method[] {
  return (Object.keys(ROWS) as Method[]).filter((method) => isMeant(ROWS[method]));
}

/** What clients send and targets handle. A client that sends what only eras or servers send is as unknown as one that makes up a method. */
export const REQUEST_METHODS: ReadonlySet<string> = new Set(
  methodsWhere(({ kind }) => kind !== 'opening' && kind !== 'ask' && kind !== 'notice'),
);

export const LIST_METHOD_BY_AREA = {
  tools: LIST_TOOLS,
  prompts: LIST_PROMPTS,
  resources: LIST_RESOURCES,
  resourceTemplates: LIST_TEMPLATES,
} as const satisfies Record<ListArea, Method>;

export const LIST_METHODS = Object.values(LIST_METHOD_BY_AREA);

export const AREA_BY_LIST_METHOD: ReadonlyMap<string, ListArea> = new Map(
  Object.entries(LIST_METHOD_BY_AREA).map(([area, method]) => [method, area as ListArea]),
);

/** The requests during which a server may ask, and whose results pass through unparsed. */
export const CALL_METHODS: ReadonlySet<string> = new Set(methodsWhere(({ kind, asks }) => kind === 'use' && asks));

/** The methods that run a tool, with the params that hold its name and arguments. */
export const RUN_METHODS: Readonly<Record<string, { name: string; args: string }>> = dictionary(
  Object.fromEntries(
    Object.entries<MethodRow>(ROWS).flatMap(([method, { named, args }]) =>
      named && args ? [[method, { name: named, args }]] : [],
    ),
  ),
);

export const TASK_METHODS: ReadonlySet<string> = new Set(methodsWhere(({ kind }) => kind === 'task'));

/** Requests about one task; they go to the connection on which it runs. */
export const ONE_TASK_METHODS: ReadonlySet<string> = new Set([...TASK_METHODS].filter((one) => one !== LIST_TASKS));

/** The capability that a client needs for each question of a server. */
export const CAPABILITY_BY_ASK: Readonly<Record<string, 'elicitation' | 'sampling' | 'roots'>> = dictionary(
  Object.fromEntries(
    Object.entries<MethodRow>(ROWS).flatMap(([method, { capability }]) => (capability ? [[method, capability]] : [])),
  ),
);

/**
 * Notifications about a connection or its requests, in any dialect. They are never passed on: one client could cancel
 * the requests of another, or end a shared server.
 */
export const WIRE_NOTIFICATIONS: ReadonlySet<string> = new Set([
  'notifications/initialized',
  REQUEST_CANCELLED,
  REQUEST_PROGRESS,
  'initialized',
  'cancel',
  'progress',
  'shutdown',
  'exit',
]);

/** Whether the protocol knows this only as a request. Without an id it has no meaning, but a careless server may act on it. */
export function isRequestMethod(method: string): boolean {
  return REQUEST_METHODS.has(method) ? method !== ROOTS_CHANGED : NAMESPACES.has(namespaceOf(method));
}

/** An era may have methods that the table does not know, under the same words. */
const NAMESPACES: ReadonlySet<string> = new Set(
  [...REQUEST_METHODS].flatMap((one) => (one === ROOTS_CHANGED ? [] : namespaceOf(one) || [])),
);

function namespaceOf(method: string): string {
  return method.slice(0, method.search(/[/.]/) + 1);
}
