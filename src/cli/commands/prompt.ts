// `parley prompt`: prints the messages of one prompt, with their roles if there are several.
import type { PromptCommand } from '../args/command.ts';
import { withConnection } from '../running/with-connection.ts';
import type { Printer } from '../terminal/print.ts';
import { toResultLines } from '../terminal/result-lines.ts';

export function runPrompt(command: PromptCommand, print: Printer): Promise<number> {
  return withConnection(command, print, async ({ client }) => {
    const result = await client.getPrompt(command.prompt, Object.fromEntries(command.args));
    if (command.json) print.line(JSON.stringify(result, undefined, 2));
    else {
      const { messages } = result;
      for (const { role, content } of messages) {
        if (messages.length > 1) print.line(`${role}:`);
        for (const line of toResultLines({ content: [content] })) print.line(line);
      }
    }
    return 0;
  });
}
