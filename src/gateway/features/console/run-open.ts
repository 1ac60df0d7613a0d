// `parley open`: asks the running gateway for a link to its console, and shows it to the browser.
import type { CommandTools } from '../../../kernel/command/command-tools.ts';

interface OpenCommand {
  print: boolean;
  config: string | undefined;
  pid: number | undefined;
}

export async function runOpen(command: OpenCommand, tools: CommandTools): Promise<number> {
  const { print, findConfig, findGateway, openBrowser } = tools;
  const { found, isTold } = await findGateway({ pid: command.pid, config: findConfig(command.config) });
  if (!found) {
    if (!isTold) print.problem('no gateway is running here. Start one: parley serve');
    return 1;
  }
  const link = await found.consoleLink().catch(() => undefined);
  if (link === undefined) {
    print.problem(
      'this gateway has no console: "console" is false in its configuration, it is `parley wrap`, or browsers cannot reach it (set publicUrl).',
    );
    return 1;
  }
  print.line(link);
  print.note('It works once, for ten minutes, in one browser.');
  if (!command.print && process.stderr.isTTY && openBrowser(link)) print.note('Your browser shows the console.');
  return 0;
}
