// A registry with one package, for the real npm: it serves what the test has published last.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { once } from 'node:events';
import { removeFolder } from './remove-folder.ts';

export class NpmRegistry implements AsyncDisposable {
  readonly #name: string;
  readonly #folder = mkdtempSync(join(tmpdir(), 'parley-registry-'));
  readonly #versions: Record<string, { dist: { tarball: string; integrity: string } }> = {};
  readonly #server: Server;
  #latest = '';

  private constructor(name: string) {
    this.#name = name;
    this.#server = createServer((request, response) => {
      const path = decodeURIComponent(request.url!);
      const version = /([\d.]+)\.tgz$/.exec(path)?.[1];
      if (version !== undefined) return void response.end(readFileSync(this.#tarball(version)));
      if (path !== `/${name}`) return void response.writeHead(404).end('{}');
      const body = { name, 'dist-tags': { latest: this.#latest }, versions: this.#versions };
      response.setHeader('content-type', 'application/json').end(JSON.stringify(body));
    });
  }

  static async start(name: string): Promise<NpmRegistry> {
    const registry = new NpmRegistry(name);
    await once(registry.#server.listen(0, '127.0.0.1'), 'listening');
    return registry;
  }

  /** For the command that runs npm. */
  get env(): Record<string, string> {
    const cache = join(this.#folder, 'cache');
    return { npm_config_registry: this.#url, npm_config_cache: cache, npm_config_update_notifier: 'false' };
  }

  /** `program`: the file that runs. */
  publish(version: string, program: string): void {
    const folder = join(this.#folder, version);
    mkdirSync(folder);
    const own = { name: this.#name, version, bin: 'server.mjs' };
    writeFileSync(join(folder, 'package.json'), JSON.stringify(own));
    writeFileSync(join(folder, 'server.mjs'), `#!/usr/bin/env node\n${readFileSync(program, 'utf8')}`);
    const packed = spawnSync('npm', ['pack', '--pack-destination', this.#folder], { cwd: folder, encoding: 'utf8' });
    if (packed.status !== 0) throw new Error(packed.stderr);
    const integrity = `sha512-${createHash('sha512')
      .update(readFileSync(this.#tarball(version)))
      .digest('base64')}`;
    const tarball = `${this.#url}${this.#name}-${version}.tgz`;
    this.#versions[version] = { ...own, dist: { tarball, integrity } };
    this.#latest = version;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    removeFolder(this.#folder);
  }

  get #url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/`;
  }

  #tarball(version: string): string {
    return join(this.#folder, `${this.#name}-${version}.tgz`);
  }
}
