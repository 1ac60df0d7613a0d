// What parts of the gateway find out about a call on its way, for those who watch it (`exchange.observed`). Only calls that somebody watches have notes.
import type { JsonObject } from '../message.ts';
import type { ResultObject } from '../raw/raw-object.ts';

export interface CallNotes {
  /** The server's own name of the tool, prompt or resource; set by the router, or where a call ends before it. */
  name: string | undefined;
  /** The params of the call that a step has found inside of this one, as in a call of `call_tool`. */
  unwrapped: JsonObject | undefined;
  /** How the last server that it went to is spoken to. */
  spokenTo: SpokenTo | undefined;
  /** What a step found suspicious in the answer. */
  findings: readonly string[] | undefined;
  /** A person was asked whether it may be made, and has said no. */
  isDeclined: boolean;
  /** The call goes on after its request is answered: this is how it ends. */
  ending: Promise<ResultObject> | undefined;
  /** Whether somebody watches what happens on its way: only then is a moment made. */
  readonly hasMoments: boolean;
  tell(moment: CallMoment): void;
}

export interface SpokenTo {
  readonly revision: string;
  readonly dialect: string;
}

export type CallAnswer = { readonly result: ResultObject } | { readonly thrown: unknown };

/** What happens between the begin and the end of a call, with the messages themselves: who keeps them, decides how much of them. */
export type CallMoment =
  /** A request goes to the server: a further one after a login, a visit to a page, or by a step that repeats the call. */
  | {
      readonly kind: 'sent';
      readonly server: string | undefined;
      readonly spokenTo: SpokenTo;
      readonly transport: string | undefined;
      readonly method: string;
      readonly params: JsonObject;
    }
  /** What the server answers to it. */
  | ({ readonly kind: 'received' } & CallAnswer)
  /** A person or a model is asked: by the server or a step, or by the gateway itself (`ofGateway`). */
  | {
      readonly kind: 'asked';
      readonly method: string;
      readonly params: JsonObject | undefined;
      readonly ofGateway: boolean;
    }
  /** The question has an answer, or will have none, which was thrown. */
  | { readonly kind: 'replied'; readonly thrown?: unknown };
