// Collects the answers to a batch and sends them as one array. A batch of notifications has no answer.
import type { Message } from '../../protocol/message.ts';
import type { Outlet } from '../dialect/serve/outlet.ts';

/** One outlet per item of the batch, in order. */
export function splitOutlet(outlet: Outlet, count: number): Outlet[] {
  const answers: Message[] = [];
  let open = count;
  const end = (answer?: Message | Message[]): void => {
    if (answer !== undefined) answers.push(...(Array.isArray(answer) ? answer : [answer]));
    if (--open === 0) outlet.end(answers.length > 0 ? answers : undefined);
  };
  const item: Outlet = { send: (message) => outlet.send(message), end, release: () => {} };
  return Array.from({ length: count }, () => item);
}
