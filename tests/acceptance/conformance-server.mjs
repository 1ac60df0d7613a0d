// The server for the official conformance suite: everything that its scenarios call by name, written with the public
// API only. tests/conformance/fixture/ says what each fixture must do.
import { createServer, ProtocolError } from 'mcp-parley';
import { f, flow, serveFlows } from 'mcp-parley/flow';
import { addAskingTools } from '../conformance/fixture/asking-tools.mjs';
import { addChangeTools } from '../conformance/fixture/change-tools.mjs';
import { addPlainTools } from '../conformance/fixture/plain-tools.mjs';
import { addPrompts } from '../conformance/fixture/prompts.mjs';
import { addResources } from '../conformance/fixture/resources.mjs';
import { addRoundFlows, FLOW_TOOLS } from '../conformance/fixture/round-flows.mjs';
import { addRoundTools } from '../conformance/fixture/round-tools.mjs';
import { addTaskTools } from '../conformance/fixture/task-tools.mjs';

/** `flows`: tools that ask in rounds are flows, where a flow can be what the suite asks for. */
export function createConformanceServer({ flows = false } = {}) {
  const server = createServer({
    name: 'parley-conformance-fixture',
    version: '1.0.0',
    instructions: 'Fixtures of the official conformance suite.',
    declare: ['logging', 'completions'],
    ask: { channels: [] }, // the suite wants the error of a client that cannot be asked
  });
  addPlainTools(server);
  addAskingTools(server);
  addRoundTools(server, flows ? FLOW_TOOLS : undefined);
  if (flows) addRoundFlows(server, { f, flow, serveFlows });
  addChangeTools(server);
  addTaskTools(server, { ProtocolError });
  addResources(server);
  addPrompts(server);
  return server;
}
