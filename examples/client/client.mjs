import { connect } from 'mcp-parley';

/** Books a trip with any server that has a tool `book`, whatever it speaks. Returns what happened, in words. */
export async function book(address, city) {
  const said = [];
  const client = await connect(address, {
    name: 'traveller',
    version: '1.0.0',
    onElicit({ message }, { server }) {
      said.push(`${server.name} asks: ${message}`);
      return { action: 'accept', content: { nights: 2 } };
    },
    // Called before anything happens: here, nothing that destroys is allowed.
    approve: (kind, details) => kind !== 'tools/call' || !details.annotations?.destructiveHint,
  });
  said.push(`${client.transport}, ${client.server.dialect} ${client.server.revision}`);

  const tools = await client.listTools();
  said.push(`tools: ${tools.map(({ name }) => name).join(', ')}`);

  const onProgress = ({ progress, total }) => said.push(`progress: ${progress}/${total}`);
  const { structuredContent } = await client.callTool('book', { city }, { onProgress, timeoutMs: 10_000 });
  said.push(`booked: ${JSON.stringify(structuredContent)}`);

  // Not approved: the server never hears of it.
  await client.callTool('cancel_all').catch((error) => said.push(`${error.code}: ${error.message}`));
  await client.close();
  return said;
}
