// All names of a tool or prompt that a rule may mean: the server's own, `server__name`, and the public one where that is cut or has a hash.
// They follow from the configuration alone, so they are the same at /mcp, /mcp/<server> and for groups.
import type { Origin } from '../../../../protocol/step.ts';
import { toShortName } from '../../../../shared/short-name.ts';
import { qualifiedName } from '../filter/name-rule.ts';

type Named = Pick<Origin, 'server' | 'name'>;

export class RuleNames {
  readonly #servers: readonly string[];

  constructor(servers: readonly string[]) {
    this.#servers = servers;
  }

  /** `isPermission`: a server cannot gain the permission of another server by the names that it gives. */
  of(origin: Named, isPermission: boolean): string[] {
    const own = [origin.name, toShortName(origin.name)];
    const qualified = qualifiedName(origin);
    const named = [qualified, toShortName(qualified)];
    if (!isPermission) return [...new Set([...own, ...named])];
    return [...new Set([...(this.isPosing(origin) ? [] : own), ...(this.#isOwned(origin, qualified) ? named : [])])];
  }

  /** It gives one of its own things the qualified name of another server's. */
  isPosing({ server, name }: Named): boolean {
    return this.#servers.some((other) => other !== server && name.startsWith(`${other}__`));
  }

  /** Server names may contain `__`; the longest one owns a qualified name. */
  #isOwned({ server }: Named, qualified: string): boolean {
    return !this.#servers.some((other) => other.length > server.length && qualified.startsWith(`${other}__`));
  }
}
