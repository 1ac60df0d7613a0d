// The tool by which a model passes on its user's answer. It is listed for clients that cannot be asked.
import type { JsonObject } from '../../protocol/message.ts';
import { isObject } from '../../protocol/message.ts';
import { toGatewayTool } from '../../protocol/gateway-tool.ts';

export const ANSWER_TOOL = 'parley_answer';
/** The prefix of every handle. */
export const HANDLE = 'ask_';

export const answerTool: JsonObject = toGatewayTool({
  name: ANSWER_TOOL,
  title: "Pass on the user's answer",
  description:
    'Continues a tool call that waits for its user. Call it only when the result of another tool asked for it and gave a handle, ' +
    "and only with what the user has said. Leave out `answer` after the user has answered on the page. If the user declines, set `decline` to true and leave out `answer`. Returns that tool's result, or its next question.",
  inputSchema: {
    type: 'object',
    properties: {
      handle: { type: 'string', description: 'From the result that asked.' },
      answer: {
        description:
          "The user's answer: an object with the fields that were asked for, or the value alone if there is only one.",
      },
      decline: {
        type: 'boolean',
        description: 'True if the user declines: the tool then continues without an answer, or ends.',
      },
    },
    required: ['handle'],
  },
  annotations: {
    title: "Pass on the user's answer",
    readOnlyHint: false,
    destructiveHint: false,
    openWorldHint: false,
  },
});

/** Whether the arguments name a handle of the form that we give out. */
export function hasHandle({ arguments: args }: JsonObject): boolean {
  return isObject(args) && typeof args.handle === 'string' && args.handle.startsWith(HANDLE);
}
