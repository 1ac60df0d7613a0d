// The bytes of a line whose end has not come yet. Bytes are copied, never kept as chunks: one buffer that doubles costs
// linear time however a peer cuts its data, and a peer that sends single bytes cannot make us hold a Buffer for each.
// Decoded only as a whole, so a character cut between two chunks stays whole.

const SMALLEST_BYTES = 1024;
/** One huge line must not pin its buffer for the life of the connection. */
const KEPT_BYTES = 64 * 1024;
const NONE = Buffer.alloc(0);

export class HeldBytes {
  #buffer: Buffer = NONE;
  #length = 0;

  get length(): number {
    return this.#length;
  }

  append(chunk: Buffer, start: number, end: number): void {
    const length = this.#length + end - start;
    if (length > this.#buffer.length) this.#grow(length);
    chunk.copy(this.#buffer, this.#length, start, end);
    this.#length = length;
  }

  /** The text of all that was appended; holds nothing afterwards. */
  take(): string {
    const text = this.#buffer.toString('utf8', 0, this.#length);
    this.clear();
    return text;
  }

  clear(): void {
    this.#length = 0;
    if (this.#buffer.length > KEPT_BYTES) this.#buffer = NONE;
  }

  #grow(neededBytes: number): void {
    const larger = Buffer.allocUnsafeSlow(Math.max(neededBytes, 2 * this.#buffer.length, SMALLEST_BYTES));
    this.#buffer.copy(larger, 0, 0, this.#length);
    this.#buffer = larger;
  }
}
