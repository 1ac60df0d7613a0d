// The texts of the page in each language, and the choice by browser preference. A server's question is shown as
// written.
import { languagesOf } from '../../../../shared/text/accept-language.ts';
import type { ProblemSentences } from '../../../../protocol/form/answer-problem.ts';
import type { ClosedRound } from '../../question-round.ts';
import { de } from './de.ts';
import { en } from './en.ts';
import { es } from './es.ts';
import { fr } from './fr.ts';

/** Placeholders are written as `{…}`. */
export interface PageWords {
  readonly lang: string;
  // Who asks, and what for.
  readonly title: string;
  readonly titleMany: string;
  readonly asks: string;
  readonly asksNamed: string;
  /** Parley itself asks, before it lets the tool be called. */
  readonly gatewayAsks: string;
  readonly forClient: string;
  readonly theTool: string;
  readonly question: string;
  // The first page.
  readonly waiting: string;
  readonly waitingText: string;
  readonly open: string;
  // The form.
  readonly optional: string;
  readonly yes: string;
  readonly no: string;
  readonly noAnswer: string;
  readonly pleaseChoose: string;
  readonly zone: string;
  readonly numberHint: string;
  readonly jsonHint: string;
  readonly secretHint: string;
  readonly fileHint: string;
  readonly anyFile: string;
  readonly lengthBetween: string;
  readonly lengthAtLeast: string;
  readonly lengthAtMost: string;
  readonly between: string;
  readonly atLeast: string;
  readonly atMost: string;
  readonly chooseBetween: string;
  readonly chooseAtLeast: string;
  readonly chooseAtMost: string;
  readonly skip: string;
  readonly cut: string;
  readonly tooMuch: string;
  // A question that is answered on another page.
  readonly leadsTo: string;
  readonly wholeAddress: string;
  readonly goTo: string;
  readonly newTab: string;
  readonly haveDone: string;
  readonly badAddress: string;
  // What to do with it.
  readonly send: string;
  readonly agree: string;
  readonly decline: string;
  /** Give the question to somebody else; also the button. */
  readonly handOver: string;
  readonly handOverTo: string;
  readonly handedOverTooOften: string;
  readonly cancel: string;
  readonly next: string;
  readonly trust: string;
  readonly minutes: string;
  readonly oneMinute: string;
  readonly hours: string;
  // Errors.
  readonly errorTitle: string;
  readonly errorsTitle: string;
  readonly errorPrefix: string;
  readonly sendAgain: string;
  // Afterwards, or instead.
  readonly answered: string;
  readonly declined: string;
  readonly handedOver: string;
  readonly cancelled: string;
  readonly goBack: string;
  readonly closed: string;
  readonly paused: string;
  readonly closedText: string;
  readonly gone: string;
  readonly goneText: string;
  readonly forged: string;
  readonly forgedText: string;
  readonly tooLarge: string;
  readonly tooLargeText: string;
  readonly notAForm: string;
  readonly notAFormText: string;
  /** A browser that is not paired, or has no link. */
  readonly pairing: Readonly<Record<PairingWord, string>>;
  readonly problems: ProblemSentences;
  /** Why a question is no longer open. */
  readonly reasons: Readonly<Record<ClosedRound['closed'], string>>;
  /** Texts that differ for people who are asked about somebody else's work. */
  readonly forOthers: Readonly<Record<OtherWord, string>>;
}

type PairingWord =
  | ('title' | 'text' | 'code' | 'hint' | 'pair' | 'wrong' | 'tooMany' | 'open' | 'none' | 'noneText')
  | ('logIn' | 'logInText' | 'logInAt' | 'somebodyElse' | 'loggedInAs' | 'switch')
  | ('logOut' | 'loggedOut' | 'loggedOutText');

type OtherWord = 'waitingText' | 'forClient' | 'next' | 'trust' | 'goBack' | 'goneText';

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
