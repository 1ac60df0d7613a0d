// What puts right why a request has failed.
/** What may be put right before a request is sent again. `earlier` has the failures of the same call that were put right before. */
export type Remedy = (thrown: unknown, earlier: readonly unknown[]) => Promise<boolean>;
