// The fixtures in which the program under test is a client. They end with the connection, even if no revision was
// agreed on.
import { connect } from 'mcp-parley';
import { CANCEL, connectFlows } from 'mcp-parley/flow';

const approveAll = { approve: () => true };

const sample = {
  role: 'assistant',
  content: { type: 'text', text: '2 + 2 = 4' },
  model: 'claude-3-sonnet-20241022',
  stopReason: 'endTurn',
};
const roots = [{ uri: 'file:///approved/directory', name: 'Project Files' }];

export const CLIENTS = {
  'client-booking': (url) => play(url, {}, ({ type }) => (type === 'choice' ? 'a' : 'selected_value')),
  'client-cancel': (url) => play(url, { discover: false }, () => CANCEL),
  'client-2024-11-05': (url) => stay(url, { revision: '2024-11-05', roots, onSample: () => sample, ...approveAll }),
  'client-2025-03-26': (url) => stay(url, { revision: '2025-03-26', roots, ...approveAll }),
  'client-draft': (url) => stay(url, { revision: 'draft', ...approveAll }),
};

async function play(url, options, onPrompt) {
  try {
    const client = await connectFlows(url, {
      name: 'example-client',
      version: '1.0.0',
      revision: '2025-06-18',
      ...options,
    });
    await client.run('booking', {}, { onPrompt });
    await client.client.closed;
  } catch (error) {
    console.error(error.message);
    process.exitCode = 1;
  }
}

async function stay(url, options) {
  try {
    const client = await connect(url, { name: 'example-client', version: '1.0.0', ...options });
    await client.closed;
  } catch (error) {
    console.error(error.message);
    process.exitCode = 1;
  }
}
