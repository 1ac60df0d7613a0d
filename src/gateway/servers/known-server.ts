// What is known of a server in one era, also while it is away. What its declarations mean for calls is found out once, when it is
// opened, and not for each call.
import { flowOf, givesReceipts, playsCalls } from '../../kernel/interaction.ts';
import type { ServerView } from '../../kernel/server-view.ts';
import { ToolFacts } from '../../kernel/tool-facts.ts';
import { runsTasks } from './tasks/task-support.ts';

export class KnownServer {
  /** Undefined until the server was opened for the first time. */
  view: ServerView | undefined;
  readonly tools: ToolFacts = new ToolFacts();
  runsTasks = false;
  /** Whether a tool may be available over MCP Flow only. */
  hasFlowTools = false;
  /** It has not said whether it has interactive tools; a server of the handshake era may say it only when it is asked. */
  mayHaveFlowTools = false;
  /** Whether it keeps the result of a flow until the client has it. */
  givesReceipts = false;

  learn(view: ServerView): void {
    const { capabilities } = view;
    this.view = view;
    this.runsTasks = runsTasks(view);
    const flow = flowOf(capabilities);
    this.hasFlowTools = flow?.interactive === true && !playsCalls(capabilities);
    this.mayHaveFlowTools = !flow && !view.era.declaresExtensions;
    this.givesReceipts = givesReceipts(capabilities);
  }
}
