import { createServer } from 'node:http';
import type { RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { addressKind } from './address-kind.ts';
import { UnsafeUrlError, createGuardedFetch } from './guarded-fetch.ts';

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

async function serve(handle: RequestListener): Promise<{ port: number; seen: string[] }> {
  const seen: string[] = [];
  const server = createServer((request, response) => {
    seen.push(`${request.method} ${request.url}`);
    handle(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closing.push(() => server.close().closeAllConnections());
  return { port: (server.address() as AddressInfo).port, seen };
}

describe('kinds of addresses', () => {
  const kinds: [string, string | undefined][] = [
    ['8.8.8.8', 'public'],
    ['2606:4700::1111', 'public'],
    ['127.0.0.1', 'loopback'],
    ['127.255.255.254', 'loopback'],
    ['[::1]', 'loopback'],
    ['::ffff:127.0.0.1', 'loopback'],
    ['[::ffff:7f00:1]', 'loopback'],
    ['::127.0.0.1', 'loopback'],
    ['[::ffff:169.254.169.254]', 'link-local'],
    ['64:ff9b::a9fe:a9fe', 'link-local'],
    ['2002:a9fe:a9fe::1', 'link-local'],
    ['169.254.169.254', 'link-local'],
    ['fe80::1%eth0', 'link-local'],
    ['10.0.0.1', 'private'],
    ['100.64.0.1', 'private'],
    ['fd00::1', 'private'],
    ['::ffff:0:192.168.0.1', 'private'],
    ['0.0.0.0', 'special'],
    ['::', 'special'],
    ['255.255.255.255', 'special'],
    ['2001:db8::1', 'special'],
    ['2001:0:1::1', 'special'],
    ['example.com', undefined],
  ];
  it.each(kinds)('takes %s for %s', (address, kind) => {
    expect(addressKind(address)).toBe(kind);
  });
});

describe('the guarded fetch', () => {
  const fromOutside = createGuardedFetch();

  it.each([
    'http://example.com/',
    'https://127.0.0.1/',
    'https://0x7f.1/',
    'https://2130706433/',
    'https://0177.0.0.1/',
    'https://[::ffff:169.254.169.254]/',
    'https://[::ffff:7f00:1]/',
    'https://169.254.169.254/latest/meta-data',
    'https://10.0.0.1/',
    'https://[fd00::1]/',
    'https://localhost/',
    'https://user:secret@example.com/',
    'file:///etc/passwd',
    'data:text/plain,x',
  ])('does not fetch %s', async (url) => {
    await expect(fromOutside(url)).rejects.toThrow(UnsafeUrlError);
  });

  it('refuses a name with one private address among public ones', async () => {
    const resolve = async () => [
      { address: '93.184.216.34', family: 4 },
      { address: '169.254.169.254', family: 4 },
    ];
    await expect(createGuardedFetch({ resolve })('https://rebind.example/')).rejects.toThrow('link-local');
  });

  it('refuses a name of another domain that resolves to this machine, even where this machine is allowed', async () => {
    const { port, seen } = await serve((_, response) => response.end());
    const resolve = async () => [{ address: '127.0.0.1', family: 4 }];
    const fetch = createGuardedFetch({ loopback: true, resolve });
    await expect(fetch(`https://rebind.example:${port}/`)).rejects.toThrow(UnsafeUrlError);
    expect(seen).toEqual([]);
  });

  it('dials the address that it checked, though the DNS would answer otherwise a second time', async () => {
    const { port } = await serve((_, response) => response.end('ok'));
    const answers = ['127.0.0.1', '169.254.169.254'];
    let asked = 0;
    const resolve = async () => [{ address: answers[asked++]!, family: 4 }];
    const fetch = createGuardedFetch({ loopback: true, resolve });
    const response = await fetch(`http://flip.localhost:${port}/`);
    expect(await response.text()).toBe('ok');
    expect(asked).toBe(1);
    await expect(fetch(`http://flip.localhost:${port}/`)).rejects.toThrow('link-local');
  });

  it('follows a redirect of a GET only where it may go', async () => {
    const { port } = await serve((request, response) => {
      if (request.url === '/here') response.end('here');
      else response.writeHead(302, { location: request.url === '/a' ? '/here' : 'http://169.254.169.254/' }).end();
    });
    const fetch = createGuardedFetch({ loopback: true });
    const response = await fetch(`http://127.0.0.1:${port}/a`);
    expect(await response.text()).toBe('here');
    await expect(fetch(`http://127.0.0.1:${port}/b`)).rejects.toThrow(UnsafeUrlError);
  });

  it('ends a circle of redirects', async () => {
    const { port, seen } = await serve((_, response) => response.writeHead(302, { location: '/' }).end());
    await expect(createGuardedFetch({ loopback: true })(`http://127.0.0.1:${port}/`)).rejects.toThrow('redirects');
    expect(seen).toHaveLength(4);
  });

  it.each([301, 302, 303, 307, 308])('sends a POST nowhere else, whatever redirect it gets (%i)', async (status) => {
    const { port, seen } = await serve((_, response) => response.writeHead(status, { location: '/other' }).end());
    const fetch = createGuardedFetch({ loopback: true });
    const posted = fetch(`http://127.0.0.1:${port}/token`, { method: 'POST', body: 'client_secret=x' });
    await expect(posted).rejects.toThrow('carries secrets');
    expect(seen).toEqual(['POST /token']);
  });

  it('reads no more than its limit', async () => {
    const { port } = await serve((_, response) => response.end('x'.repeat(2000)));
    const fetch = createGuardedFetch({ loopback: true, maxBytes: 1000 });
    await expect(fetch(`http://127.0.0.1:${port}/`)).rejects.toThrow('larger than 1000 bytes');
  });

  it('gives up on a server that does not answer, and names only its origin', async () => {
    const { port } = await serve(() => {});
    const fetch = createGuardedFetch({ loopback: true, timeoutMs: 50 });
    await expect(fetch(`http://127.0.0.1:${port}/?secret=1`)).rejects.toThrow(
      new Error(`http://127.0.0.1:${port} did not answer in time`),
    );
  });
});
