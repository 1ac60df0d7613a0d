// Gateways that serve as one, behind any load balancer: each of them is a node. What is alive stays at the node that has it, and its id ends in the
// mark of this node; a request that comes to another one is forwarded there, once.
// A mark is a hint and proves nothing: who may use an id is decided where it leads.
import type { Hop, HttpHandler, HttpRequest, HttpResponse } from '../base/http.ts';
import type { Family } from '../base/metric.ts';

/** A request to forward. */
export interface ForwardedVisit extends Hop {
  readonly request: HttpRequest;
  readonly response: HttpResponse;
  /** What was read of the request; undefined if nothing was. */
  readonly body?: string | undefined;
}

/**
 * `answered`: all of the answer was passed on, or nobody waits for it. `unsent`: the node cannot have begun; `isRefused`: nobody listens at its port. `elsewhere`: it has not what the id
 * names; `owner` does. `broken`: the node may have begun, and nothing was passed on. `cut`: a part of a stream of
 * events was, and the response is still open.
 */
export type ForwardOutcome =
  | { readonly kind: 'answered' | 'unsent' | 'broken' | 'cut'; readonly isRefused?: boolean }
  | { readonly kind: 'elsewhere'; readonly owner: string };

export interface Nodes {
  /** Of this node; new with every process, unless the nodes are listed. */
  readonly self: string;
  /** What ids that are made here end in. */
  readonly mark: string;
  /** The other node whose mark the id has, if it is there. */
  ownerOf(id: unknown): string | undefined;
  /** The same for a session: a node that is about to stop gives its sessions away, so that the store knows better who has it. */
  sessionOwnerOf(id: string): string | undefined;
  /** Whether another node is there, as far as can be known at the moment. */
  isAlive(node: string): Promise<boolean>;
  /** Whether what is missing in the shared state has ended: false for some seconds after the state was away or has lost its rows. */
  isSettled(): Promise<boolean>;
  /** Calls back when others may have taken this node for dead, and it is back, or the state has lost what it wrote. */
  onReturn(back: () => void): void;
  forward(node: string, visit: ForwardedVisit): Promise<ForwardOutcome>;
}

/** A node as another one, or it itself, shows it. Null: it does not say. */
export interface NodeReport {
  readonly node: string;
  /** Of its internal port. */
  readonly url: string;
  /** It is the one that was asked. */
  readonly isSelf: boolean;
  /** It finishes its last calls. */
  readonly isDraining: boolean;
  readonly version: string | null;
  readonly started: string | null;
  /** Open sessions over HTTP; of other nodes, as they were seconds ago. */
  readonly sessions: number | null;
  /** The keys of the configuration in which it differs from the one that was asked. */
  readonly differs: readonly string[];
}

/** What a node serves, and what it counts. */
export interface NodeServing {
  /** What the public port serves. */
  readonly serve: HttpHandler;
  readonly sessions: () => number;
}

export interface HopAddress {
  readonly url: URL;
  readonly headers: Record<string, string>;
}

/** This gateway as a node. */
export interface JoinedNodes extends Nodes {
  /** Opens the internal port, and lets the other nodes know. Once; later calls do nothing. */
  open(serving: NodeServing): Promise<void>;
  /** All nodes that are there, itself first. */
  report(): NodeReport[];
  /** Answers requests of nodes, this one included, for this path and its `/alive`. Returns what ends this. */
  answer(path: string, serve: HttpHandler): () => void;
  /** Where to send such a request, and what has to go with it; undefined if the node is not there. */
  hopTo(node: string, request: { method: string; path: string }): Promise<HopAddress | undefined>;
  urlOf(node: string): string | undefined;
  /** Calls back when a node has ended, or does not say any more that it is there. Returns what ends this. */
  onGone(gone: (node: string) => void): () => void;
  /** Takes no new sessions from now on. */
  drain(): Promise<void>;
  close(): Promise<void>;
  readonly families: Family[];
}

/** A node answers so if it has not what was forwarded to it, and this header says which one does. */
export const MISDIRECTED = 421;
export const OWNER_HEADER = 'parley-owner';

/** Before the mark of an id; no other part of an id has it. */
const MARK = '.';

export function toMark(node: string): string {
  return MARK + node;
}

/** The node in an id; undefined if it has no mark. */
export function markedNode(id: unknown): string | undefined {
  if (typeof id !== 'string') return undefined;
  const at = id.lastIndexOf(MARK);
  return at === -1 || at === id.length - 1 ? undefined : id.slice(at + 1);
}

/** The mark of an id, to put it behind what is made of this id. */
export function markIn(id: string): string {
  return id.slice(withoutMark(id).length);
}

/** An id without its mark. */
export function withoutMark(id: string): string {
  const at = id.lastIndexOf(MARK);
  return at === -1 ? id : id.slice(0, at);
}
