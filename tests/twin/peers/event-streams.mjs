// Server-sent events: streams that a server writes and can cut and go on with, and the reading of them.

/** A stream that outlives its connection: what was sent while nobody listened comes with the next GET that names its last event. */
export class EventStream {
  #events = [];
  #response;
  #isDone = false;

  constructor(name) {
    this.name = name;
  }

  attach(response, after = -1) {
    this.#response = response;
    for (const [index, text] of this.#events.entries()) if (index > after) this.#write(index, text);
    if (this.#isDone) response.end();
  }

  send(text) {
    this.#events.push(text);
    this.#write(this.#events.length - 1, text);
  }

  end(text) {
    this.#isDone = true;
    this.send(text);
    this.#response?.end();
  }

  /** Says that it can be resumed, so that a cut before the first message loses nothing. */
  prime() {
    this.#response?.write(`id: ${this.name}/-1\nretry: 10\ndata: \n\n`);
  }

  /** After what was written: a client that has seen no event cannot resume. */
  cut() {
    this.#response?.socket?.destroySoon();
    this.#response = undefined;
  }

  #write(index, text) {
    this.#response?.write(`id: ${this.name}/${index}\nevent: message\ndata: ${text}\n\n`);
  }
}

/** Calls `onEvent({ event, id, data })` for each event of a response. */
export function readEvents(response, onEvent) {
  let rest = '';
  response.setEncoding('utf8');
  response.on('data', (chunk) => {
    const blocks = (rest + chunk).split(/\r?\n\r?\n/);
    rest = blocks.pop();
    for (const block of blocks) onEvent(toEvent(block));
  });
}

function toEvent(block) {
  const fields = block.split(/\r?\n/).map((line) => /^(\w*): ?(.*)$/.exec(line) ?? []);
  const all = (name) => fields.filter(([, key]) => key === name).map(([, , value]) => value);
  return { event: all('event')[0], id: all('id')[0], retry: all('retry')[0], data: all('data').join('\n') };
}

export async function bodyOf(request) {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}
