// Where an endpoint is mounted in the paths of its server.
import { GatewayError } from '../../../kernel/base/errors.ts';
import type { HttpRequest } from '../../../kernel/base/http.ts';

/** Where the endpoint is mounted. Inside, paths are always those of an endpoint at /mcp. */
export interface Mount {
  readonly path: string;
  /** The path of a request as it would be at /mcp; a path outside this endpoint becomes one that nothing answers. */
  readonly localPathOf: (request: Pick<HttpRequest, 'url'>) => string;
}

const DEFAULT: Mount = { path: '/mcp', localPathOf: pathOf };

export function readMount(path: string | undefined): Mount {
  if (path === undefined || path === DEFAULT.path) return DEFAULT;
  if (!/^(\/[^/?#\s]+)+$/.test(path)) {
    throw new GatewayError('BAD_OPTION', {
      option: 'path',
      reason: `write it like /api/mcp, not ${JSON.stringify(path)}`,
    });
  }
  const folder = path.slice(0, path.lastIndexOf('/'));
  return {
    path,
    localPathOf(request) {
      const called = pathOf(request);
      if (called === path || called.startsWith(`${path}/`)) return `${DEFAULT.path}${called.slice(path.length)}`;
      const beside = called.startsWith(`${folder}/`) ? called.slice(folder.length) : '';
      return beside === DEFAULT.path || beside.startsWith(`${DEFAULT.path}/`) ? '' : beside;
    },
  };
}

export function pathOf(request: Pick<HttpRequest, 'url'>): string {
  const url = request.url!;
  const query = url.indexOf('?');
  return query === -1 ? url : url.slice(0, query);
}
