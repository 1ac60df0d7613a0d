// What a client on stdin says first, seen while the rest of the program is still being loaded: its server may start then. Not before: the
// client may be a gateway that this one would start once more, and without an environment (`env -i`, a container) only its words tell.
import { startedVia } from '../../shared/via.ts';

/** The key by which gateways name themselves (gateway/dialect/meta.ts). */
const FROM_GATEWAY = 'mcp-parley/via';

let stop = (): void => {};

/** Calls back once if an ordinary client speaks. What it says stays in stdin. */
export function onFirstMessage(start: () => void): void {
  const { stdin } = process;
  // A person at a terminal is not a gateway, and one that hands down the environment has told where it comes from.
  if (stdin.isTTY || startedVia().length > 0) return start();
  const look = (): void => {
    if (stdin.readableLength === 0) return; // stdin has ended, and the server will see that itself
    const words = stdin.read() as Buffer;
    stdin.unshift(words);
    releaseStdin();
    const line = words.toString('latin1');
    if (line.includes('\n') && !line.includes(FROM_GATEWAY)) start();
  };
  stop = () => void stdin.off('readable', look);
  stdin.on('readable', look);
}

/** From now on the server reads stdin. */
export function releaseStdin(): void {
  stop();
  stop = () => {};
}
