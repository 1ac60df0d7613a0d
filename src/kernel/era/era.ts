// What follows from the era that a client or a server speaks. Code outside mcp/eras/ asks for one of these facts by its name, never which era it is:
// a new era answers the same questions. Plain data, one object for all peers of a revision; mcp/eras/ has an object for each.

/** The way to encode messages that a peer uses. */
export type Dialect =
  | 'handshake' // opens a session
  | 'draft' // opens a session, and writes everything in other words
  | 'stateless'; // each request stands alone

/** The two ways to open a connection. A server may support both; the draft dialect also opens with a handshake. */
export type SpokenEra = 'handshake' | 'stateless';

export interface EraFacts {
  /** How it is opened. */
  readonly spokenAs: SpokenEra;
  /** A client opens a session, and one ClientView stands for all its requests. Without sessions each request has a view of its own. */
  readonly hasSession: boolean;
  /** Each request says which client it is for, and what that client declares. */
  readonly declaresPerRequest: boolean;
  /** The opening of a session names its client, in fields that a server may read. */
  readonly introducesClient: boolean;
  /** One connection can serve all clients. Otherwise a server sees each client on its own. */
  readonly servesAllByOne: boolean;
  /** All extensions are declared in the opening; otherwise a server may have some that it has not declared. */
  readonly declaresExtensions: boolean;

  /** A server asks in the answer to a call, which the client then repeats with its answers. */
  readonly asksInAnswers: boolean;
  /** A server asks by requests of its own, while calls run or between them. */
  readonly asksByRequest: boolean;
  /** A client is told that the page of a question was visited. */
  readonly reportsVisits: boolean;
  /** A server is told that the roots have changed. */
  readonly reportsRoots: boolean;

  /** The level of log messages is said with each request. */
  readonly tellsLevelPerCall: boolean;
  /** The level of log messages is set for the session. */
  readonly tellsLevelPerSession: boolean;
  /** Log messages from `info` on are sent to a client that has set no level. */
  readonly logsUnasked: boolean;
  /** Updates of resources are sent only to sessions that have subscribed to them. */
  readonly updatesSubscribers: boolean;

  /** Tasks are an extension: a server may answer any call with a task, and `tasks/get` has its questions and its result. */
  readonly tasksByExtension: boolean;
  /** Tasks are a capability: a tool says whether it runs as one, and `tasks/result` has its questions and its result. */
  readonly tasksByCapability: boolean;
  /** A client may ask for a call to run as a task. */
  readonly requestsTasks: boolean;
  /** Servers report their tasks to the client unasked. */
  readonly reportsTasks: boolean;

  /** Errors have codes for a capability that was not declared, a header unlike the body, and a version that is not supported. */
  readonly namesRefusals: boolean;
}

/** What a view of a peer says about its era. */
export interface Spoken {
  /** The dialect of the peer: for logs, metrics and people. Code asks `era`. */
  readonly dialect: Dialect;
  readonly era: EraFacts;
}
