// Translates the paths of a mounted endpoint. Inside, paths are always those of an endpoint at /mcp.
import { GatewayError } from '../../../shared/errors.ts';

export interface Mount {
  readonly path: string;
  /** The path as it would be at /mcp; a path outside this endpoint becomes one that nothing answers. */
  readonly toLocal: (path: string) => string;
}

const DEFAULT: Mount = { path: '/mcp', toLocal: (path) => path };

export function readMount(path: string | undefined): Mount {
  if (path === undefined || path === DEFAULT.path) return DEFAULT;
  if (!/^(\/[^/?#\s]+)+$/.test(path)) {
    throw new GatewayError('BAD_OPTION', {
      option: 'path',
      reason: `write it like /api/mcp, not ${JSON.stringify(path)}`,
    });
  }
  const folder = path.slice(0, path.lastIndexOf('/'));
  return { path, toLocal: (called) => toLocal(called, path, folder) };
}

function toLocal(called: string, path: string, folder: string): string {
  if (called === path || called.startsWith(`${path}/`)) return `${DEFAULT.path}${called.slice(path.length)}`;
  const beside = called.startsWith(`${folder}/`) ? called.slice(folder.length) : '';
  return beside === DEFAULT.path || beside.startsWith(`${DEFAULT.path}/`) ? '' : beside;
}
