// The transports to which clients can upgrade a connection, each a row here.
import { webSocketUpgrade } from '../websocket/upgrade.ts';
import type { Upgrade } from './upgrade.ts';

export const UPGRADES: readonly Upgrade[] = [
  webSocketUpgrade, // one message per frame, in both directions
];

export function findUpgrade(key: 'path' | 'transport', value: string): Upgrade | undefined {
  return UPGRADES.find((one) => one[key] === value);
}
