// Contract: bytes under a name. For a whole store, or one that keeps only this.
import { beforeEach, describe, expect, it } from 'vitest';
import { until } from '../../../tests/helpers/until.ts';
import type { BlobStore } from './store.ts';

export function keepsBlobs(subject: { readonly store: BlobStore }): void {
  let store: BlobStore;
  beforeEach(() => {
    store = subject.store;
  });

  describe('blobs', () => {
    it.each([0, 1, 256, 1_048_576])('come back byte for byte: %i', async (size) => {
      const bytes = Uint8Array.from({ length: size }, (_, index) => index % 256);
      await store.putBlob('hash', bytes, 60_000);
      const found = (await store.getBlob('hash'))!;
      expect(found).toBeInstanceOf(Uint8Array);
      expect(Buffer.compare(found, bytes)).toBe(0);
    });

    it('go after their time, the longest that was asked for', async () => {
      await store.putBlob('short', Buffer.from('a'), 30);
      await store.putBlob('long', Buffer.from('b'), 60_000);
      await store.putBlob('long', Buffer.from('b'), 30);
      await store.putBlob('longer', Buffer.from('c'), 30);
      await store.putBlob('longer', Buffer.from('c'), 60_000);
      await until('the blob to go', async () => (await store.getBlob('short')) === undefined);
      expect(await store.getBlob('long')).toBeDefined();
      expect(await store.getBlob('longer')).toBeDefined();
    });
  });
}
