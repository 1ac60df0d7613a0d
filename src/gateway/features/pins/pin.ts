// A pin: what a name of a server has been, and the record that holds all pins of one server.
import type { HeldArea } from '../list-checks/held-definitions.ts';
import type { JsonObject } from '../../../kernel/message.ts';

export type PinArea = HeldArea;

/** A definition at one time. */
export interface PinnedDefinition {
  digest: string;
  /** Of all but the name. */
  likeness: string;
  /** When it was first seen; ISO 8601. */
  at: string;
  isReadOnly?: true;
  /** An offline check found something in it. */
  isSuspicious?: true;
  /** The package that listed it, with its version, as far as the disk shows it. */
  program?: string;
  /** For people; absent if it is too long. */
  value?: JsonObject;
}

/** One of the definitions that a name has. */
export interface PinForm extends PinnedDefinition {
  isAccepted?: true;
  /** Where it is listed now (`listingKey`). What is not accepted is listed somewhere. */
  listings: string[];
}

/**
 * What a name has been. A server may list it differently in each era and for each kind of client, so it can have several accepted definitions; any of
 * them may be listed anywhere.
 */
export interface Pin {
  area: PinArea;
  name: string;
  forms: PinForm[];
  /** The pinned name that has the same definition as a new one. */
  like?: string;
  /** Was accepted once as one that may change things. */
  mayChangeThings?: true;
}

export interface PinRecord {
  /** What the gateway serves: a configuration file, or its name. */
  gateway: string;
  server: string;
  /** A digest of the command and its arguments, or of the URL. */
  address: string;
  /** Name and version, as the server says. */
  info?: string;
  /** The package that was last seen, with its version. */
  program?: string;
  /** Areas that have a baseline. */
  known: string[];
  pins: Record<string, Pin>;
}
