// Compiled by `tsc -p tsconfig.json`, never run: what a flow's author is promised about types.
import type { JSONRPCRequest, Request } from '@modelcontextprotocol/client';
import { z } from 'zod';
import { f, flow } from 'mcp-parley/flow';
import type {
  Ask,
  FileRef,
  InteractionCancelRequest,
  InteractionCompleteRequest,
  InteractionContinueRequest,
  InteractionGetStateRequest,
  InteractionPromptRequest,
  InteractionRespondRequest,
  InteractionStartRequest,
  Secret,
} from 'mcp-parley/flow';
import type { KeptAsJson } from '../../src/flow/authoring/step.ts';

/** `any` is the same as nothing. */
type Same<A, B> = 0 extends 1 & A ? false : [A] extends [B] ? ([B] extends [A] ? true : false) : false;
type Is<T extends true> = T;

/** The messages of MCP Flow are requests of the official SDK. */
export type Requests = [
  Is<InteractionStartRequest extends Request ? true : false>,
  Is<InteractionPromptRequest extends Request ? true : false>,
  Is<InteractionRespondRequest extends Request ? true : false>,
  Is<InteractionContinueRequest extends Request ? true : false>,
  Is<InteractionCompleteRequest extends Request ? true : false>,
  Is<InteractionCancelRequest extends Request ? true : false>,
  Is<InteractionGetStateRequest extends Request ? true : false>,
  Is<Same<InteractionStartRequest['method'], 'interaction.start'>>,
  Is<{ jsonrpc: '2.0'; id: 1 } & InteractionStartRequest extends JSONRPCRequest ? true : false>,
];

// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the caller names the type
function is<T>(_value: T): void {}

/** A misspelled option would be ignored. */
export async function misspelledOptionsAreRefused(ask: Ask): Promise<void> {
  const schema = z.string();
  // @ts-expect-error it would go through a model
  await ask.text('a', { message: 'Password?', secert: true });
  // @ts-expect-error
  await ask.text('b', { schema, requird: false });
  // @ts-expect-error
  await ask.text('c', { secret: true, mesage: 'Password?' });
  // @ts-expect-error
  await ask.number('d', { min: 1, integr: true });
  // @ts-expect-error
  await ask.confirm('e', { message: 'Sure?', By: 'human' });
  // @ts-expect-error
  await ask.date('f', { min: '2026-01-01', maximum: '2026-12-31' });
  // @ts-expect-error
  await ask.choice('g', ['a', 'b'], { message: 'Which?', defualt: 'a' });
  // @ts-expect-error
  await ask.choices('h', ['a', 'b'], { message: 'Which?', minimum: 1 });
  // @ts-expect-error
  await ask.file('i', { accept: ['.csv'], maxSize: 10 });
  // @ts-expect-error
  await ask.custom('j', { schema, timout: '5m' });
  // @ts-expect-error
  await ask.form('k', { x: f.text() }, { message: 'Who?', alon: true });
  // @ts-expect-error
  await ask.step('l', () => 1, { efect: 'once' });
  // @ts-expect-error
  f.text({ min: 1, patern: 'x' });
  // @ts-expect-error
  f.choice(['a'], { label: 'A', requierd: false });
  // @ts-expect-error
  flow({ name: 'm', descripton: 'x' }, async () => 1);
}

/** A value that is not certain at compile time may be missing. */
export async function doubtsAreTyped(ask: Ask, required: boolean): Promise<void> {
  const maybe = await ask.text('a', { required });
  // @ts-expect-error it may not be there
  is<string>(maybe);
  const late = await ask.number('b', { onTimeout: 'default', timeout: '5m' });
  // @ts-expect-error there is no default
  is<number>(late);
  is<number>(await ask.number('c', { onTimeout: 'default', timeout: '5m', default: 1 }));
  const secret = await ask.text('d', { secret: true, required: false });
  // @ts-expect-error it may not be there
  is<Secret>(secret);
}

interface Tree {
  readonly name: string;
  readonly children: readonly Tree[];
}

/** The journal keeps JSON: a Date would come back as a string, a Map as `{}`. */
export async function stepsReturnJson(ask: Ask, anything: unknown): Promise<void> {
  // @ts-expect-error
  await ask.step('a', () => new Date());
  // @ts-expect-error
  await ask.step('b', async () => new Map([['a', 1]]));
  // @ts-expect-error
  await ask.step('c', async () => ({ rows: [{ at: new Date() }] }));
  // @ts-expect-error
  await ask.step('d', async () => (anything ? 'late' : new Set(['a'])));
  // @ts-expect-error
  await ask.step('e', () => ({ run: () => 1 }));
  // @ts-expect-error
  await ask.step('f', () => 1n, { effect: 'once' });
  // @ts-expect-error
  await ask.step('g', () => new Uint8Array(1));
  is<Tree>(await ask.step('h', (): Tree => ({ name: 'root', children: [] })));
  is<unknown>(await ask.step('i', () => anything));
  is<void>(await ask.step('j', () => {}));
  is<{ id: string; note?: string } | null>(
    await ask.step('k', async (): Promise<{ id: string; note?: string } | null> => null, {
      effect: 'once',
      check: async (step) => ({ id: step.idempotencyKey }),
      undo: (order) => order?.id,
    }),
  );
  // @ts-expect-error undo needs an effect
  await ask.step('o', () => 1, { undo: () => {} });
  // @ts-expect-error so does check
  await ask.step('p', () => 1, { check: () => 1 });
  is<readonly [number, 'x']>(await ask.step('l', () => [1, 'x'] as const));
  is<{ name: string; message: string }>(await ask.step('n', () => ({ name: 'a', message: 'looks like an Error' })));
  is<string>((await ask.step('m', (step) => step.call<{ id: string }>('book'))).structuredContent.id);
}

