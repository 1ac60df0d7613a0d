// The bytes of a line whose end has not come yet. Large pieces are kept as they came, small ones are copied together: one
// buffer that doubles costs linear time however a peer cuts its data, and a peer that sends single bytes cannot make us hold a
// Buffer for each. Decoded only as a whole, so a character cut between two chunks stays whole. The caller that appends a chunk leaves
// it alone afterwards.

const SMALLEST_BYTES = 1024;
/** From here on a piece is worth a Buffer of its own. */
const LARGE_PIECE_BYTES = 4096;
/** One huge line must not pin its buffer for the life of the connection. */
const KEPT_BYTES = 64 * 1024;
const NONE = Buffer.alloc(0);

export class ChunkBuffer {
  /** What came before `#buffer`. */
  #pieces: Buffer[] = [];
  #piecesLength = 0;
  #buffer: Buffer = NONE;
  #length = 0;

  get length(): number {
    return this.#piecesLength + this.#length;
  }

  append(chunk: Buffer, start: number, end: number): void {
    if (end - start >= LARGE_PIECE_BYTES) return this.#keep(chunk.subarray(start, end));
    const length = this.#length + end - start;
    if (length > this.#buffer.length) this.#grow(length);
    chunk.copy(this.#buffer, this.#length, start, end);
    this.#length = length;
  }

  /** The text of all that was appended; holds nothing afterwards. */
  take(): string {
    if (this.#piecesLength > 0) return this.takeBytes().toString();
    const text = this.#buffer.toString('utf8', 0, this.#length);
    this.clear();
    return text;
  }

  /** All that was appended, as bytes of its own; holds nothing afterwards. */
  takeBytes(): Buffer {
    const bytes = Buffer.concat([...this.#pieces, this.#buffer.subarray(0, this.#length)], this.length);
    this.clear();
    return bytes;
  }

  clear(): void {
    this.#length = 0;
    if (this.#piecesLength > 0) {
      this.#pieces = [];
      this.#piecesLength = 0;
    }
    if (this.#buffer.length > KEPT_BYTES) this.#buffer = NONE;
  }

  #keep(piece: Buffer): void {
    if (this.#length > 0) {
      this.#pieces.push(this.#buffer.subarray(0, this.#length));
      this.#piecesLength += this.#length;
      this.#buffer = NONE;
      this.#length = 0;
    }
    this.#pieces.push(piece);
    this.#piecesLength += piece.length;
  }

  #grow(neededBytes: number): void {
    const larger = Buffer.allocUnsafeSlow(Math.max(neededBytes, 2 * this.#buffer.length, SMALLEST_BYTES));
    this.#buffer.copy(larger, 0, 0, this.#length);
    this.#buffer = larger;
  }
}
