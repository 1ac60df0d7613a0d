// Records a caller that was turned away: no login, too little allowed, a foreign Host or Origin. It notes where the request came from and what it
// wanted, but nothing that the caller sent as a proof.
import type { RecordAudit } from '../../protocol/audit.ts';
import { GatewayError } from '../../shared/errors.ts';
import { addressOf } from '../../shared/net/network-of.ts';
import type { HttpRequest } from '../../shared/http.ts';

type RefusedRequest = Pick<HttpRequest, 'url' | 'method' | 'socket' | 'headers' | 'clientAddress'>;

export function recordRefusal(audit: RecordAudit | undefined, thrown: unknown, request: RefusedRequest): void {
  if (!audit || !(thrown instanceof GatewayError)) return;
  const { code, row, details } = thrown;
  if (row.status !== 401 && row.status !== 403) return;
  const { reason, scope } = details;
  const from = addressOf(request);
  audit({
    kind: 'refusal',
    method: request.method,
    name: (request.url ?? '').split('?', 1)[0],
    outcome: code,
    details: {
      status: row.status,
      ...(typeof reason === 'string' && { reason }),
      ...(typeof scope === 'string' && { scope }),
      ...(from !== undefined && { from }),
      ...(request.headers.origin !== undefined && { origin: request.headers.origin }),
    },
  });
}
