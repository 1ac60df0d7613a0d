// The checks of what each server lists, made from the options of the gateway.
import type { RecordAudit } from '../../../kernel/audit.ts';
import type { Clock } from '../../../kernel/base/clock.ts';
import type { Log } from '../../../kernel/base/log.ts';
import { KnownNames } from './listed-names.ts';
import { DefinitionChecks } from './definition-checks.ts';
import type { Checkpoint } from '../feature.ts';
import { toPinPolicy } from '../pins/pin-policy.ts';
import type { PinOption } from '../pins/pin-policy.ts';
import type { Address, CommandAddress } from '../../../mcp/connect/address.ts';

interface CheckedServer {
  name: string;
  address: Address;
  isPerUser: boolean;
  /** All servers of the gateway, as they are now. */
  servers: () => readonly string[];
  log: Log;
  clock: Clock;
}

interface PinSettings {
  pins?: PinOption | undefined;
  stateFolder?: string | undefined;
  pairedAs?: string | undefined;
  name?: string | undefined;
  audit?: RecordAudit | undefined;
}

export class ServerChecks {
  readonly #settings: PinSettings;
  /** For servers that are opened from now on. */
  pins: PinOption | undefined;
  #byServer = new Map<string, DefinitionChecks>();
  readonly #names = new KnownNames();

  constructor(settings: PinSettings) {
    this.#settings = settings;
    this.pins = settings.pins;
  }

  /** New checks of a server; the former ones go on until the checkpoint is kept. `pins`: the setting of this server. */
  of({ name, address, isPerUser, clock, ...rest }: CheckedServer, pins: PinOption | undefined): DefinitionChecks {
    const { stateFolder, audit, name: own = 'mcp-parley', pairedAs: gateway = own } = this.#settings;
    const policy = toPinPolicy(pins ?? this.pins ?? (stateFolder === undefined ? 'off' : 'destructive'), isPerUser);
    const whose = { gateway, address: addressText(address), command: commandOf(address), isPerUser };
    const pinning = policy && { ...whose, policy, stateFolder, clock, audit };
    const checks = new DefinitionChecks({ server: name, ...rest, names: this.#names, pins: pinning });
    this.#byServer.set(name, checks);
    return checks;
  }

  checkpoint(): Checkpoint {
    const { pins } = this;
    const before = new Map(this.#byServer);
    return {
      undo: () => {
        closeReplaced(this.#byServer, before);
        this.pins = pins;
        this.#byServer = before;
      },
      keep: () => closeReplaced(before, this.#byServer),
    };
  }

  close(): void {
    for (const checks of this.#byServer.values()) checks.close();
  }
}

function closeReplaced(checks: ReadonlyMap<string, DefinitionChecks>, by: ReadonlyMap<string, DefinitionChecks>): void {
  for (const [name, one] of checks) if (by.get(name) !== one) one.close();
}

function commandOf(address: Address): CommandAddress | undefined {
  return typeof address === 'object' && 'command' in address ? address : undefined;
}

/** What decides which program answers. Variables and headers do not: they hold secrets that change. */
export function addressText(address: Address): string {
  if (typeof address === 'string' || address instanceof URL) return String(address);
  if ('command' in address) return JSON.stringify([address.command, ...(address.args ?? [])]);
  return 'url' in address ? String(address.url) : 'transport';
}
