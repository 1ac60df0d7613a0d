// Watches stdin for the first message of a client while the program loads, so that servers can start early. They must not start before it:
// the client may be a gateway that would start this one again, and without an environment (`env -i`, a container) only its message says so.
import { startedVia } from '../../kernel/base/via.ts';

/** The `_meta` key by which gateways identify themselves (mcp/eras/meta.ts). */
const FROM_GATEWAY = 'mcp-parley/via';

let stop = (): void => {};

/** Calls `start` once, at the first message of an ordinary client. The message stays in stdin. */
export function onFirstMessage(start: () => void): void {
  const { stdin } = process;
  // A terminal user is not a gateway, and a gateway that passes its environment on is already known.
  if (stdin.isTTY || startedVia().length > 0) return start();
  const look = (): void => {
    if (stdin.readableLength === 0) return; // stdin has ended; the server will see that itself
    const words = stdin.read() as Buffer;
    stdin.unshift(words);
    releaseStdin();
    const line = words.toString('latin1');
    if (line.includes('\n') && !line.includes(FROM_GATEWAY)) start();
  };
  stop = () => void stdin.off('readable', look);
  stdin.on('readable', look);
}

/** Stops watching; the server reads stdin from now on. */
export function releaseStdin(): void {
  stop();
  stop = () => {};
}
