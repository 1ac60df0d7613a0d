// Whether the command of `parley wrap` can run at all.
import { GatewayError } from '../../../kernel/base/errors.ts';
import type { UpstreamTarget } from '../../../gateway/servers/upstream-target.ts';
import type { CommandAddress, UrlAddress } from '../../../mcp/connect/address.ts';
import { commandExists } from '../../../mcp/connect/links/find-on-path.ts';

export function isThere(server: CommandAddress | UrlAddress): boolean {
  return !('command' in server) || commandExists(server.command, process.cwd(), { ...process.env, ...server.env });
}

/** A command that cannot run now will not run later either. One that started and ended may still need something that is missing. */
export function isHopeless({ status }: UpstreamTarget, server: CommandAddress | UrlAddress): boolean {
  const { state, problem } = status;
  const isUnrunnable = problem instanceof GatewayError && problem.code === 'UPSTREAM_UNREACHABLE';
  return 'command' in server && state === 'failing' && isUnrunnable;
}
