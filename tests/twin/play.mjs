// Plays one conversation: directly with a server, or through a gateway of a build.
import { Gateway } from './gateway.mjs';
import { ReplicatedGateway } from './replicated-gateway.mjs';
import { RawClient } from './peers/raw-client.mjs';
import { SdkClient } from './peers/sdk-client.mjs';
import { RawServer } from './peers/raw-server.mjs';
import { listen } from './peers/listen.mjs';
import { NeverCame, Tape } from './tape.mjs';

const PLAY_MS = 60_000;

/** `{ tape, broke? }`. Both ends speak `revision` over `transport`. */
export async function playDirectly(conversation, { revision, transport, words, peer }) {
  const tape = new Tape();
  const server = new RawServer(tape, { revision, words, hasTasks: conversation.hasTasks });
  const listener = await listen(server, transport);
  const own = { transport: transport === 'stdio' ? 'memory' : transport, server, url: listener.address.url };
  const way = peer ? { transport, ...listener.address } : own;
  const wayOf = () => way;
  try {
    return await perform(conversation, { tape, server, listener, revision, words, peer, wayOf, isDirect: true });
  } finally {
    await listener.close();
  }
}

/** `deadlineMs`: how long to wait for what may never come. */
export async function playThrough(conversation, { client, server: other, build, deadlineMs }) {
  const tape = new Tape(deadlineMs);
  const server = new RawServer(tape, { revision: other.revision, hasTasks: conversation.hasTasks });
  const listener = await listen(server, other.transport);
  const made = (await conversation.gateway?.({ server, listener, transport: other.transport })) ?? {};
  const how = { address: listener.address, ...made };
  const gateway = build.replicas ? new ReplicatedGateway(build, how) : new Gateway(build.dist, how);
  const wayOf = () => gateway.wayOf(client.transport);
  try {
    const played = await perform(conversation, {
      tape,
      server,
      listener,
      gateway,
      revision: client.revision,
      peer: client.peer,
      wayOf,
      isDirect: false,
    });
    return { ...played, log: gateway.log };
  } finally {
    await gateway.close();
    await listener.close();
    await made.close?.();
  }
}

async function perform(conversation, stage) {
  const { tape, revision, words, peer, wayOf } = stage;
  const clients = [];
  const join = async (who) => {
    const Client = peer ? SdkClient : RawClient;
    const client = new Client(tape, {
      who,
      revision,
      words,
      peer,
      isPlain: conversation.isPlain,
      hasTasks: conversation.hasTasks,
    });
    clients.push(client);
    return client.open(await wayOf());
  };
  let broke;
  try {
    await within(conversation.play({ ...stage, join, a: await join('A'), b: await join('B') }));
  } catch (error) {
    broke = error instanceof NeverCame ? error.message : error.stack;
  }
  const notes = clients.map(({ notes: own }) => own).join('');
  for (const client of clients) await client.close();
  return { tape, broke, notes };
}

function within(promise) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new NeverCame('the end of the conversation')), PLAY_MS);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}
