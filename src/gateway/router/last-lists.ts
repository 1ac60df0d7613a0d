// What a server listed before this process was there. Kept by a feature; shown while the server starts.
import type { JsonObject } from '../../kernel/message.ts';
import type { ListArea } from '../../kernel/methods.ts';
import type { ClientOpening } from '../../kernel/target.ts';

export interface KnownList {
  readonly entries: readonly JsonObject[];
  readonly isPrivate: boolean;
  /** Further members of the list. */
  readonly more?: JsonObject | undefined;
}

/** Whose list it is: for servers at which every user has an account of their own. */
export type ListReader = ClientOpening & { readonly principal?: string | undefined };

export interface LastLists {
  /** Undefined if there is none for this client. */
  read(area: ListArea, client: ListReader): Promise<KnownList | undefined>;
  /** Never throws. */
  note(area: ListArea, client: ListReader, list: KnownList): void;
}
