// What can keep the process of a server from the rest of the machine, each a row here. Nothing is loaded for a command that asks for nothing.
import type { CommandAddress } from './address.ts';
import type { Confinement, ConfinementState } from './confinement.ts';
import type { ConfinementStatus } from './confinement-options.ts';
import type { ServerCommand } from './links/server-command.ts';
import { sandbox } from './sandbox/confinement.ts';

export const CONFINEMENTS: readonly Confinement[] = [
  sandbox, // of the machine, or a container
];

export function isConfined(command: ServerCommand): boolean {
  return CONFINEMENTS.some((one) => one.isWanted(command));
}

/** For a command that may be started later. */
export function noteConfinements(command: CommandAddress): void {
  for (const one of CONFINEMENTS) one.note(command);
}

/** For the status of a server. */
export async function describeConfinements(command: CommandAddress): Promise<ConfinementStatus> {
  const described = CONFINEMENTS.map(async (one) => [one.key, await one.describe(command)] as const);
  return Object.fromEntries(await Promise.all(described));
}

/** What a status says of them, by their keys. */
export function confinementsOf(status: ConfinementStatus): (readonly [key: string, state: ConfinementState])[] {
  const states = new Map<string, ConfinementState>(Object.entries(status));
  return CONFINEMENTS.flatMap(({ key }) => (states.has(key) ? [[key, states.get(key)!] as const] : []));
}