/** So does the result of a flow. */
export function flowsReturnJson(anything: unknown): void {
  // @ts-expect-error
  flow({ name: 'a' }, async () => ({ id: 7n }));
  // @ts-expect-error
  flow({ name: 'b' }, async () => new Map([['a', 1]]));
  // @ts-expect-error
  flow({ name: 'c' }, async (ask) => ({ at: new Date(ask.now()) }));
  // @ts-expect-error
  flow({ name: 'd' }, async () => [() => 1]);
  // @ts-expect-error
  flow({ name: 'e', output: z.object({ id: z.bigint() }) }, async () => ({ id: 7n }));
  flow({ name: 'f' }, async () => {});
  flow({ name: 'g' }, async () => anything);
  flow({ name: 'h' }, async (ask) => ({ name: await ask.text('name'), file: await ask.file('file') }));
  flow({ name: 'i', output: z.object({ id: z.number() }) }, async () => ({ id: 7 }));
  flow({ name: 'j' }, async (): Promise<Tree> => ({ name: 'root', children: [] }));
  // @ts-expect-error it is not the output
  flow({ name: 'k', output: z.object({ id: z.number() }) }, async () => ({ id: 'x' }));
}

export function genericStep<T>(ask: Ask, work: (() => Promise<T>) & KeptAsJson<T>): Promise<T> {
  return ask.step('a', work);
}

export async function answersAreTyped(ask: Ask): Promise<void> {
  is<string>(await ask.text('a'));
  is<string | undefined>(await ask.text('b', { required: false }));
  const optional = await ask.text('b', { required: false });
  // @ts-expect-error it may not be there
  is<string>(optional);
  is<string>(await ask.text('c', { required: false, default: 'x' }));
  is<{ readonly n: number }>(await ask.text('d', { schema: z.string().transform((text) => ({ n: text.length })) }));
  is<Secret>(await ask.text('e', { secret: true }));
  is<number | undefined>(await ask.number('f', { min: 1, required: false }));
  is<boolean>(await ask.confirm('g'));
  is<string>(await ask.date('h', { min: ask.today() }));
  is<'economy' | 'business'>(await ask.choice('i', ['economy', 'business']));
  is<1 | 2>(await ask.choice('j', [{ value: 1, label: 'One' }, { value: 2 }]));
  is<'a' | 'b' | undefined>(await ask.choice('k', ['a', 'b'], { required: false }));
  is<readonly ('a' | 'b')[]>(await ask.choices('l', ['a', 'b'], { max: 1 }));
  is<FileRef>(await ask.file('m', { accept: ['image/*'] }));
  is<{ x: number }>(await ask.custom('n', { schema: z.object({ x: z.number() }) }));
  is<{ readonly name: string; readonly age: number | undefined; readonly kind: 'cat' | 'dog' }>(
    await ask.form('o', {
      name: f.text({ min: 1 }),
      age: f.number({ required: false }),
      kind: f.choice(['cat', 'dog']),
    }),
  );
  const short = (text: string) => (text.length > 3 ? 'too long' : undefined);
  is<{ readonly x: string } | undefined>(
    await ask.form('s', { x: f.text() }, { required: false, validate: ({ x }) => short(x) }),
  );
  // @ts-expect-error it may be left out
  is<{ readonly x: string }>(await ask.form('t', { x: f.text() }, { required: false }));
  is<{ price: number }>(await ask.step('p', async (step) => ({ price: step.attempt })));
  const tried = await ask.try(ask.text('q'));
  is<string>(tried.ok ? tried.value : tried.reason);
  // @ts-expect-error not one of the choices
  await ask.choice('r', ['a', 'b'], { default: 'c' });
  const computed: string = 'x';
  // @ts-expect-error a key is the same in every run, so it is written out
  await ask.text(computed);
}

export const typed = flow(
  { name: 'typed', input: z.object({ city: z.string().optional() }), output: z.object({ booked: z.boolean() }) },
  async (ask, input) => {
    is<string | undefined>(input.city);
    return { booked: await ask.confirm('ok') };
  },
);

// @ts-expect-error the result must fit the output
flow({ name: 'wrong', output: z.object({ booked: z.boolean() }) }, async () => ({ booked: 'yes' }));
