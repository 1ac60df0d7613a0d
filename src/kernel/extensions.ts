// The extensions of MCP that Parley knows, by their names in `capabilities.extensions`.

/** Calls that run on after their answer. */
export const TASKS_EXTENSION = 'io.modelcontextprotocol/tasks';
/** MCP Apps: pages of tools. */
export const APPS_EXTENSION = 'io.modelcontextprotocol/ui';
/** Skills (SEP-2640): folders of files with instructions. */
export const SKILLS_EXTENSION = 'io.modelcontextprotocol/skills';
/** Ours: MCP Flow. */
export const FLOW_EXTENSION = 'mcp-parley/flow';
