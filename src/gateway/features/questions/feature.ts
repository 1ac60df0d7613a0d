// Finds a person for whatever is asked behind it.
import { defineFeature } from '../feature.ts';

export const questions = defineFeature<object>({
  name: 'questions',
  create: (_options, { people }) => ({ layer: people.layer }),
});
