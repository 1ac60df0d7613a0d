// Links that add Parley to a client.
import { describe, expect, it } from 'vitest';
import { createPrinter } from '../terminal/print.ts';
import { toCodeLink, toCursorLink } from './install-links.ts';
import { toClientLines, toWelcomeLines } from './welcome-lines.ts';
import type { WelcomeOptions } from './welcome-lines.ts';

const ENTRY = { name: 'my gateway+1', url: 'http://127.0.0.1:8470/mcp', token: 'a+b/c=?&' };
const headers = { Authorization: 'Bearer a+b/c=?&' };

function fromCursor(link: string): { name: string; config: unknown } {
  const { protocol, host, pathname, searchParams } = new URL(link);
  expect(`${protocol}//${host}${pathname}`).toBe('cursor://anysphere.cursor-deeplink/mcp/install');
  const config = Buffer.from(searchParams.get('config')!, 'base64').toString('utf8');
  return { name: searchParams.get('name')!, config: JSON.parse(config) };
}

function fromCode(link: string): unknown {
  const { protocol, pathname, search } = new URL(link);
  expect(`${protocol}${pathname}`).toBe('vscode:mcp/install');
  return JSON.parse(decodeURIComponent(search.slice(1)));
}

describe('links that add Parley to a client', () => {
  it('the link for Cursor has the name and the entry of its file, whatever characters are in them', () => {
    expect(fromCursor(toCursorLink(ENTRY))).toEqual({ name: ENTRY.name, config: { url: ENTRY.url, headers } });
    expect(fromCursor(toCursorLink({ ...ENTRY, token: undefined })).config).toEqual({ url: ENTRY.url });
  });

  it('the link for VS Code has the entry of its file with its name', () => {
    expect(fromCode(toCodeLink(ENTRY))).toEqual({ name: ENTRY.name, type: 'http', url: ENTRY.url, headers });
  });

  it('the lines of a gateway end with both links, but not if they would replace what is served, or clients need keys; the welcome has none', () => {
    const print = createPrinter({ out: { write: () => true }, err: { write: () => true } });
    const options: WelcomeOptions = {
      host: '127.0.0.1',
      port: 8470,
      token: 'secret',
      isChosen: true,
      print,
      title: 'x',
      name: 'parley',
      about: [],
      program: () => ({ words: ['serve'] }),
    };
    const [cursor, code] = toClientLines(options)
      .slice(-2)
      .map((line) => line.trim()) as [string, string];
    const entry = { url: 'http://127.0.0.1:8470/mcp', headers: { Authorization: 'Bearer secret' } };
    expect(fromCursor(cursor)).toEqual({ name: 'parley', config: entry });
    expect(fromCode(code)).toEqual({ name: 'parley', type: 'http', ...entry });
    for (const lines of [
      toClientLines({ ...options, served: 'mcp.json' }),
      toClientLines({ ...options, token: undefined, asksKey: true }),
      toWelcomeLines(options),
    ])
      expect(lines.join()).not.toMatch(/cursor:|vscode:/);
  });
});
