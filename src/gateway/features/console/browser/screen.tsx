// How wide the screen is, for what a stylesheet cannot know.
import { signal } from '@preact/signals';

/** As in the stylesheet. */
const NARROW = matchMedia('(max-width: 52rem)');

export const isNarrow = signal(NARROW.matches);
NARROW.addEventListener('change', () => (isNarrow.value = NARROW.matches));
