// English. It says which texts there are; the other languages have the same. Placeholders are written as `{…}`.
import { ENGLISH } from '../../../kernel/form/answer-problem.ts';
import type { ProblemSentences } from '../../../kernel/form/answer-problem.ts';
import type { ClosedRound } from '../../question-round.ts';

/** Why a question is no longer open. */
const reasons: Record<ClosedRound['closed'], string> = {
  // Afterwards, or instead.
  answered: 'It has been answered. Nothing has been sent now.',
  'handed-over': 'It was handed over to somebody else. Nothing has been sent now.',
  withdrawn: 'It is no longer asked. Nothing has been sent now.',
  expired: 'The time for an answer is over. Nothing has been sent now.',
  ended: 'The work that needed it has ended. Nothing has been sent now.',
  paused:
    'The work that needs it is paused until a fix is deployed. Nothing has been sent now: open this link again later.',
};

const problems: ProblemSentences = {
  ...ENGLISH,
  dateTime: 'Enter a date, a time and a time zone.',
  pattern: 'This does not have the expected form.',
  choice: 'Choose one of the answers.',
};

export const en = {
  lang: 'en',
  // Who asks, and what for.
  title: 'A question for you',
  titleMany: '{count} questions for you',
  asks: 'A tool asks you',
  asksNamed: '{who} asks you',
  /** Parley itself asks, before it lets the tool be called. */
  gatewayAsks: 'Parley asks you, before {who} is called',
  forClient: 'You are using it from {client}.',
  theTool: 'the tool that asks',
  question: 'Question {number} of {count}',
  // The first page.
  waiting: 'A question is waiting for you',
  waitingText: 'It came up in your conversation. Once you continue, this link works in this browser only.',
  open: 'Continue',
  // The form.
  optional: 'optional',
  yes: 'Yes',
  no: 'No',
  noAnswer: 'No answer',
  pleaseChoose: 'Please choose',
  zone: 'Time zone of “{title}” (distance to UTC)',
  numberHint: 'A number, such as 12 or 3.5.',
  jsonHint: 'As JSON.',
  secretHint: 'It does not pass through the conversation and is not kept here.',
  fileHint: '{types}, at most {size}.',
  anyFile: 'Any file',
  lengthBetween: '{min} to {max} characters.',
  lengthAtLeast: 'At least {min} characters.',
  lengthAtMost: 'At most {max} characters.',
  between: 'From {min} to {max}.',
  atLeast: 'At least {min}.',
  atMost: 'At most {max}.',
  chooseBetween: 'Choose {min} to {max}.',
  chooseAtLeast: 'Choose at least {min}.',
  chooseAtMost: 'Choose at most {max}.',
  skip: 'I do not want to answer this question',
  cut: ' … (cut: too long to be shown)',
  tooMuch: 'This question is too large to be answered here. You can only decline it.',
  // A question that is answered on another page.
  leadsTo: 'This is done on another website:',
  wholeAddress: 'The whole address:',
  goTo: 'Go to {host}',
  newTab: 'opens in a new tab',
  haveDone: 'I have done it',
  badAddress: 'This address does not lead to a website, so it is not offered as a link.',
  localAddress:
    'This address is on this machine, so it is not offered as a link: another program there could read what this browser sends. Open it yourself only if you know the program.',
  // What to do with it.
  send: 'Send answer',
  agree: 'Agree',
  decline: 'Decline',
  /** Give the question to somebody else; also the button. */
  handOver: 'Hand over to somebody else',
  handOverTo: 'Who should answer instead of you?',
  handedOverTooOften: 'It has been handed over too often to be handed over again.',
  cancel: 'Cancel',
  next: 'Your answer goes to {who}, and the work in your conversation continues.',
  trust: 'Answer only if you expected to be asked.',
  minutes: 'This page is open for another {minutes} minutes.',
  oneMinute: 'This page is open for another minute.',
  hours: 'This page is open for another {hours} hours.',
  // Errors.
  errorTitle: 'There is a problem with your answer',
  errorsTitle: 'There are {count} problems with your answers',
  errorPrefix: 'Error:',
  sendAgain: 'Secrets and files have to be entered again.',
  answered: 'Your answer has been sent',
  declined: 'You have declined',
  handedOver: 'You have handed the question over',
  cancelled: 'You have cancelled',
  goBack: 'You can close this page and return to your conversation.',
  closed: 'This question is no longer open',
  paused: 'This question cannot be answered now',
  closedText: 'It was already answered, or cancelled. Nothing has been sent now.',
  gone: 'This link does not work',
  goneText:
    'It has expired, it was opened in another browser, it is for somebody else, or it is incomplete. If you opened it in this very browser, allow cookies. To get a new link, return to your conversation.',
  forged: 'This form was not accepted',
  forgedText:
    'It did not come from this page, or the page was too old. Open the link again and send the form from there.',
  tooLarge: 'This is too large',
  tooLargeText: 'At most {size} can be sent at once. Go back, and send less or a smaller file.',
  notAForm: 'This was not understood',
  notAFormText: 'Open the link again and send the form from there.',
  /** A browser that is not paired, or has no link. */
  pairing: {
    title: 'Pair this browser',
    text: 'Only a person may answer what is asked here. Show once that this is your browser: then it may answer for this gateway from now on.',
    code: 'Code',
    hint: 'Run “parley pair” on the machine of the gateway to get it.',
    pair: 'Pair this browser',
    wrong: 'This code does not work. Codes work once, and for a few minutes.',
    tooMany: 'There were too many wrong codes. Run “parley pair” again to get a new one.',
    open: 'Questions that wait for you',
    none: 'Nothing waits for you',
    noneText: 'Reload this page if you expect a question.',
    logIn: 'Log in',
    logInText: 'Only the person who is asked may answer here. Log in to show that it is you.',
    logInAt: 'Log in at {host}',
    somebodyElse: 'This browser is logged in as somebody else. Only the person who is asked may answer here.',
    loggedInAs: 'You are logged in as {who}.',
    switch: 'Log in as somebody else',
    logOut: 'Log out',
    loggedOut: 'You are logged out',
    loggedOutText: 'You may still be logged in at {host}. If others use this browser, log out there, too.',
  },
  problems,
  reasons,
  /** Texts that differ for people who are asked about somebody else's work. */
  forOthers: {
    waitingText: 'Somebody else’s work needs your answer. Once you continue, this link works in this browser only.',
    forClient: 'You are asked as {client}.',
    next: 'Your answer goes to {who}, and the work there continues.',
    trust: 'Answer only if you trust the sender of this link.',
    goBack: 'You can close this page.',
    goneText:
      'It was opened in another browser, it is for somebody else, or it is incomplete or too old. If you opened it in this very browser, allow cookies. Wait for a reminder, or ask the sender of the link for a new one.',
  },
};

/** What this file has, in any language. */
export type PageWords = typeof en;
