// What gateways remember that is not alive: data, and no open request, connection or promise. Gateways that share a state act as one.
// 1. Each operation is atomic, however many gateways use the state at the same time.
// 2. One that cannot be done rejects with STATE_FAILED, and soon, because a call waits for it. Where the state protects something, the call is
//    refused then.

export interface State {
  /**
   * True for the first one who takes this key within the time, of all who share the state. False, too, where nothing more can be remembered: a key
   * that was forgotten early could be taken twice.
   */
  take(key: string, ttlMs: number): Promise<boolean>;
  close(): Promise<void>;
}
