// The areas that a server offers to a client, as capabilities. Requests for other areas get METHOD_NOT_FOUND.
import type { ServerCapabilities } from '@modelcontextprotocol/client';
import type { ServerOptions } from './types.ts';

export type ServerArea = 'tools' | 'resources' | 'prompts' | 'logging' | 'completions' | 'tasks';

const FLAGS: Required<Pick<ServerCapabilities, ServerArea>> = {
  tools: { listChanged: true },
  resources: { subscribe: true, listChanged: true },
  prompts: { listChanged: true },
  logging: {},
  completions: {},
  tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } },
};

/** `used`: whether something is, or was, registered in the area for this client. */
export function toCapabilities(options: ServerOptions, used: (area: ServerArea) => boolean): ServerCapabilities {
  const capabilities: Record<string, unknown> = {};
  for (const area of Object.keys(FLAGS) as ServerArea[]) {
    if (used(area)) capabilities[area] = FLAGS[area];
    else if (isDeclared(options, area)) capabilities[area] = {};
  }
  return capabilities;
}

export function isDeclared({ declare = ['logging'] }: ServerOptions, area: ServerArea): boolean {
  return (declare as ServerArea[]).includes(area);
}
