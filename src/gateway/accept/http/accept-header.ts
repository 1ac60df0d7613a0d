// Reads which content types a client accepts from its Accept header.
export interface AcceptedTypes {
  json: boolean;
  stream: boolean;
}

const BOTH: AcceptedTypes = { json: true, stream: true };

/** Without the header, a client gets plain JSON. */
export function readAccept(accept: string | undefined): AcceptedTypes {
  if (accept === undefined) return { json: true, stream: false };
  if (accept === 'application/json, text/event-stream') return BOTH;
  const types = accept.split(',').map((type) => type.split(';')[0]!.trim().toLowerCase());
  const any = types.includes('*/*');
  return {
    json: any || types.includes('application/json') || types.includes('application/*'),
    stream: any || types.includes('text/event-stream') || types.includes('text/*'),
  };
}
