// What the console's API returns, and so what its pages show. Types only: the pages for browsers import them, too. Every text that comes from a
// server or a client has passed `visible` or `printable`, and is shown as text.

export interface ViewerView {
  /** How the page names them. */
  name: string;
  /** Sees everything; others see what is theirs. */
  isOperator: boolean;
  /** How they got in; `token` is a program. */
  way: 'browser' | 'login' | 'token';
}

export interface ServerRow {
  name: string;
  state: 'idle' | 'starting' | 'ready' | 'failing';
  /** What it calls itself. */
  title: string | null;
  version: string | null;
  revision: string | null;
  transport: string | null;
  /** Open connections: of a command, its processes. */
  connections: number;
  /** Tools that clients see, and those that wait for a person to accept them; null as long as nobody knows. */
  tools: number | null;
  held: number;
  /** The newest reason, for the operator. */
  failure: string | null;
  findings: readonly string[];
}

export interface ClientRow {
  id: string;
  name: string;
  version: string | null;
  revision: string;
  transport: string | null;
  /** The principal, as the log names it. */
  who: string;
  /** Wall-clock time in ms. */
  since: number;
}

export interface QuestionView {
  message: string;
  /** What a yes means besides, such as how long it holds. */
  hint: string | null;
  /** Yes and no are enough. */
  isConfirm: boolean;
  /** It is answered on another website. */
  host: string | null;
}

export interface QuestionRow {
  handle: string;
  tool: string | null;
  server: string | null;
  client: string;
  /** Whose call it is, where users log in. */
  user: string | null;
  since: number | null;
  expires: number;
  /** This viewer may answer. */
  isTheirs: boolean;
  questions: readonly QuestionView[];
  /** The page with the whole form, for questions that yes and no do not answer. */
  link: string | null;
  /** What the call waits for, if nobody here can do anything. */
  waitsFor: string | null;
}

export interface NowView {
  viewer: ViewerView;
  gateway: { name: string; version: string; pid: number | null; started: number; isStopping: boolean };
  servers: readonly ServerRow[];
  clients: readonly ClientRow[];
  questions: readonly QuestionRow[];
}

/** How to get in. */
export interface WayInView {
  /** Where people log in, if they can. */
  login: string | null;
  isLoggedIn: boolean;
}
