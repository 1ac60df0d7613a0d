// The words that start the same `parley wrap` again, for the entry of a client. Moves secrets into variables of that entry.
import { isSecret } from '../../../shared/secrets/secret-shapes.ts';
import type { WrapCommand } from '../../args/command.ts';
import { DEFAULT_START_SECONDS } from '../../args/command-specs.ts';
import { HIDDEN } from '../../serving/welcome-lines.ts';
import type { ProgramStart } from '../../serving/welcome-lines.ts';

export function toWrapCommand({
  server,
  typedHeaders,
  revision,
  startMs,
  pins,
  isAsking,
  logCalls,
  log,
}: WrapCommand): ProgramStart {
  const env: Record<string, string> = {};
  const headers = typedHeaders.flatMap(([name, text]) => ['--header', `${name}: ${withVariables(name, text, env)}`]);
  if ('command' in server) {
    for (const [name, value] of Object.entries(server.env ?? {})) env[name] = isSecret(name, value) ? HIDDEN : value;
  }
  const options = [
    ...headers,
    ...(revision === undefined ? [] : ['--revision', revision]),
    ...(startMs === DEFAULT_START_SECONDS * 1000 ? [] : ['--start-timeout', String(startMs / 1000)]),
    ...(pins === undefined ? [] : ['--pins', pins]),
    ...(isAsking ? [] : ['--no-ask']),
    ...(logCalls ? ['--log-calls'] : []),
    ...(log === undefined ? [] : ['--log', log]),
  ];
  const rest = 'command' in server ? ['--', server.command, ...(server.args ?? [])] : [String(server.url)];
  return { words: ['wrap', ...options, ...rest], env };
}

/** Keeps typed variables; replaces a secret by a variable. */
function withVariables(header: string, text: string, env: Record<string, string>): string {
  const typed = [...text.matchAll(/\$\{([A-Za-z_]\w*)\}/g)].map(([, name]) => name!);
  for (const name of typed) env[name] = HIDDEN;
  if (typed.length > 0 || !isSecret(header, text)) return text;
  const name = header.toUpperCase().replaceAll(/[^A-Z0-9]+/g, '_');
  env[name] = HIDDEN;
  return `\${${name}}`;
}
