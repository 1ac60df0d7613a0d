// The questions that wait for a person, and the answers given in the console. Who may answer is what people/trust says: the same browser with the same
// cookie could answer on the page of the question. Arguments are shown whole, because a person approves only what they have seen.
import type { HttpRequest } from '../../../kernel/base/http.ts';
import type { Log } from '../../../kernel/base/log.ts';
import { printable, visible } from '../../../kernel/base/visible.ts';
import type { HumanChannel } from '../../../people/human-channel.ts';
import { readForm } from '../../../people/page/read-form.ts';
import { toSections } from '../../../people/page/render/sections.ts';
import type { QuestionRound, RoundAnswer } from '../../../people/question-round.ts';
import { maySee } from './viewers.ts';
import type { Viewer } from './viewers.ts';
import type { QuestionRow } from './views.ts';

export type AnswerOutcome = 'taken' | 'not-yours' | 'gone' | 'not-here';

export class WaitingQuestions {
  readonly #people: HumanChannel;
  readonly #log: Log;

  constructor(people: HumanChannel, log: Log) {
    this.#people = people;
    this.#log = log;
  }

  /** The oldest first. */
  async list(viewer: Viewer, request: HttpRequest): Promise<QuestionRow[]> {
    const rows: QuestionRow[] = [];
    const { proof } = this.#people;
    for (const round of [...proof.rounds(), ...(await proof.elsewhere())]) {
      if (!round.isOpen) continue;
      const who = await this.#proofOf(round, viewer, request);
      if (who === undefined && !maySee(viewer, round.user ?? '')) continue;
      rows.push(await this.#toRow(round, who !== undefined));
    }
    return rows.sort((a, b) => (a.since ?? 0) - (b.since ?? 0));
  }

  /** Answers a question of yes and no, or declines any. One of another gateway has been forwarded there. */
  async answer(form: FormData, viewer: Viewer, request: HttpRequest): Promise<AnswerOutcome> {
    const handle = form.get('handle');
    const round = [...this.#people.proof.rounds()].find((one) => one.handle === handle);
    if (!round?.isOpen || round.waitsFor !== undefined) return 'gone';
    const who = await this.#proofOf(round, viewer, request);
    if (who === undefined) return 'not-yours';
    const answers = await toAnswers(round, form);
    if (!answers) return 'not-here';
    const taken = await round.answer(answers, 'page', who);
    if (taken !== true) return 'gone';
    this.#log.info({ handle: round.handle, who }, 'console.answered');
    return 'taken';
  }

  /** A program is never believed, whatever it may see. */
  async #proofOf(round: QuestionRound, { way }: Viewer, request: HttpRequest): Promise<string | undefined> {
    return way === 'token' ? undefined : this.#people.proof.answerTrust.proofOf(round, request);
  }

  async #toRow(round: QuestionRound, isTheirs: boolean): Promise<QuestionRow> {
    const { handle, about, user, since, expiresAt, waitsFor } = round;
    const questions = toSections(round).map(({ message, isConfirm, url, fields: [first] }) => ({
      message: printable(message),
      hint: isConfirm ? toHint(first?.description) : null,
      isConfirm,
      host: url ? visible(url.host) : null,
    }));
    return {
      handle,
      tool: about.tool === undefined ? null : visible(about.tool),
      server: about.server ?? null,
      client: visible(about.client),
      user: user === undefined ? null : visible(user),
      since: since ?? null,
      expires: expiresAt,
      isTheirs,
      questions,
      link: isTheirs && questions.length > 0 ? await this.#people.pageEndpoint.link(round) : null,
      waitsFor: waitsFor === undefined ? null : printable(waitsFor),
    };
  }
}

/** Undefined for a form that has to be filled in on its own page. */
async function toAnswers(round: QuestionRound, form: FormData): Promise<Record<string, RoundAnswer> | undefined> {
  const sections = toSections(round);
  const [only] = sections;
  const says = form.get('say');
  if (says === 'decline') return Object.fromEntries(sections.map(({ key }) => [key, { action: 'decline' }]));
  if (sections.length !== 1 || !only?.isConfirm || (says !== 'yes' && says !== 'no')) return undefined;
  const filled = new FormData();
  filled.set(`${only.name}.0`, String(says === 'yes'));
  const read = await readForm(sections, filled);
  return 'answers' in read ? read.answers : undefined;
}

/** What the button Yes says by itself reads as advice beside it. */
function toHint(description = ''): string | null {
  const rest = description.replace(/^Yes, call it\.\s*/, '');
  return rest === '' ? null : printable(rest);
}
