// The words of `parley --help`, and of a command line that was not understood.
export const DEFAULT_PORT = 8470;

const COMMANDS = `Commands
  demo    a small MCP server to try a client with, over every transport on one port`;

export const HELP = `parley: MCP servers and clients for every revision and transport.

Usage
  parley demo [--port N] [--host H]   serve on http://H:N/mcp (default 127.0.0.1:${DEFAULT_PORT})
  parley demo --stdio                 serve on stdin and stdout, for a client that starts it
  parley --help | --version

${COMMANDS}

Options of demo
  --port N    0 takes any free port; without --port the next free one from ${DEFAULT_PORT} on
  --host H    the address to listen on; anything but loopback can be reached by others
  --stdio     no port; one JSON-RPC message per line`;

export const MISTAKE_HELP = `${COMMANDS}

Run "parley --help" for all options.`;
