// The fixtures in which the program under test is a client. They end when the connection does, also when no agreement on
// a revision could be reached.
import { connect } from 'mcp-parley';

const approveAll = { approve: () => true };

const sample = {
  role: 'assistant',
  content: { type: 'text', text: '2 + 2 = 4' },
  model: 'claude-3-sonnet-20241022',
  stopReason: 'endTurn',
};
const roots = [{ uri: 'file:///approved/directory', name: 'Project Files' }];

export const CLIENTS = {
  'client-2024-11-05': (url) => stay(url, { revision: '2024-11-05', roots, onSample: () => sample, ...approveAll }),
  'client-2025-03-26': (url) => stay(url, { revision: '2025-03-26', roots, ...approveAll }),
  'client-draft': (url) => stay(url, { revision: 'draft', ...approveAll }),
};

async function stay(url, options) {
  try {
    const client = await connect(url, { name: 'example-client', version: '1.0.0', ...options });
    await client.closed;
  } catch (error) {
    console.error(error.message);
    process.exitCode = 1;
  }
}
