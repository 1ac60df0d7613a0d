// What the people say who play the flows of examples/durable-flows, by the keys of the questions. Each play has a tenant or supplier of its own,
// who has its name; one whose name ends in `-no` refuses. In a drill (`-drill`) nobody says anything to what can be decided without an answer.
const LEVELS: Record<string, string> = {
  ...{ leavers: 'none', 'guest-devices': 'none', restores: 'basic', suppliers: 'none' },
  ...{ phones: 'basic', certificates: 'basic', phishing: 'basic', capacity: 'basic' },
};

const IMPACTS: Record<string, string> = { api: 'down', checkout: 'slow', search: 'fine' };
const LOG = { name: 'api.log', mimeType: 'text/plain', data: Buffer.from('503 503 503\n').toString('base64') };

/** What is asked on the page alone, by its words. */
export function answerTo(message: string, who: string): string | typeof LOG {
  return message.includes('A log of it?')
    ? LOG
    : (answerOf(message.includes('token') ? 'token' : message, who) as string);
}

export function isSilent(key: string, who: string): boolean {
  return who.endsWith('-drill') && (key === 'by' || key === 'words');
}

export function answerOf(key: string, who: string): unknown {
  const [field = '', option] = key.split(': ');
  // A choice of several, in a form that knows only yes and no.
  if (option !== undefined) return (answerOf(field, who) as string[]).includes(option);
  const parts = key.split('.');
  const [subject = '', last] = [parts[0], parts.at(-1)];
  switch (last) {
    case 'resume':
      return true; // a called flow was left behind when its server died
    case 'incident':
    case 'supplier':
    case 'tenant':
      return who;
    case 'from':
      return 'eu';
    case 'to':
      return 'us';
    case 'severity':
      return who.endsWith('-drill') ? 'drill' : 'major';
    case 'services':
      return Object.keys(IMPACTS);
    case 'by':
      return 'chat';
    case 'log':
      return LOG;
    case 'impact':
      return IMPACTS[subject];
    case 'token':
      return 'a token of the standby';
    case 'words':
      return 'Sorry for that';
    case 'level':
      return LEVELS[subject] ?? 'managed';
    case 'plan':
      return subject === 'leavers' ? 'A list, in May' : undefined;
    case 'has':
      return key.length % 3 !== 0;
    case 'file':
    case 'agreed':
      return !who.endsWith('-no');
    default:
      throw new Error(`Nobody knows what to say to ${key}`);
  }
}
