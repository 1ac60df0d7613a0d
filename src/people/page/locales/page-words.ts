// The texts of the page in each language, and the choice by browser preference. A server's question is shown as
// written.
import { languagesOf } from '../../../kernel/base/http.ts';
import { de } from './de.ts';
import { en } from './en.ts';
import { es } from './es.ts';
import { fr } from './fr.ts';
import type { PageWords } from './en.ts';

/** For people who are asked about somebody else's work. */
export function wordsForOthers(words: PageWords): PageWords {
  return { ...words, ...words.forOthers };
}

const LANGUAGES: Record<string, PageWords> = { en, de, fr, es };

/** Chooses by `Accept-Language`; regions count as their language. Default: English. */
export function wordsFor(acceptLanguage: string | undefined): PageWords {
  const wanted = languagesOf(acceptLanguage).map((tag) => tag.toLowerCase().split('-')[0]!);
  const best = wanted.find((language) => Object.hasOwn(LANGUAGES, language));
  return best === undefined ? en : LANGUAGES[best]!;
}

export function fill(sentence: string, values: Record<string, string | number>): string {
  return sentence.replaceAll(/\{(\w+)\}/g, (whole, name: string) => String(values[name] ?? whole));
}
