// Events of a text/event-stream, for the tap. Events without data are passed over.
import { StringDecoder } from 'node:string_decoder';

export class EventReader {
  #decoder = new StringDecoder('utf8');
  #onEvent;
  #rest = '';
  #event;
  #data = [];

  constructor(onEvent) {
    this.#onEvent = onEvent;
  }

  push(chunk) {
    const lines = (this.#rest + this.#decoder.write(chunk)).split(/\r\n|\n|\r(?!$)/);
    this.#rest = lines.pop();
    for (const line of lines) this.#line(line);
  }

  #line(line) {
    if (line === '') return this.#dispatch();
    const [, field, value] = /^([^:]*):? ?(.*)$/s.exec(line);
    if (field === 'data') this.#data.push(value);
    else if (field === 'event') this.#event = value;
  }

  #dispatch() {
    const data = this.#data.join('\n');
    if (data) this.#onEvent({ event: this.#event, data });
    this.#data = [];
    this.#event = undefined;
  }
}
