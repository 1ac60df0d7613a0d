// Tools that ask with a request of their own, as servers of the handshake era do; on 2026-07-28 the SDK has no such request, and
// those of them that the suite calls there ask by a result.
import { inputRequired } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { text, textOf } from '../../conformance/fixture/samples.mjs';

const DEFAULTS = {
  name: { type: 'string', description: 'User name', default: 'John Doe' },
  age: { type: 'integer', description: 'User age', default: 30 },
  score: { type: 'number', description: 'User score', default: 95.5 },
  status: { type: 'string', description: 'User status', enum: ['active', 'inactive', 'pending'], default: 'active' },
  verified: { type: 'boolean', description: 'Verification status', default: true },
};
const titled = (noun) =>
  ['First', 'Second', 'Third'].map((word, index) => ({ const: `value${index + 1}`, title: `${word} ${noun}` }));
const ENUMS = {
  untitledSingle: { type: 'string', enum: ['option1', 'option2', 'option3'] },
  titledSingle: { type: 'string', oneOf: titled('Option') },
  legacyEnum: {
    type: 'string',
    enum: ['opt1', 'opt2', 'opt3'],
    enumNames: ['Option One', 'Option Two', 'Option Three'],
  },
  untitledMulti: { type: 'array', items: { type: 'string', enum: ['option1', 'option2', 'option3'] } },
  titledMulti: { type: 'array', items: { anyOf: titled('Choice') } },
};
const CREDENTIALS = {
  username: { type: 'string', description: "User's response" },
  email: { type: 'string', description: "User's email address" },
};

export function addAskingTools(server) {
  const sample = { description: 'Asks the model of the client', inputSchema: z.object({ prompt: z.string() }) };
  server.registerTool('test_sampling', sample, async ({ prompt }, { mcpReq }) => {
    const answer = await mcpReq.requestSampling(sampling(prompt, 100));
    return { content: [text(`LLM response: ${textOf(answer)}`)] };
  });
  const elicit = { description: 'Asks the user for two texts', inputSchema: z.object({ message: z.string() }) };
  server.registerTool('test_elicitation', elicit, async ({ message }, { mcpReq }) => {
    const requestedSchema = { type: 'object', properties: CREDENTIALS, required: ['username', 'email'] };
    return told('User response', await mcpReq.elicitInput({ message, requestedSchema }));
  });
  form(server, 'test_elicitation_sep1034_defaults', { message: 'Please review these values', properties: DEFAULTS });
  form(server, 'test_elicitation_sep1330_enums', { message: 'Please choose', properties: ENUMS });
  server.registerTool('test_missing_capability', { description: 'Cannot do without sampling' }, ({ mcpReq }) => {
    const answer = mcpReq.inputResponses?.hello;
    if (answer) return { content: [text(textOf(answer))] };
    return inputRequired({ inputRequests: { hello: inputRequired.createMessage(sampling('Say hello', 20)) } });
  });
  server.registerTool('test_streaming_elicitation', { description: 'Asks while its stream is open' }, ({ mcpReq }) => {
    const answer = mcpReq.inputResponses?.ok;
    if (answer) return told('Answered', answer);
    const requestedSchema = { type: 'object', properties: { ok: { type: 'boolean' } } };
    return inputRequired({ inputRequests: { ok: inputRequired.elicit({ message: 'Continue?', requestedSchema }) } });
  });
}

function form(server, name, { message, properties }) {
  server.registerTool(name, { description: 'A form' }, async ({ mcpReq }) => {
    return told(
      'Elicitation completed',
      await mcpReq.elicitInput({ message, requestedSchema: { type: 'object', properties } }),
    );
  });
}

export function sampling(prompt, maxTokens) {
  return { messages: [{ role: 'user', content: { type: 'text', text: prompt } }], maxTokens };
}

function told(words, { action, content }) {
  return { content: [text(`${words}: action=${action}, content=${JSON.stringify(content ?? {})}`)] };
}
