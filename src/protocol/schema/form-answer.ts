// The type of the answer to a form, from the schema that it was asked with: what is read from it needs no cast.
import type { Ask } from '../exchange.ts';
import type { JsonObject } from '../message.ts';

/** A question by form. */
export type FormAsk = Ask & {
  method: 'elicitation/create';
  params: { requestedSchema: { properties: object; required?: readonly string[] } };
};

/** Content is there where the user has accepted, and only there. */
export type FormAnswerOf<A extends FormAsk> =
  | { action: 'accept'; content: ContentOf<A['params']['requestedSchema']> }
  | { action: 'decline' | 'cancel'; content?: undefined };

/** Clients check answers, or not: what is not required may be missing. */
type ContentOf<S extends FormAsk['params']['requestedSchema']> = JsonObject & {
  readonly [K in keyof S['properties']]:
    | ValueOf<S['properties'][K]>
    | (S extends { required: readonly (infer R)[] } ? (K extends R ? never : undefined) : undefined);
};

/** Where the kind was not written in place, TypeScript knows only that it is some text. */
type ValueOf<P> = P extends { enum: readonly (infer E)[] }
  ? E
  : P extends { type: 'boolean' }
    ? boolean
    : P extends { type: 'number' | 'integer' }
      ? number
      : P extends { type: 'string' }
        ? string
        : P extends { type: 'array' }
          ? readonly string[]
          : string | number | boolean | readonly string[];
