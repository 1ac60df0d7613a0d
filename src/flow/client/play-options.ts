// Options for running an interactive tool for a person.
import type { PromptHandlers } from '../../gateway/flow/play/flow-run.ts';
import type { JsonObject } from '../../protocol/message.ts';

export interface PlayOptions extends PromptHandlers {
  context?: JsonObject | undefined;
  timeout?: number | undefined;
}
