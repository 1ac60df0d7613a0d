// `node http-to-http.mjs PORT URL`: bytes of requests and answers passed on, nothing read.
import { Agent, createServer, request as call } from 'node:http';

const [port, url] = process.argv.slice(2);
const agent = new Agent({ keepAlive: true });

const server = createServer((request, response) => {
  const { method, headers } = request;
  const onward = call(url, { method, headers, agent }, (answer) => {
    response.writeHead(answer.statusCode, answer.headers);
    answer.pipe(response);
  });
  onward.on('error', () => response.destroy());
  request.pipe(onward);
});
server.listen(Number(port), '127.0.0.1');
