// Buffers the bytes of an incomplete line. Large chunks are kept as they are, small ones are copied into one growing
// buffer: the cost is linear however a peer splits its data, and single bytes do not cost a Buffer each. Decoded only
// as a whole, so that split characters stay intact. The caller must not change a chunk after appending it.

const SMALLEST_BYTES = 1024;
/** A chunk of this size is kept as its own Buffer. */
const LARGE_PIECE_BYTES = 4096;
/** A larger buffer is released after its line. */
const KEPT_BYTES = 64 * 1024;
const NONE = Buffer.alloc(0);

export class ChunkBuffer {
  /** The bytes of all chunks. A plain member, because every chunk of a link asks for it. */
  length = 0;
  /** The chunks before `#buffer`. */
  #pieces: Buffer[] = [];
  #buffer: Buffer = NONE;
  #bufferLength = 0;

  append(chunk: Buffer, start: number, end: number): void {
    this.length += end - start;
    if (end - start >= LARGE_PIECE_BYTES) return this.#keep(chunk.subarray(start, end));
    const length = this.#bufferLength + end - start;
    if (length > this.#buffer.length) this.#grow(length);
    chunk.copy(this.#buffer, this.#bufferLength, start, end);
    this.#bufferLength = length;
  }

  /** Returns the text of all chunks and clears the buffer. */
  take(): string {
    if (this.#pieces.length > 0) return this.takeBytes().toString();
    const text = this.#buffer.toString('utf8', 0, this.#bufferLength);
    this.clear();
    return text;
  }

  /** Returns a copy of all bytes and clears the buffer. */
  takeBytes(): Buffer {
    const bytes = Buffer.concat([...this.#pieces, this.#buffer.subarray(0, this.#bufferLength)], this.length);
    this.clear();
    return bytes;
  }

  clear(): void {
    this.length = this.#bufferLength = 0;
    if (this.#pieces.length > 0) this.#pieces = [];
    if (this.#buffer.length > KEPT_BYTES) this.#buffer = NONE;
  }

  #keep(piece: Buffer): void {
    if (this.#bufferLength > 0) {
      this.#pieces.push(this.#buffer.subarray(0, this.#bufferLength));
      this.#buffer = NONE;
      this.#bufferLength = 0;
    }
    this.#pieces.push(piece);
  }

  #grow(neededBytes: number): void {
    const larger = Buffer.allocUnsafeSlow(Math.max(neededBytes, 2 * this.#buffer.length, SMALLEST_BYTES));
    this.#buffer.copy(larger, 0, 0, this.#bufferLength);
    this.#buffer = larger;
  }
}
