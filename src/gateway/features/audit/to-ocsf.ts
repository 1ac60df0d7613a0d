// Lines of the audit log as events of the Open Cybersecurity Schema Framework (https://schema.ocsf.io, version 1.6): calls as API Activity,
// refused callers and logins as Authentication. What has no place there is in `unmapped`.
import type { JsonObject } from '../../../kernel/message.ts';
import { GET_PROMPT, READ_RESOURCE } from '../../../kernel/methods.ts';
import type { AuditLine } from './audit-lines.ts';

const VERSION = '1.6.0';
const API_ACTIVITY = { category_uid: 6, class_uid: 6003 };
const AUTHENTICATION = { category_uid: 3, class_uid: 3002 };
const OTHER = 99;
const LOGON = 1;
const INFORMATIONAL = 1;
const LOW = 2;
const SUCCESS = 1;
const FAILURE = 2;

/** The activities of API Activity, by what the method does as far as its name says it. */
const ACTIVITY: Record<string, number> = { [READ_RESOURCE]: 2, [GET_PROMPT]: 2 };

/** Undefined for lines that are about the log itself. */
export function toOcsf(line: AuditLine, chain: string): JsonObject | undefined {
  const { kind, seq, time, outcome = '', ms, exchange, decision, details } = line;
  if (kind === 'start' || kind === 'checkpoint' || kind === 'end' || kind === 'lost') return undefined;
  const isOpen = outcome === 'input_required' || outcome === 'working' || outcome === 'running';
  const isGood = ['ok', 'given', 'accepted'].includes(outcome) || (kind !== 'refusal' && outcome === '');
  const isLogin = kind === 'refusal' || kind === 'login';
  const about = isLogin ? toAuthentication(line) : toApiActivity(line);
  return {
    metadata: {
      version: VERSION,
      product: { name: 'Parley', vendor_name: 'mcp-parley' },
      log_name: 'audit',
      uid: `${chain}:${seq}`,
      ...(exchange !== undefined && { correlation_uid: exchange }),
    },
    time: Date.parse(time),
    severity_id: isGood || isOpen ? INFORMATIONAL : LOW,
    status_id: isOpen ? OTHER : isGood ? SUCCESS : FAILURE,
    ...(outcome !== '' && { status_code: outcome }),
    ...(ms !== undefined && { duration: Math.round(ms) }),
    ...about,
    unmapped: { kind, ...(decision && { decision }), ...(details && { details }) },
  };
}

function toApiActivity({ kind, method = '', server, name, principal }: AuditLine): JsonObject {
  const activity = kind === 'call' ? (ACTIVITY[method] ?? OTHER) : OTHER;
  return {
    ...API_ACTIVITY,
    activity_id: activity,
    ...(activity === OTHER && { activity_name: kind === 'call' ? method : kind }),
    type_uid: API_ACTIVITY.class_uid * 100 + activity,
    actor: { user: { uid: principal ?? 'unknown' } },
    api: { operation: method, ...(server !== undefined && { service: { name: server } }) },
    src_endpoint: { name: 'client' },
    ...(name !== undefined && { resources: [{ name, type: method.split('/')[0] }] }),
  };
}

function toAuthentication({ principal, server, name, details }: AuditLine): JsonObject {
  const from = details?.from;
  return {
    ...AUTHENTICATION,
    activity_id: LOGON,
    type_uid: AUTHENTICATION.class_uid * 100 + LOGON,
    user: { uid: principal ?? 'unknown' },
    service: { name: server ?? 'parley' },
    ...(typeof from === 'string' && { src_endpoint: { ip: from } }),
    ...(name !== undefined && { message: name }),
  };
}
