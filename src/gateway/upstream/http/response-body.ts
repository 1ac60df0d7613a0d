// The body of a response as it arrives, for one reader; chunks wait until the reader comes. It needs no backpressure, because
// every reader has a limit and none is slower than the network.

export interface BodyReader {
  onData(chunk: Buffer): void;
  /** Called last, and once; with an error if the body broke off or was destroyed. */
  onEnd(error: Error | undefined): void;
}

export class ResponseBody {
  readonly #giveUp: (reason: Error) => void;
  #reader: BodyReader | undefined;
  #waiting: Buffer[] = [];
  #isOver = false;
  #error: Error | undefined;

  constructor(giveUp: (reason: Error) => void) {
    this.#giveUp = giveUp;
  }

  read(reader: BodyReader): void {
    const [waiting, wasOver] = [this.#waiting, this.#isOver];
    this.#waiting = [];
    this.#reader = reader;
    for (const chunk of waiting) if (wasOver || !this.#isOver) reader.onData(chunk);
    if (wasOver) reader.onEnd(this.#error); // otherwise `end` calls it
  }

  /** Drops the rest, and closes the connection. */
  destroy(): void {
    if (this.#isOver) return;
    const reason = new Error('aborted');
    this.end(reason);
    this.#giveUp(reason);
  }

  push(chunk: Buffer): void {
    if (this.#isOver) return;
    if (this.#reader) this.#reader.onData(chunk);
    else this.#waiting.push(chunk);
  }

  end(error?: Error): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#error = error;
    this.#reader?.onEnd(error);
  }
}
