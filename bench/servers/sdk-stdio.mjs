import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { sdkServer } from './sdk-server.mjs';
import { ready } from './usage.mjs';

serveStdio(sdkServer);
ready();
