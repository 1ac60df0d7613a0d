// What to say where the engine of the authorization server in front cannot be loaded: the command that installs it where this package finds it.
import { existsSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { GatewayError } from '../../../../kernel/base/errors.ts';
import { PACKAGE_FOLDER } from '../../../../kernel/version.ts';

const NODE = 22;

export function engineMissing(cause: unknown, folder: string = fileURLToPath(PACKAGE_FOLDER)): GatewayError {
  const { node } = process.versions;
  const needsNode = Number.parseInt(node, 10) < NODE ? `Node ${NODE} or later (this is ${node}) and ` : '';
  const reason = `it needs ${needsNode}the package oidc-provider. Install it: ${installCommand(folder)}`;
  return new GatewayError('BAD_OPTION', { option: 'auth.front', reason }, { cause });
}

/** To paste. A package in a project, or in a checkout, is installed there; one for the whole machine beside it. */
function installCommand(folder: string): string {
  const own = folder.replace(/[\\/]$/, '');
  const parent = dirname(own);
  const project = basename(parent) === 'node_modules' ? dirname(parent) : own;
  if (!existsSync(join(project, 'package.json'))) return 'npm install -g oidc-provider';
  return `npm install --prefix ${JSON.stringify(project)} oidc-provider`;
}
