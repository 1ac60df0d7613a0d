// Blobs in the memory of this process.
import type { Clock } from '../../../kernel/base/clock.ts';
import type { BlobStore } from '../store.ts';
import { DueIndex } from './due-index.ts';

/** Removed per call, so that none takes long. */
const FORGET_MOST = 100;

export class MemoryBlobs implements BlobStore {
  readonly #clock: Clock;
  readonly #blobs = new Map<string, { bytes: Uint8Array; until: number }>();
  readonly #old = new DueIndex();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  async putBlob(sha256: string, bytes: Uint8Array, ttlMs: number): Promise<void> {
    this.tidy();
    const until = Math.max(this.#clock.now() + ttlMs, this.#blobs.get(sha256)?.until ?? 0);
    this.#blobs.set(sha256, { bytes: Uint8Array.from(bytes), until });
    this.#old.set(sha256, until);
  }

  async getBlob(sha256: string): Promise<Uint8Array | undefined> {
    const blob = this.#blobs.get(sha256);
    return blob && blob.until > this.#clock.now() ? Uint8Array.from(blob.bytes) : undefined;
  }

  /** Removes expired ones. */
  tidy(): void {
    for (const sha256 of this.#old.before(this.#clock.now(), FORGET_MOST)) {
      this.#old.delete(sha256);
      this.#blobs.delete(sha256);
    }
  }

  clear(): void {
    this.#blobs.clear();
    this.#old.clear();
  }
}
