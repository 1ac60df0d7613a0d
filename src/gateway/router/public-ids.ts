// The public ids of tasks and interactive sessions: sealed with their server and bound to the principal, so that any node finds
// the server again and no other principal can use them. Issued ids are remembered, so that notifications use the same id. Two
// processes of one server may use the same ids for two clients; their public ids always differ.
import type { Run } from '../../kernel/exchange.ts';
import { isObject } from '../../kernel/message.ts';
import type { Sealer } from '../../kernel/crypto/seal.ts';
import { withoutMark } from '../../kernel/nodes/nodes.ts';
import { BoundedMap } from '../../kernel/containers/bounded-map.ts';

/** The oldest are forgotten first: their tasks cause no notifications, but can still be polled. */
const MAX_ISSUED = 10_000;

/** What began under an id, so that rules can judge it again: the server's own name of the tool, and a digest of the rules. */
type BegunRun = Pick<Run, 'tool' | 'rules'>;

/** `id`: the server's own. */
type OpenedId = Pick<Run, 'server' | 'id' | 'tool' | 'rules'>;

export class PublicIds {
  readonly #sealer: Sealer;
  readonly #purpose: string;
  readonly #prefix: string;
  readonly #issued = new BoundedMap<string, string>(MAX_ISSUED);

  readonly #mark: string;

  /** `mark`: what ids end in. */
  constructor(sealer: Sealer, purpose: 'task' | 'session', mark = '') {
    this.#mark = mark;
    this.#sealer = sealer;
    this.#purpose = purpose;
    this.#prefix = purpose === 'session' ? 'session_' : '';
  }

  publish(server: string, id: unknown, principal: string, begun: BegunRun = {}): string {
    const seal = () =>
      this.#prefix + this.#sealer.seal(this.#purpose, principal, { server, id, ...begun }) + this.#mark;
    return this.#issued.getOrCreate(keyOf(server, id, principal), seal);
  }

  /** The id issued to this principal, if there is one. */
  known(server: string, id: unknown, principal: string): string | undefined {
    return this.#issued.get(keyOf(server, id, principal));
  }

  /** Undefined for an id that was not issued to this principal. */
  open(publicId: unknown, principal: string): OpenedId | undefined {
    if (typeof publicId !== 'string' || !publicId.startsWith(this.#prefix)) return undefined;
    const opened = this.#sealer.open(this.#purpose, principal, withoutMark(publicId.slice(this.#prefix.length)));
    if (!isObject(opened)) return undefined;
    const { server, id, tool, rules } = opened;
    const text = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);
    return { server: String(server), id: String(id), tool: text(tool), rules: text(rules) };
  }
}

function keyOf(server: string, id: unknown, principal: string): string {
  return JSON.stringify([server, id, principal]);
}
