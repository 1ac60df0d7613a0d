// `parley read` and `parley prompt`: print one resource, or one prompt.
import type { ReadCommand, PromptCommand } from '../args/target-commands.ts';
import { withConnection } from '../running/connect-for-command.ts';
import type { Printer } from '../../kernel/command/printer.ts';
import { toResultLines } from '../terminal/tool-text.ts';

/** On stdout, unchanged to a file or pipe, and made safe on a terminal. */
export function runRead(command: ReadCommand, print: Printer): Promise<number> {
  return withConnection(command, print, async ({ client }) => {
    const result = await client.readResource(command.uri);
    if (command.json) print.line(JSON.stringify(result, undefined, 2));
    else {
      for (const part of result.contents) {
        if ('text' in part) print.content(`${part.text}\n`);
        else print.content(Buffer.from(part.blob, 'base64'));
      }
    }
    return 0;
  });
}

/** The messages, with their roles if there are several. */
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
