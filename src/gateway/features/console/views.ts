// What the console's API returns, and so what its pages show. Types only: the pages for browsers import them, too. Every text that comes from a
// server or a client has passed `visible` or `printable`, and is shown as text.
import type { JudgedCall, ShownRule } from '../judged-call.ts';
import type { WaitingDefinition } from '../waiting-definition.ts';

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

export interface CallRow {
  id: string;
  /** Grows with each change of the row. */
  seq: number;
  /** When it came, in ms of wall-clock time, and how long it took; null while it runs. */
  at: number;
  ms: number | null;
  /** One word, or the name of an error; null while it runs. */
  outcome: string | null;
  tone: 'good' | 'bad' | 'calm' | 'busy';
  method: string;
  /** A tool was called. */
  isTool: boolean;
  /** The server's own name of the tool, prompt or resource. */
  name: string | null;
  /** By which the client called it, if that is another. */
  shownName: string | null;
  server: string | null;
  client: string;
  who: string;
  /** What the client speaks, and the server. */
  revision: string;
  spokenTo: string | null;
  /** The rule that decided. */
  rule: string | null;
  /** How often it has asked. */
  asked: number;
  /** What was sent and answered is kept, because somebody was looking when it came. */
  hasLegs: boolean;
}

export interface CallLeg {
  /** Of the client: `called`, `answered`. Of the server: `sent`, `received`. Between them: `asked`, `replied`. */
  kind: 'called' | 'sent' | 'received' | 'asked' | 'replied' | 'answered';
  /** In ms since the call came. */
  at: number;
  /** The revision, the transport, the server. */
  about: string | null;
  /** JSON, unless it was cut. */
  text: string | null;
  isCut: boolean;
}

export interface CallView {
  row: CallRow;
  legs: readonly CallLeg[];
  approvals: readonly { outcome: string; way: string; by: string | null; reason: string | null }[];
  findings: readonly string[];
}

/** One minute of all calls. */
export interface MinuteView {
  /** Its begin, in ms of wall-clock time. */
  at: number;
  calls: number;
  errors: number;
  p50: number;
  p95: number;
}

export interface CallsView {
  rows: readonly CallRow[];
  /** For the operator. */
  minutes: readonly MinuteView[];
}

export interface ToolRow {
  server: string;
  name: string;
  /** What it costs the context of a model, as an estimate; null if clients do not see it. */
  tokens: number | null;
  /** Of the calls that are kept. */
  calls: number;
  state: 'shown' | 'hidden' | 'held';
  isReadOnly: boolean;
  isDestructive: boolean;
  description: string;
  /** JSON. */
  schema: string;
}

export interface KeyRow {
  name: string;
  /** Its principal. */
  who: string;
  /** Null: all but the one of operators. */
  scopes: readonly string[] | null;
  groups: readonly string[];
  /** Wall-clock time in ms; null: never. */
  expires: number | null;
  /** Since the gateway runs. */
  lastUsed: number | null;
}

export interface LoginRow {
  server: string;
  /** The user whose login it is; null: of all. */
  account: string | null;
  issuer: string;
  state: string;
  expires: number | null;
}

export interface BrowserRow {
  name: string;
  user: string | null;
  since: number;
  /** It shows this page. */
  isThis: boolean;
}

export interface AccessView {
  /** How callers are let in. */
  login: 'none' | 'token' | 'keys' | 'issuers';
  keys: readonly KeyRow[];
  logins: readonly LoginRow[];
  browsers: readonly BrowserRow[];
  rules: readonly ShownRule[];
  /** Names of callers that are known. */
  callers: readonly string[];
  servers: readonly string[];
}

/** What would happen to a call. */
export interface WhatIfView {
  effect: JudgedCall['effect'];
  /** Who decides; null: nobody is against it. */
  decided: JudgedCall | null;
  judged: readonly JudgedCall[];
  /** What is not as it was asked for, such as a tool that the server does not list. */
  notes: readonly string[];
}

export interface ToolsView {
  tools: readonly ToolRow[];
  /** They have changed since they were accepted. */
  pins: readonly WaitingDefinition[];
}
