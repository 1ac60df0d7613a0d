import { describe, expect, it } from 'vitest';
import { createLog } from '../../../kernel/base/log.ts';
import { createPagePort } from './page-port.ts';

const log = createLog({ level: 'silent' });
const pages = { '/hello': (_: unknown, response: { end(text: string): unknown }) => void response.end('hello') };

describe('the page port', () => {
  it('opens once, on loopback', async () => {
    const port = createPagePort({ pages: () => pages, log });
    const urls = await Promise.all([port.url(), port.url()]);
    expect(urls[0]).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect(urls[1]).toBe(urls[0]);
    expect(await (await fetch(`${urls[0]}/hello?x=1`)).text()).toBe('hello');
    for (const path of ['/', '/hello/', '/toString', '/hello%3f'])
      expect([path, (await fetch(urls[0] + path)).status]).toEqual([path, 404]);
    await port.close();
    await expect(fetch(`${urls[0]}/hello`)).rejects.toThrow();
  });

  it('refuses pages of other sites', async () => {
    const port = createPagePort({ pages: () => pages, log });
    const response = await fetch(`${await port.url()}/hello`, { headers: { origin: 'https://evil.example' } });
    expect(response.status).toBe(403);
    await port.close();
  });

  it('that was never needed closes without opening', async () => {
    const port = createPagePort({ pages: () => pages, log });
    await port.close();
    await expect(port.url()).rejects.toThrow('Request cancelled');
  });

  it('answers for a page that throws, without the reason', async () => {
    const fails = () => {
      throw new Error('secret');
    };
    const port = createPagePort({ pages: () => ({ '/fails': fails }), log });
    const response = await fetch(`${await port.url()}/fails`);
    expect([response.status, await response.text()]).toEqual([500, expect.not.stringContaining('secret')]);
    await port.close();
  });
});
