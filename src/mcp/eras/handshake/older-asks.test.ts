import { describe, expect, it } from 'vitest';
import { featuresOf } from './features.ts';
import { toOlderAsk } from './older-asks.ts';

const [november, june, march] = ['2025-11-25', '2025-06-18', '2025-03-26'].map(featuresOf) as [
  ReturnType<typeof featuresOf>,
  ReturnType<typeof featuresOf>,
  ReturnType<typeof featuresOf>,
];
const form = (properties: object, more: object = {}) => ({
  method: 'elicitation/create',
  params: { mode: 'form', message: 'm', requestedSchema: { type: 'object', properties, ...more } },
});

describe('a form', () => {
  it('passes unchanged to the newest revision', () => {
    const ask = form({ a: { type: 'array', items: { enum: ['x'] } } });
    expect(toOlderAsk(ask, november)).toEqual(ask);
  });

  it('loses its mode, option titles and most defaults for an older revision', () => {
    const ask = form(
      {
        size: { type: 'string', title: 'Size', oneOf: [{ const: 's', title: 'Small' }, { const: 'l' }], default: 's' },
        old: { type: 'string', enum: ['a'], enumNames: ['A'] },
        sure: { type: 'boolean', default: true },
        count: { type: 'integer', default: 3 },
      },
      { $schema: 'https://json-schema.org/draft/2020-12/schema', required: ['size'] },
    );
    expect(toOlderAsk(ask, june)).toEqual({
      method: 'elicitation/create',
      params: {
        message: 'm',
        requestedSchema: {
          type: 'object',
          properties: {
            size: { type: 'string', title: 'Size', enum: ['s', 'l'], enumNames: ['Small', 'l'] },
            old: { type: 'string', enum: ['a'], enumNames: ['A'] },
            sure: { type: 'boolean', default: true },
            count: { type: 'integer' },
          },
          required: ['size'],
        },
      },
    });
  });

  it('splits a multiple choice into single questions, and joins the answers', () => {
    const items = {
      anyOf: [
        { const: 'r', title: 'Red' },
        { const: 'g', title: 'Green' },
      ],
    };
    const ask = form(
      { colours: { type: 'array', items }, plain: { type: 'array', items: { type: 'string', enum: ['x'] } }, name: {} },
      { required: ['colours', 'name'] },
    );
    const { params, fromAnswer } = toOlderAsk(ask, june);
    expect(params?.requestedSchema).toEqual({
      type: 'object',
      properties: {
        'colours: r': { type: 'boolean', title: 'Red', default: false },
        'colours: g': { type: 'boolean', title: 'Green', default: false },
        'plain: x': { type: 'boolean', title: 'x', default: false },
        name: {},
      },
      required: ['name'],
    });
    const content = { 'colours: r': true, 'colours: g': false, name: 'Ann' };
    expect(fromAnswer!({ action: 'accept', content })).toEqual({
      action: 'accept',
      content: { colours: ['r'], plain: [], name: 'Ann' },
    });
    expect(fromAnswer!({ action: 'decline' })).toEqual({ action: 'decline' });
  });
});

describe('a link', () => {
  it('has an id, whether the server or a step asked it', () => {
    const ask = (elicitationId?: string) => ({
      method: 'elicitation/create',
      params: { mode: 'url', url: 'https://example.com', message: 'm', ...(elicitationId && { elicitationId }) },
    });
    expect(toOlderAsk(ask('mine'), november).params?.elicitationId).toBe('mine');
    expect(toOlderAsk(ask(), november).params?.elicitationId).toMatch(/./);
  });
});

describe('a sampling request', () => {
  const block = (text: string) => ({ type: 'text', text });
  const ask = {
    method: 'sampling/createMessage',
    params: {
      messages: [
        { role: 'user', content: [block('a'), block('b')] },
        { role: 'assistant', content: block('c') },
      ],
      maxTokens: 5,
      tools: [],
      toolChoice: { mode: 'none' },
    },
  };

  it('has one block per message and no tools for older clients', () => {
    expect(toOlderAsk(ask, march).params).toEqual({
      messages: [
        { role: 'user', content: block('a') },
        { role: 'user', content: block('b') },
        { role: 'assistant', content: block('c') },
      ],
      maxTokens: 5,
    });
    expect(toOlderAsk(ask, november)).toEqual(ask);
  });

  it('describes unknown blocks as text for older clients', () => {
    const messages = [
      {
        role: 'assistant',
        content: [block('I look.'), { type: 'tool_use', id: 't1', name: 'look', input: { at: 'x' } }],
      },
      { role: 'user', content: { type: 'tool_result', toolUseId: 't1', content: [block('seen')], isError: true } },
      { role: 'user', content: { type: 'audio', data: 'c25k', mimeType: 'audio/wav' } },
      { role: 'user', content: { type: 'image', data: 'aW1n', mimeType: 'image/png' } },
      { role: 'user', content: [] },
    ];
    const said = (features: typeof march) =>
      (
        toOlderAsk({ ...ask, params: { messages } }, features).params!.messages as { role: string; content: object }[]
      ).map(
        ({ role, content }) =>
          `${role}: ${'text' in content ? String(content.text) : (content as { type: string }).type}`,
      );
    const words = [
      'assistant: I look.',
      'assistant: [called the tool look with {"at":"x"}]',
      'user: [the tool failed with [{"type":"text","text":"seen"}]]',
    ];
    expect(said(march)).toEqual([...words, 'user: audio', 'user: image']);
    expect(said(june)).toEqual([...words, 'user: audio', 'user: image']);
    const oldest = featuresOf('2024-11-05');
    expect(said(oldest)).toEqual([...words, 'user: [sound, audio/wav, which cannot be sent here]', 'user: image']);
  });

  it('keeps all other params', () => {
    const more = {
      systemPrompt: 's',
      includeContext: 'thisServer',
      temperature: 0,
      stopSequences: ['x'],
      metadata: {},
    };
    expect(toOlderAsk({ ...ask, params: { messages: [], maxTokens: 1, ...more } }, march).params).toEqual({
      messages: [],
      maxTokens: 1,
      ...more,
    });
  });

  it('without messages passes unchanged, like other questions', () => {
    expect(toOlderAsk({ method: 'sampling/createMessage', params: { odd: 1 } }, june).params).toEqual({ odd: 1 });
    expect(toOlderAsk({ method: 'roots/list' }, june)).toEqual({ method: 'roots/list' });
  });
});
