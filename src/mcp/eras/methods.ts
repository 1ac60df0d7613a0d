// The methods that clients of every revision of MCP may send. Each era adds its own in its folder, and a revision that has lost one leaves it out: what
// is not in its registry is answered as an unknown method, whatever code is still there for older revisions. An extension is in no registry.
import {
  CALL_TOOL,
  COMPLETE_ARGUMENT,
  GET_PROMPT,
  LIST_PROMPTS,
  LIST_RESOURCES,
  LIST_TEMPLATES,
  LIST_TOOLS,
  READ_RESOURCE,
  TELL_CAPABILITIES,
} from '../../kernel/methods.ts';

export type MethodRegistry = ReadonlySet<string>;

export const COMMON_METHODS: readonly string[] = [
  LIST_TOOLS,
  CALL_TOOL,
  LIST_PROMPTS,
  GET_PROMPT,
  LIST_RESOURCES,
  LIST_TEMPLATES,
  READ_RESOURCE,
  COMPLETE_ARGUMENT,
  TELL_CAPABILITIES, // of MCP Flow
];
