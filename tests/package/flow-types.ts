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

// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- whoever calls it names the type
function is<T>(_value: T): void {}

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
