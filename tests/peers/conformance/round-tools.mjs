// Tools and a prompt that need several rounds (input_required). The suite fixes the keys. State between rounds is sealed by the SDK's
// own codec with a fixed key, because several processes of this fixture may see one call.
import { createRequestStateCodec, inputRequired } from '@modelcontextprotocol/server';
import { text, textOf } from '../../conformance/fixture/samples.mjs';
import { sampling } from './asking-tools.mjs';

export const STATES = createRequestStateCodec({ key: 'a fixed key of the conformance fixture' });

const NAME = form('What is your name?', { name: { type: 'string' } });
const CONFIRM = form('Please confirm', { ok: { type: 'boolean' } });
const CAPITAL = inputRequired.createMessage(sampling('What is the capital of France?', 100));
const GREETING = inputRequired.createMessage(sampling('Generate a greeting', 50));

export function addRoundTools(server) {
  const add = (name, handler) =>
    server.registerTool(`test_input_required_result_${name}`, { description: `Asks in rounds: ${name}` }, (context) =>
      handler(context.mcpReq.inputResponses ?? {}, context),
    );
  add('elicitation', ({ user_name: name }) => (name ? says(greeting(name)) : asks({ user_name: NAME })));
  add('sampling', ({ capital_question: answer }) =>
    answer ? says(textOf(answer)) : asks({ capital_question: CAPITAL }),
  );
  add('list_roots', ({ client_roots: roots }) =>
    roots ? says(`Roots: ${named(roots)}`) : asks({ client_roots: inputRequired.listRoots() }),
  );
  add('request_state', async ({ confirm }) =>
    confirm ? says('state-ok') : asks({ confirm: CONFIRM }, await STATES.mint({ round: 1 })),
  );
  add('tampered_state', async ({ confirm }) =>
    confirm ? says('Confirmed') : asks({ confirm: CONFIRM }, await STATES.mint({ round: 1 })),
  );
  add('multiple_inputs', async ({ user_name: name, greeting: words, client_roots: roots }) => {
    if (name && words && roots) return says(`${greeting(name)} ${textOf(words)} Roots: ${named(roots)}`);
    return asks(
      { user_name: NAME, greeting: GREETING, client_roots: inputRequired.listRoots() },
      await STATES.mint({ round: 1 }),
    );
  });
  add('multi_round', multiRound);
  add('capabilities', (answers, { mcpReq }) => {
    const can = mcpReq.envelope?.['io.modelcontextprotocol/clientCapabilities'] ?? {};
    const questions = {
      ...(can.elicitation && { user_name: NAME }),
      ...(can.sampling && { greeting: GREETING }),
      ...(can.roots && { client_roots: inputRequired.listRoots() }),
    };
    const isAnswered = Object.keys(questions).every((key) => key in answers);
    return isAnswered ? says(`Answers: ${Object.keys(answers).length}`) : asks(questions);
  });
  server.registerPrompt('test_input_required_result_prompt', { description: 'Asks for its context' }, ({ mcpReq }) => {
    const answer = mcpReq.inputResponses?.user_context;
    if (!answer)
      return asks({ user_context: form('What context should the prompt use?', { context: { type: 'string' } }) });
    return { messages: [{ role: 'user', content: text(`Use this context: ${answer.content?.context}`) }] };
  });
}

async function multiRound(answers, { mcpReq }) {
  const { name } = mcpReq.requestState() ?? {};
  if (answers.step2) return says(`Hello, ${name}! Your color is ${answers.step2.content?.color}.`);
  if (answers.step1) {
    const color = form('Step 2: What is your favorite color?', { color: { type: 'string' } });
    return asks({ step2: color }, await STATES.mint({ name: answers.step1.content?.name }));
  }
  return asks({ step1: form('Step 1: What is your name?', { name: { type: 'string' } }) }, await STATES.mint({}));
}

/** All fields required, as the suite's own examples have them. */
function form(message, properties) {
  return inputRequired.elicit({
    message,
    requestedSchema: { type: 'object', properties, required: Object.keys(properties) },
  });
}

function asks(inputRequests, requestState) {
  return inputRequired({ inputRequests, ...(requestState && { requestState }) });
}

function says(words) {
  return { content: [text(words)] };
}

function greeting({ content }) {
  return `Hello, ${content?.name}!`;
}

function named({ roots }) {
  return roots.map(({ name, uri }) => name ?? uri).join(', ');
}
