import { describe, expect, test } from 'vitest';
import { AskResponder } from './ask-responder.ts';
import type { ConnectOptions } from './types.ts';

const { signal } = new AbortController();
const server = { name: 'srv', version: '1' };
const make = (options: ConnectOptions) => new AskResponder(options, async () => server);

const elicitation = {
  method: 'elicitation/create',
  params: { mode: 'form', message: 'Hi', requestedSchema: { type: 'object' } },
};
const sampling = {
  method: 'sampling/createMessage',
  params: { messages: [], maxTokens: 5, modelPreferences: { hints: [] } },
};

describe('without a handler', () => {
  test('nothing is declared, and a server that asks all the same is refused', async () => {
    const answers = make({});
    expect(answers.capabilities).toEqual({});
    for (const ask of [elicitation, sampling, { method: 'roots/list' }, { method: 'interaction.start' }]) {
      await expect(answers.answer(ask, signal)).rejects.toMatchObject({ code: 'CLIENT_CANNOT_BE_ASKED' });
    }
  });
});

describe('with a handler', () => {
  test('what it can do is declared, in addition to what else was said', () => {
    const onElicit = () => ({ action: 'cancel' as const });
    const onSample = () => ({ role: 'assistant' as const, model: 'm', content: { type: 'text' as const, text: '' } });
    expect(make({ onElicit, onSample, roots: [] }).capabilities).toEqual({
      elicitation: { form: {} },
      sampling: {},
      roots: { listChanged: true },
    });
    const more = make({
      onElicit,
      elicitUrls: true,
      onSample,
      sampleTools: true,
      capabilities: { experimental: { x: {} } },
    });
    expect(more.capabilities).toEqual({
      elicitation: { form: {}, url: {} },
      sampling: { tools: {} },
      experimental: { x: {} },
    });
  });

  test.each(['accept', 'decline', 'cancel'] as const)('it may %s, and is told who asks', async (action) => {
    const seen: unknown[] = [];
    const answers = make({
      onElicit(request, context) {
        seen.push(request, context.server, context.signal);
        return { action };
      },
    });
    expect(await answers.answer(elicitation, signal)).toMatchObject({ action });
    expect(seen).toEqual([elicitation.params, server, signal]);
  });

  test('sampling gets every field that the server sent', async () => {
    const seen: unknown[] = [];
    const result = { role: 'assistant' as const, model: 'm', content: { type: 'text' as const, text: 'x' } };
    const answers = make({
      onSample(request) {
        seen.push(request);
        return result;
      },
    });
    expect(await answers.answer(sampling, signal)).toEqual(result);
    expect(seen).toEqual([sampling.params]);
  });

  test('what it did not declare is refused with the code of the specification', async () => {
    let called = 0;
    const answers = make({
      onElicit() {
        called++;
        return { action: 'accept' };
      },
      onSample() {
        called++;
        return { role: 'assistant', model: 'm', content: { type: 'text', text: '' } };
      },
    });
    const url = {
      method: 'elicitation/create',
      params: { mode: 'url', message: 'x', url: 'https://x', elicitationId: 'e' },
    };
    const tools = { method: 'sampling/createMessage', params: { ...sampling.params, tools: [] } };
    for (const ask of [url, tools]) await expect(answers.answer(ask, signal)).rejects.toMatchObject({ code: -32602 });
    expect(called).toBe(0);
  });
});

describe('the approver', () => {
  test('the approver that says no keeps every handler from being called', async () => {
    const kinds: string[] = [];
    const never = () => {
      throw new Error('was called');
    };
    const answers = make({
      onElicit: never,
      onSample: never,
      roots: [],
      approve(kind) {
        kinds.push(kind);
        return false;
      },
    });
    for (const ask of [elicitation, sampling, { method: 'roots/list' }]) {
      await expect(answers.answer(ask, signal)).rejects.toMatchObject({ code: 'NOT_APPROVED' });
    }
    expect(kinds).toEqual(['elicitation', 'sampling', 'roots']);
  });

  test('the approver that fails has not approved', async () => {
    const answers = make({
      onElicit: () => ({ action: 'accept' }),
      approve() {
        throw new Error('terminal closed');
      },
    });
    await expect(answers.answer(elicitation, signal)).rejects.toThrow('terminal closed');
  });

  test('the approver is shown what is asked', async () => {
    const seen: unknown[] = [];
    const answers = make({
      onElicit: () => ({ action: 'accept' }),
      async approve(kind, details) {
        seen.push(kind, details);
        return true;
      },
    });
    await answers.answer(elicitation, signal);
    expect(seen).toEqual(['elicitation', { kind: 'elicitation', request: elicitation.params }]);
  });
});

describe('roots', () => {
  test.each(['https://example.com', '/srv/me', 'file:/x', ''])('%j is refused when it is configured', (uri) => {
    expect(() => make({ roots: [{ uri }] })).toThrow('file://');
    const answers = make({ roots: [] });
    expect(() => answers.setRoots([{ uri: 'file:///ok' }, { uri }])).toThrow('file://');
  });

  test('roots are those that were set last', async () => {
    const answers = make({ roots: [{ uri: 'file:///a' }] });
    answers.setRoots([{ uri: 'file:///b', name: 'B' }]);
    expect(await answers.answer({ method: 'roots/list' }, signal)).toEqual({
      roots: [{ uri: 'file:///b', name: 'B' }],
    });
  });

  test('roots cannot be set when the server was never told of them', () => {
    expect(() => make({}).setRoots([])).toThrow('connect with `roots`');
  });
});
