// The answers of every client of the suite. `elicit` may be changed between calls.

export const ROOTS = [{ uri: 'file:///work', name: 'work' }];

export function createAnswers() {
  return {
    elicit: { action: 'accept', content: { name: 'Ada' } },
    sample: { role: 'assistant', content: { type: 'text', text: 'Four' }, model: 'test-model', stopReason: 'endTurn' },
  };
}
