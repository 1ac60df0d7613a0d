// Derives the type of a form's answer from its schema, so that reading it needs no cast.
import type { Ask } from '../exchange.ts';
import type { JsonObject } from '../message.ts';

/** A form question. */
export type FormAsk = Ask & {
  method: 'elicitation/create';
  params: { requestedSchema: { properties: object; required?: readonly string[] } };
};

/** Only an accepted form has content. */
export type FormAnswerOf<A extends FormAsk> =
  | { action: 'accept'; content: ContentOf<A['params']['requestedSchema']> }
  | { action: 'decline' | 'cancel'; content?: undefined };

/** Optional fields may be missing; not every client checks answers. */
type ContentOf<S extends FormAsk['params']['requestedSchema']> = JsonObject & {
  readonly [K in keyof S['properties']]:
    | ValueOf<S['properties'][K]>
    | (S extends { required: readonly (infer R)[] } ? (K extends R ? never : undefined) : undefined);
};

/** If the type was not a literal, TypeScript only knows that it is a string. */
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
