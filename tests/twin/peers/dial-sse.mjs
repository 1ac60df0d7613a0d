// HTTP+SSE of a raw client.
import { Agent, request as startRequest } from 'node:http';
import { readEvents } from './event-streams.mjs';

export async function dialSse({ url }, { onText, onLost }) {
  const agent = new Agent({ keepAlive: true });
  let stream;
  let isLeft = false;
  const endpoint = await new Promise((resolve, reject) => {
    stream = startRequest(url, { headers: { accept: 'text/event-stream' } });
    stream.on('error', reject).on('response', (response) => {
      response.on('error', () => {}).on('close', () => isLeft || onLost(undefined, 'the stream ended'));
      readEvents(response, ({ event, data }) => {
        if (event === 'endpoint') resolve(new URL(data, url));
        else if (data) onText(data);
      });
    });
    stream.end();
  });
  const leave = () => {
    isLeft = true;
    stream.destroy();
    agent.destroy();
  };
  return {
    send(text, { id, method }) {
      return new Promise((resolve) => {
        const request = startRequest(endpoint, {
          method: 'POST',
          agent,
          headers: { 'content-type': 'application/json' },
        });
        const lose = (why) => {
          if (method !== undefined && id !== undefined && !isLeft) onLost(id, why);
          resolve();
        };
        request
          .on('error', () => lose('the connection ended'))
          .on('response', (response) => {
            response.resume();
            if (response.statusCode >= 400) return lose(`HTTP ${response.statusCode}`);
            resolve();
          });
        request.end(text);
      });
    },
    cancel() {},
    leave,
    close: leave,
  };
}
