// The body of a response as it arrives, for one reader; chunks wait until the reader comes. A reader has a limit, so it may let all come;
// it pauses a body that floods it.

/** The connection that a body comes from. It pauses soon: chunks may still come. */
export interface BodySource {
  abort(reason: Error): void;
  pause(): void;
  resume(): void;
}

export interface BodyReader {
  onData(chunk: Buffer): void;
  /** Called last, and once; with an error if the body broke off or was destroyed. */
  onEnd(error: Error | undefined): void;
}

export class ResponseBody {
  readonly #source: BodySource;
  #reader: BodyReader | undefined;
  #waiting: Buffer[] = [];
  #isOver = false;
  #error: Error | undefined;

  constructor(source: BodySource) {
    this.#source = source;
  }

  pause(): void {
    if (!this.#isOver) this.#source.pause();
  }

  /** Also when it is over: the connection may be used again. */
  resume(): void {
    this.#source.resume();
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
    this.#source.abort(reason);
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
