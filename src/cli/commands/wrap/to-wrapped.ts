// The server behind `parley wrap`, with what is printed about it: who speaks what, and why it does not start.
import type { UpstreamTarget } from '../../../gateway/servers/upstream-target.ts';
import type { Printer } from '../../../kernel/command/printer.ts';
import type { ClientView } from '../../../kernel/exchange.ts';
import type { WrapCommand } from '../../args/serving-commands.ts';
import { toBridgeLine } from '../../serving/bridge-line.ts';
import { explainStartFailure } from '../../terminal/format-error.ts';
import { isHopeless } from './can-run.ts';
import type { ServerStderr } from './server-stderr.ts';
import type { WrapLogin } from './wrap-login.ts';
import { WrappedServer } from './wrapped-server.ts';

const AGAIN = ' It is retried when a client connects.';

interface WrappedParts {
  target: UpstreamTarget;
  stderr: ServerStderr;
  asked: WrapLogin;
  print: Printer;
  /** Problems of the server are printed after the welcome. */
  welcomed: Promise<void>;
}

export function toWrapped({ server, startMs, port }: WrapCommand, parts: WrappedParts): WrappedServer {
  const { target, stderr, asked, print, welcomed } = parts;
  return new WrappedServer({
    target,
    startMs,
    explain(reason) {
      const { tail, isGarbled, garbage } = stderr;
      const written = { stderr: tail, isGarbled, garbage };
      return asked.request ?? explainStartFailure({ server, reason, waitedMs: startMs, ...written });
    },
    onMeet: (client) => print.note(toLine(client, target, port === undefined ? 'stdio' : 'HTTP')),
    onFailure(explanation) {
      const isLater = port !== undefined && target.status.state === 'failing' && !isHopeless(target, server);
      void welcomed.then(() => print.problem(`${explanation}${isLater ? AGAIN : ''}`));
    },
  });
}

function toLine(client: ClientView, target: UpstreamTarget, over: string): string {
  const { server, transport = 'stdio' } = target.status;
  return toBridgeLine({ ...client, transport: over }, { ...(target.viewFor(client) ?? server!), transport });
}
