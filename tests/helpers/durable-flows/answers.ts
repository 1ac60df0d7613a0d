// The answers of the people who play the flows of examples/durable-flows, by question key. Each play has its own tenant
// or supplier, named after it; one whose name ends in `-no` refuses. In a drill (`-drill`) nobody answers questions
// that can time out.
const LEVELS: Record<string, string> = {
  leavers: 'none',
  'guest-devices': 'none',
  restores: 'basic',
  suppliers: 'none',
  phones: 'basic',
  certificates: 'basic',
  phishing: 'basic',
  capacity: 'basic',
};

const IMPACTS: Record<string, string> = { api: 'down', checkout: 'slow', search: 'fine' };
const LOG = { name: 'api.log', mimeType: 'text/plain', data: Buffer.from('503 503 503\n').toString('base64') };

/** Answers questions that only the page asks, by their message. */
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
  // A multiple choice in a form that only has booleans.
  if (option !== undefined) return (answerOf(field, who) as string[]).includes(option);
  const parts = key.split('.');
  const [subject = '', last] = [parts[0], parts.at(-1)];
  switch (last) {
    case 'resume':
      return true; // the server died during a called flow
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
