// What a program gives that plays an interactive tool for a person.
import type { Person } from '../../gateway/flow/play/playing.ts';
import type { JsonObject } from '../../protocol/message.ts';

export interface PlayOptions extends Person {
  context?: JsonObject | undefined;
  timeout?: number | undefined;
}
