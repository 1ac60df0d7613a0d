export class RoundRobin {
  constructor(targets: () => string[], ready?: Promise<unknown>);
  listen(port?: number): Promise<string>;
  turnTo(at: number): void;
  watch(everyMs?: number): void;
  close(): void;
}
