// Tells a client on stdin why there is nothing to serve: its first request is answered with the reason, which clients show. A process that just ends
// leaves people without one.
import { acceptStdio } from '../../../mcp/listen/stdio.ts';
import { createServeContext } from '../../../mcp/eras/serve/serve-context.ts';
import { ProtocolError } from '../../../kernel/base/errors.ts';
import type { Target } from '../../../kernel/target.ts';
import { version } from '../../../kernel/version.ts';
import { releaseStdin } from '../../running/first-message.ts';
import { untilSignal } from '../../signals.ts';

const INTERNAL_ERROR = -32603;

/** Ends with the client. A person at a terminal has read the reason. */
export async function refuseClient(reason: string): Promise<void> {
  if (process.stdin.isTTY || process.stdin.destroyed) return;
  releaseStdin();
  const listening = acceptStdio(createServeContext(new Refusal(`Parley serves nothing: ${reason}`)));
  await Promise.race([listening.closed, untilSignal()]);
  listening.close();
}

class Refusal implements Target {
  readonly info = { name: 'mcp-parley', version: version() };
  readonly #reason: string;

  constructor(reason: string) {
    this.#reason = reason;
  }

  capabilities(): never {
    throw new ProtocolError(INTERNAL_ERROR, this.#reason);
  }

  handle(): never {
    throw new ProtocolError(INTERNAL_ERROR, this.#reason);
  }

  watch(): () => void {
    return () => {};
  }
}
