// Runs an unprivileged nginx before one origin, on a free port and in a temporary folder.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { removeFolder } from '../../../helpers/remove-folder.ts';
import { freePort } from '../../../helpers/server-process.ts';
import { until } from '../../../helpers/until.ts';

export interface Nginx extends AsyncDisposable {
  /** Without a path. */
  readonly origin: string;
  /** How often nginx gave up on a silent answer. */
  timeouts(): number;
}

/** `location`: the directives of the one location, beside proxy_pass. */
export function startNginx(upstream: string, location: string[]): Promise<Nginx> {
  const lines = [`proxy_pass ${new URL(upstream).origin}`, ...location].map((line) => `${line};`);
  return startNginxWith((port) => `server { listen 127.0.0.1:${port}; location / { ${lines.join(' ')} } }`);
}

/** `http`: what stands in the block of that name. */
export async function startNginxWith(http: (port: number) => string): Promise<Nginx> {
  const folder = mkdtempSync(join(tmpdir(), 'parley-nginx-'));
  const port = await freePort();
  writeFileSync(join(folder, 'nginx.conf'), toConfig(folder, http(port)));
  const child = spawn('nginx', ['-e', 'stderr', '-p', folder, '-c', 'nginx.conf'], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => (said += chunk));
  await until('nginx to listen', () => {
    if (child.exitCode !== null) throw new Error(`nginx ended: ${said}`);
    return isListening(port);
  });
  return {
    origin: `http://127.0.0.1:${port}`,
    timeouts: () => said.split('upstream timed out').length - 1,
    async [Symbol.asyncDispose]() {
      const gone = once(child, 'exit');
      if (child.exitCode === null) {
        child.kill('SIGTERM');
        await gone;
      }
      removeFolder(folder);
    },
  };
}

function toConfig(folder: string, http: string): string {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  return `daemon off;
worker_processes 1;
pid ${folder}/nginx.pid;
events { worker_connections 64; }
http {
  access_log off;
  ${temporary.map((name) => `${name}_temp_path ${folder}/${name};`).join('\n  ')}
  ${http}
}
`;
}

function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => resolve(true));
    socket.on('error', () => resolve(false)).on('connect', () => socket.destroy());
  });
}
