// The types of answers, as the options of their questions determine them.
/** The type of an answer. It includes undefined if the question is optional or may time out, unless there is a default. */
export type AnswerValue<O, T> = O extends { default: unknown }
  ? T
  : O extends { onTimeout: 'default' }
    ? T | undefined
    : O extends { required: infer R }
      ? T | (false extends R ? undefined : never)
      : T;

/** Refuses unknown options, so that a misspelled one does not compile. */
export type Only<O, Known> = O & { [Name in Exclude<keyof O, keyof Known>]: never };

export type ValueOf<C> = C extends { value: infer V } ? V : C;
