// Shows what servers listed last while they are starting, so that a client that asks once gets a whole list.
import { join } from 'node:path';
import { sha256 } from '../../../kernel/crypto/lazy-crypto.ts';
import { addressText } from '../../../mcp/connect/address-text.ts';
import { defineFeature } from '../feature.ts';
import { ListFile } from './list-file.ts';

export const lastLists = defineFeature<object>({
  name: 'last lists',
  create({ stateFolder, name = 'mcp-parley', pairedAs: gateway = name }) {
    if (stateFolder === undefined) return undefined;
    const fileOf = (server: string): string =>
      join(stateFolder, 'lists', `${sha256(JSON.stringify([gateway, server]), 'hex').slice(0, 32)}.json`);
    let byServer = new Map<string, ListFile>();
    return {
      opening({ name: server, address, isPerUser, held, log }) {
        const hasPins = held !== undefined; // then a list is what they have let through
        const file = {
          isPerUser,
          log,
          // Found out with the first look: a hash loads `crypto`, which a gateway need not wait for when it starts.
          get path() {
            return fileOf(server);
          },
          get of() {
            return sha256(JSON.stringify([addressText(address), isPerUser, hasPins]), 'hex');
          },
        };
        byServer.set(server, new ListFile(file));
        return {};
      },
      member(member) {
        const known = byServer.get(member.name);
        return known && 'retire' in member.target ? { ...member, lastLists: known } : member;
      },
      checkpoint() {
        const before = new Map(byServer);
        return {
          undo: () => {
            byServer = before;
          },
        };
      },
    };
  },
});
