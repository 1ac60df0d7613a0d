import { describe, expect, it } from 'vitest';
import { createLog } from '../../kernel/base/log.ts';
import { createGateway } from '../gateway.ts';
import { SERVER_FEATURE_KEYS } from './config.ts';

const log = createLog({ level: 'silent' });

/** Two values that the key may have. */
const VALUES: Record<keyof typeof SERVER_FEATURE_KEYS, readonly [unknown, unknown]> = {
  tools: [{ deny: ['a'] }, { deny: ['b'] }],
  account: ['user', 'shared'],
  trustAnnotations: [true, false],
  rate: [{ perServer: '1/s' }, { perServer: '2/s' }],
  pins: ['hold', 'flag'],
  placement: ['each', undefined],
};

describe('a setting of a server that belongs to a feature', () => {
  it.each(Object.entries(SERVER_FEATURE_KEYS))(
    'opens the server again when %s changes only if its configuration says so',
    async (name, { apply }) => {
      const [before, after] = VALUES[name as keyof typeof VALUES];
      const server = { url: 'http://127.0.0.1:9/mcp' };
      const identify = () => ({ principal: 'ada' });
      const gateway = createGateway({ servers: { one: { server, [name]: before } }, log, identify });
      const { target } = gateway.servers[0]!;
      gateway.update({ servers: { one: { server, [name]: after } } });
      expect(gateway.servers[0]!.target === target).toBe(apply === 'live');
      await gateway.close();
    },
  );
});
