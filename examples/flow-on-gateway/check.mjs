// Starts the gateway and books: as a client that speaks MCP Flow, as one that shows forms, and where the tool says no.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { connect } from 'mcp-parley';
import { connectFlows } from 'mcp-parley/flow';

const answers = { 'Where to?': 'Oslo', 'Pay 40 for Oslo?': true };
const gateway = spawn(process.execPath, [fileURLToPath(new URL('gateway.mjs', import.meta.url))], {
  env: { ...process.env, PORT: '0' },
  stdio: ['ignore', 'pipe', 'inherit'],
});

try {
  const [line] = await once(gateway.stdout.setEncoding('utf8'), 'data');
  const url = line.trim();

  const player = await connectFlows(url);
  const played = await player.run('trips__book', {}, { onPrompt: ({ message }) => answers[message] });
  await player.close();
  assert.equal(played.result, 'Booked: Oslo, 40, OSL-1');
  console.log(`played over MCP Flow: ${played.result}`);

  const client = await connect(url, {
    onElicit: ({ message, requestedSchema }) => {
      const [name] = Object.keys(requestedSchema.properties);
      return { action: 'accept', content: { [name]: answers[message] } };
    },
  });
  const booked = await client.callTool('trips__book');
  assert.equal(booked.content[0].text, 'Booked: Oslo, 40, OSL-2');
  console.log(`called, and asked by forms: ${booked.content[0].text}`);

  const refused = await client.callTool('trips__book', { city: 'Atlantis' });
  assert.equal(refused.isError, true);
  console.log(`a tool that fails fails its step: ${refused.content[0].text}`);
  await client.close();
} finally {
  gateway.kill();
  await once(gateway, 'exit');
}
