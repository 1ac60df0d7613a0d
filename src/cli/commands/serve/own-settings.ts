// The settings with which `parley serve` runs, for the console: what the file says as it was applied last, and what the command line says instead.
import type { ConfigChange } from '../../../config/apply/watch-config.ts';
import { partsOf } from '../../../config/read/load-several.ts';
import type { ParleyConfig } from '../../../config/config.ts';
import type { LoadedConfig } from '../../../config/read/load-config.ts';
import type { ShownSettings } from '../../../kernel/config/shown-setting.ts';
import { userFolder } from '../../../kernel/secrets/own-folders.ts';
import { displayPath, readEnvironment } from '../../environment.ts';
import type { ServePlan } from './serving.ts';

type Typed = Map<string, { option: string; value: unknown }>;

export class OwnSettings {
  readonly #plan: ServePlan;
  #loaded: LoadedConfig;
  #config: ParleyConfig;
  readonly #pending = new Set<string>();

  constructor(plan: ServePlan) {
    this.#plan = plan;
    this.#loaded = plan.found;
    this.#config = plan.found.config;
  }

  /** The file has changed. */
  applied({ next, loaded, difference }: ConfigChange): void {
    this.#loaded = loaded;
    this.#config = next;
    for (const key of difference.restart) this.#pending.add(key);
  }

  async shown(): Promise<ShownSettings> {
    const { showSettings } = await import('../../../config/show-settings.ts');
    const { found } = this.#plan;
    const settings = showSettings({
      config: this.#config,
      loaded: this.#loaded,
      ownRules: found.ownRules.ownRules?.length ?? 0,
      parts: partsOf(this.#loaded).map(({ read, path }) => ({ read, file: displayPath(path) })),
      ownFile: displayPath(userFolder(readEnvironment())),
      typed: this.#typed,
    });
    const file = partsOf(this.#loaded).map(({ path }) => displayPath(path));
    return { file: file.join(', '), settings, pending: [...this.#pending] };
  }

  /** By the key that each option stands for. */
  get #typed(): Typed {
    const { port, host, open, stdio, log, share } = this.#plan.command;
    const options: [key: string, option: string, value: unknown][] = [
      ['listen.port', '--port', port],
      ['listen.host', '--host', host],
      ['listen.open', '--open', open || undefined],
      ['listen.stdio', '--stdio', stdio || undefined],
      ['log.level', '--log', log],
    ];
    const ofServers = Object.entries(this.#config.servers).filter(([, server]) => server.share === share);
    for (const [name] of ofServers) options.push([`servers.${name}.share`, '--share', share]);
    const given = options.filter(([, , value]) => value !== undefined);
    return new Map(given.map(([key, option, value]) => [key, { option, value }]));
  }
}
