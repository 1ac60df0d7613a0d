// The id by which gateways recognize each other (kernel/base/via.ts). The id of `serve` begins with a digest of its file, so that a gateway
// started by one that serves the same file, at any depth, can tell before it starts anything. The digest includes the content, as two
// machines may use the same path.
import { readFileSync } from 'node:fs';
import { randomId } from '../../kernel/crypto/ids.ts';
import { realPath } from '../../kernel/files/paths.ts';
import { DEFAULT_LIMITS } from '../../kernel/base/limits.ts';
import { smallDigest } from '../../kernel/base/short-name.ts';
import { startedVia } from '../../kernel/base/via.ts';

export function gatewayId(path?: string): string {
  return path === undefined ? randomId() : `${digest(path)}.${randomId()}`;
}

/** Why this gateway must not start: it would start itself again without end. Undefined if it may start. */
export function findStartLoop(path?: string): string | undefined {
  const via = startedVia();
  if (path !== undefined && via.some((id) => id.startsWith(`${digest(path)}.`))) {
    return `${path} is served by the gateway that started this one. Remove the entry that starts it from that file: a gateway cannot be one of its own servers.`;
  }
  if (via.length < DEFAULT_LIMITS.maxHops) return undefined;
  return `this is gateway number ${via.length + 1} in a row, each started by the one before. Remove the entry that starts them.`;
}

/** A collision helps nobody. */
function digest(path: string): string {
  return smallDigest(`${realPath(path)}\n${contentOf(path)}`);
}

function contentOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
