// A raw JSON-RPC server on stdio, made with no SDK: those read numbers as JavaScript does. Its lists, results, errors and notifications
// hold numbers that JavaScript cannot hold or writes in another way. The tool `sent` answers with the text of the request. Two
// tools answer without `content`, which SDKs would add.
import { createInterface } from 'node:readline';

const N = '{"big":12345678901234567890,"far":1e400,"one":1.0,"many":[-0,0.10,1E5]}';
const say = (text) => process.stdout.write(`${text}\n`);

createInterface({ input: process.stdin })
  .on('line', (line) => {
    const { id, method, params } = JSON.parse(line);
    if (id === undefined) return;
    const answer = (result) => say(`{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${result}}`);
    switch (method) {
      case 'initialize': {
        const capabilities = '{"tools":{},"logging":{},"experimental":{"acme":{"n":1.0}}}';
        const info = '"serverInfo":{"name":"exact","version":"1"},"instructions":"Hi"';
        const { protocolVersion } = params;
        return answer(
          `{"protocolVersion":"${protocolVersion}","capabilities":${capabilities},${info},"acme":{"n":1e400},"_meta":{"acme/mark":1.0}}`,
        );
      }
      case 'tools/list': {
        const schema = `{"type":"object","properties":{"n":{"type":"number","default":1.0,"maximum":9007199254740993}}}`;
        const tool = (name) => `{"name":"${name}","inputSchema":${schema},"_meta":{"n":${N}}}`;
        return answer(
          `{"tools":[${tool('sent')},${tool('told')},${tool('fails')},${tool('bare')},${tool('structured')}],"_meta":{"n":${N}}}`,
        );
      }
      case 'tools/call': {
        if (params.name === 'fails') {
          const error = `{"code":-32050,"message":"No","data":${N}}`;
          return say(`{"jsonrpc":"2.0","id":${JSON.stringify(id)},"error":${error}}`);
        }
        if (params.name === 'bare') return answer('{"acme":1}');
        if (params.name === 'structured') return answer('{"structuredContent":{"n":1.0}}');
        if (params.name === 'sent') return answer(JSON.stringify({ content: [{ type: 'text', text: line }] }));
        const { progressToken } = params._meta ?? {};
        say(
          `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"error","data":${N},"_meta":{"n":${N}}}}`,
        );
        if (progressToken !== undefined) {
          const told = `"progressToken":${JSON.stringify(progressToken)},"progress":1.0,"total":1e400`;
          say(`{"jsonrpc":"2.0","method":"notifications/progress","params":{${told},"_meta":{"n":${N}}}}`);
        }
        return answer(`{"content":[],"structuredContent":${N},"_meta":{"n":${N}}}`);
      }
      default:
        return say(
          `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"error":{"code":-32601,"message":"No ${method}","data":${N}}}`,
        );
    }
  })
  .once('close', () => process.exit(0));
