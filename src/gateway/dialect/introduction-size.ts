// Limits what a client may say about itself: it is kept for each client, and servers with other declarations have processes of their
// own. Real clients say a few hundred bytes.
import { roughBytes } from '../../protocol/raw/rough-bytes.ts';
import { GatewayError } from '../../shared/errors.ts';

const MAX_BYTES = 64 * 1024;

export function checkIntroductionSize(said: unknown, parameter: string): void {
  if (roughBytes(said, MAX_BYTES) <= MAX_BYTES) return;
  throw new GatewayError('INVALID_PARAMS', { parameter, error: `Must be at most ${MAX_BYTES} bytes` });
}
