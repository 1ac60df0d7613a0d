// A visit of a browser or client at the front, as Node has it.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { HttpRequest } from '../../../../kernel/base/http.ts';

export interface NodeVisit {
  request: IncomingMessage & Pick<HttpRequest, 'clientAddress'>;
  response: ServerResponse;
}
