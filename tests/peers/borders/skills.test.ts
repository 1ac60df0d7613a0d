// Two servers with skills (SEP-2640), made with the official extension of the SDK, as one: listed, got, read and verified by its client. And other
// extensions, which nobody joins.
import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { SkillsClient } from '@modelcontextprotocol/client/ext/skills';
import { z } from 'zod';
import { afterEach, describe, expect, test } from 'vitest';
import { createGateway, createLog } from '../../../src/_entries/index.ts';
import { filter } from '../../../src/_entries/middleware.ts';
import type { GatewayOptions } from '../../../src/_entries/index.ts';
import { ROOT } from '../../helpers/files.ts';

const PROGRAM = join(ROOT, 'tests', 'peers', 'borders', 'servers', 'skills-v2.mjs');
const log = createLog({ level: 'silent' });
const open: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).toReversed()) await close();
});

function serverOf(name: string, env: Record<string, string> = {}) {
  return { command: process.execPath, args: [PROGRAM], env: { NAME: name, ...env } };
}

/** The result as it came. */
const ANY = z.looseObject({});
const TWO = { alpha: serverOf('alpha'), beta: serverOf('beta') };

async function serving(options: Partial<GatewayOptions> = {}): Promise<string> {
  const gateway = createGateway({ servers: TWO, log, ask: { channels: [] }, startMs: 60_000, ...options });
  open.push(() => gateway.close());
  return (await gateway.listen({ port: 0 })).url;
}

async function connected(url: string, revision: string): Promise<Client> {
  const mode = revision === '2026-07-28' ? { versionNegotiation: { mode: 'auto' as const } } : {};
  const client = new Client({ name: 'v2', version: '1' }, mode);
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  open.push(() => client.close());
  return client;
}

describe.each(['2025-11-25', '2026-07-28'])('a client of %s', (revision) => {
  test('lists the skills of both servers, though they have the same URIs', async () => {
    const skills = new SkillsClient(await connected(await serving(), revision));
    expect(skills.supported).toBe(true);
    const { skills: entries } = await skills.list();
    expect(entries.map(({ uri }) => uri)).toEqual([
      'skill://alpha/only-alpha/SKILL.md',
      'skill://alpha/pdf/SKILL.md',
      'skill://beta/only-beta/SKILL.md',
      'skill://beta/pdf/SKILL.md',
    ]);
  });

  test('gets, reads and verifies every file of each of them', async () => {
    const skills = new SkillsClient(await connected(await serving(), revision));
    for (const { uri } of (await skills.list()).skills) {
      const [, server] = /^skill:\/\/(\w+)\//.exec(uri)!;
      const { skill } = await skills.get(uri);
      expect(skill.uri).toBe(uri);
      const manifest = await skills.read(skill);
      expect(manifest).toMatchObject({ verified: true, body: expect.stringContaining(`of ${server}`) });
      if (!uri.includes('/pdf/')) continue;
      const forms = await skills.read(skill, 'references/FORMS.md');
      expect(forms).toMatchObject({ verified: true, text: `The forms of ${server}\n` });
    }
  });

  test('reads their folders', async () => {
    const skills = new SkillsClient(await connected(await serving(), revision));
    expect(skills.directoryRead).toBe(true);
    const { resources } = await skills.readDirectory('skill://beta/pdf');
    expect(resources.map(({ uri }) => uri).toSorted()).toEqual([
      'skill://beta/pdf/SKILL.md',
      expect.stringMatching(/^skill:\/\/beta\/pdf\/references\/?$/),
    ]);
  });

  test('finds a skill by the URI that its server gave it, if only one has it', async () => {
    const client = await connected(await serving(), revision);
    const { contents } = await client.readResource({ uri: 'skill://only-beta/SKILL.md' });
    expect(contents).toMatchObject([{ uri: 'skill://beta/only-beta/SKILL.md' }]);
  });

  test('sees no skill that is denied', async () => {
    const url = await serving({ steps: [filter({ resources: { deny: ['skill://pdf/*'] } })] });
    const skills = new SkillsClient(await connected(url, revision));
    expect((await skills.list()).skills.map(({ uri }) => uri)).toEqual([
      'skill://alpha/only-alpha/SKILL.md',
      'skill://beta/only-beta/SKILL.md',
    ]);
    await expect(skills.get('skill://beta/pdf/SKILL.md')).rejects.toThrow();
  });

  test('of one server sees its own URIs', async () => {
    const skills = new SkillsClient(await connected(`${await serving()}/beta`, revision));
    const { skills: entries } = await skills.list();
    expect(entries.map(({ uri }) => uri)).toEqual(['skill://only-beta/SKILL.md', 'skill://pdf/SKILL.md']);
    expect(await skills.read(entries[1])).toMatchObject({ verified: true });
  });

  test('is not told of an extension that several servers have and nobody joins', async () => {
    const EVENTS = { EXTENSIONS: 'com.example/events', SKILLS: 'no' };
    const servers = { alpha: serverOf('alpha', EVENTS), beta: serverOf('beta', EVENTS) };
    const url = await serving({ servers });
    const client = await connected(url, revision);
    expect(client.getServerCapabilities()?.extensions ?? {}).not.toHaveProperty(['com.example/events']);
    const asked = client.request({ method: 'events/list', params: {} }, ANY);
    await expect(asked).rejects.toMatchObject({ code: -32601, data: expect.stringContaining('/mcp/beta') });
    const own = await connected(`${url}/beta`, revision);
    expect(own.getServerCapabilities()?.extensions).toHaveProperty(['com.example/events']);
    expect(await own.request({ method: 'events/list', params: {} }, ANY)).toMatchObject({ events: ['beta'] });
  });

  test('may use an extension that one of several servers has', async () => {
    const servers = {
      alpha: serverOf('alpha', { SKILLS: 'no' }),
      beta: serverOf('beta', { EXTENSIONS: 'com.example/events' }),
    };
    const client = await connected(await serving({ servers }), revision);
    expect(client.getServerCapabilities()?.extensions).toHaveProperty(['com.example/events']);
    expect(client.getServerCapabilities()?.extensions).toHaveProperty(['io.modelcontextprotocol/skills']);
  });

  test('may be a page that calls a tool as its server names it, if no other server has the name', async () => {
    const client = await connected(await serving(), revision);
    expect(await client.callTool({ name: 'of_beta' })).toMatchObject({ content: [{ text: 'beta' }] });
    await expect(client.callTool({ name: 'of_all' })).rejects.toThrow('of_all');
  });

  test('cannot use a name of that kind to get around a rule', async () => {
    const client = await connected(await serving({ steps: [filter({ deny: ['beta__*'] })] }), revision);
    await expect(client.callTool({ name: 'of_beta' })).rejects.toThrow('of_beta');
  });
});
