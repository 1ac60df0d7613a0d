// The configured roots, for clients that have none of their own. They can change while the gateway runs.
import type { JsonObject } from '../kernel/message.ts';
import { GatewayError } from '../kernel/base/errors.ts';

/** A folder, as in `roots/list`. */
export interface RootOption {
  /** `file://…` */
  readonly uri: string;
  readonly name?: string | undefined;
}

export class ConfiguredRoots {
  #roots: readonly RootOption[] = [];

  constructor(roots: readonly RootOption[]) {
    this.set(roots);
  }

  get list(): readonly RootOption[] {
    return this.#roots;
  }

  set(roots: readonly RootOption[]): void {
    const foreign = roots.find(({ uri }) => !/^file:\/\//i.test(uri));
    if (foreign)
      throw new GatewayError('BAD_OPTION', { option: 'roots', reason: `${foreign.uri} is not a file:// URI` });
    this.#roots = [...roots];
  }

  /** Answers any server, within a call or not. */
  readonly answer = async (): Promise<JsonObject> => ({ roots: this.#roots.map((root) => ({ ...root })) });
}
