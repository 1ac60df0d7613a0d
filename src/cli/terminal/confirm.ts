// A yes/no prompt like that of @clack/prompts, except after a cancel: clack shows the answer that nobody gave, struck through, which many
// terminals show as plain text.
import { styleText } from 'node:util';
import { ConfirmPrompt } from '@clack/core';
import { S_BAR, S_BAR_END, S_RADIO_ACTIVE, S_RADIO_INACTIVE, symbol } from '@clack/prompts';
import type { CommonOptions } from '@clack/prompts';

interface ConfirmOptions extends Required<Pick<CommonOptions, 'output' | 'signal'>> {
  message: string;
  initialValue: boolean;
}

const [YES, NO] = ['Yes', 'No'];

/** Resolves with clack's cancel symbol if the user cancels. */
export function confirm({ message, ...options }: ConfirmOptions): Promise<boolean | symbol | undefined> {
  const bar = styleText('gray', S_BAR);
  const open = styleText('cyan', S_BAR);
  return new ConfirmPrompt({
    active: YES,
    inactive: NO,
    ...options,
    render() {
      const { state, value } = this;
      const title = message.split('\n').join(`\n${bar}  `);
      const head = `${bar}\n${symbol(state)}  ${title}\n`;
      if (state === 'cancel') return `${head}${bar}  ${styleText('dim', 'Not answered')}\n${bar}`;
      if (state === 'submit') return `${head}${bar}  ${styleText('dim', value ? YES : NO)}`;
      return `${head}${open}  ${choice(YES, value === true)} ${styleText('dim', '/')} ${choice(NO, value !== true)}\n${styleText('cyan', S_BAR_END)}\n`;
    },
  }).prompt();
}

function choice(label: string, isChosen: boolean): string {
  if (isChosen) return `${styleText('green', S_RADIO_ACTIVE)} ${label}`;
  return `${styleText('dim', S_RADIO_INACTIVE)} ${styleText('dim', label)}`;
}
