// Verifies an audit log: each chain by itself, and that no chain is missing that a later one names.
import type { KeyObject } from 'node:crypto';
import { isObject } from '../../../kernel/message.ts';
import type { JsonObject } from '../../../kernel/message.ts';
import { isLiveProcess } from '../../../kernel/files/lease-holder.ts';
import { lazyCrypto } from '../../../kernel/crypto/lazy-crypto.ts';
import { listAuditFiles, fromPublicText, readSigningKey, toPublicText } from './audit-folder.ts';
import type { AuditFile } from './audit-folder.ts';
import type { AuditHead } from './audit-heads.ts';
import { checkpointText, readLine, readLines, startText } from './audit-lines.ts';
import { ChainReader, FIRST, hashLine } from './chained-lines.ts';
import type { AuditLine } from './audit-lines.ts';

interface VerifyOptions {
  /** A hash that was noted earlier: its line must still be there. */
  head?: string | undefined;
  /** Heads that were sent elsewhere when they were signed (audit-heads.ts). */
  heads?: readonly AuditHead[] | undefined;
  /** The public key, kept elsewhere. Default: the one next to the log. */
  key?: string | undefined;
}

export interface AuditReport {
  chains: number;
  lines: number;
  problems: string[];
  notes: string[];
  /** The hash of the newest signed line: note it elsewhere, and give it to the next verification. */
  head: string | undefined;
}

/** Throws if `key` is not a public key. */
export function verifyAudit(folder: string, { head, heads, key }: VerifyOptions = {}): AuditReport {
  const own = key === undefined ? readSigningKey(folder) : undefined;
  const publicKey = key === undefined ? own && lazyCrypto().createPublicKey(own) : fromPublicText(key);
  const byChain = new Map<string, AuditFile[]>();
  for (const file of listAuditFiles(folder)) byChain.set(file.chain, [...(byChain.get(file.chain) ?? []), file]);
  const reports = [...byChain].map(([chain, files]) => verifyChain(chain, files, publicKey));
  const problems = [...reports.flatMap((report) => report.problems), ...findMissing(reports)];
  if (head !== undefined && !reports.some(({ hashes }) => [...hashes.values()].includes(head)))
    problems.push('the head is in no file: lines were removed or replaced');
  const sent = heads && compareHeads(heads, reports, key ?? (own && toPublicText(own)));
  const newest = reports.flatMap((report) => report.head ?? []).toSorted((a, b) => b.time.localeCompare(a.time));
  return {
    chains: reports.length,
    lines: reports.reduce((sum, { lines }) => sum + lines, 0),
    problems: [...problems, ...(sent?.problems ?? [])],
    notes: [...reports.flatMap(({ notes }) => notes), ...(sent?.notes ?? [])],
    head: newest[0]?.hash,
  };
}

/** Chains and files that are named and not there, although no process has removed them to make room. */
function findMissing(reports: readonly ChainReport[]): string[] {
  const starts = reports.flatMap((report) => report.starts.map(({ line }) => line.details ?? {}));
  const dropped = new Set(droppedFiles(reports));
  const known = new Map(reports.map((report) => [report.chain, report]));
  const wasDropped = (chain: string): boolean => [...dropped].some((name) => name.includes(`.${chain}.`));
  // The oldest go first; the file that tells of one may be gone itself by now.
  const lastDropped = (chain: string): number => Math.max(-1, ...[...dropped].map((name) => partOf(name, chain)));
  const cut = reports.flatMap(({ chain, files }) =>
    missingParts(files)
      .filter((part) => part > lastDropped(chain))
      .map((part) => `file ${part} of the chain ${chain} is missing`),
  );
  const gone = starts.flatMap((details) => {
    const about = typeof details.chain === 'string' ? details.chain : '';
    return listIn(details, 'after').flatMap((named) => {
      if (!isObject(named) || typeof named.chain !== 'string' || typeof named.seq !== 'number') return [];
      const report = known.get(named.chain);
      if (wasDropped(named.chain) && !report?.hashes.has(named.seq)) return [];
      if (!report) return [`the chain ${named.chain} is missing, which the chain ${about} names`];
      const hash = report.hashes.get(named.seq);
      if (hash === named.hash) return [];
      const what = hash === undefined ? 'was cut off before' : 'was changed at';
      return [`the chain ${named.chain} ${what} line ${named.seq}, which the chain ${about} names`];
    });
  });
  return [...new Set([...cut, ...gone])];
}

/** Each head must be in its chain, unless its file was removed to make room. */
function compareHeads(
  heads: readonly AuditHead[],
  reports: readonly ChainReport[],
  key: string | undefined,
): Pick<AuditReport, 'problems' | 'notes'> {
  const own = heads.filter((head) => head.key === key);
  const foreign = heads.length - own.length;
  const known = new Map(reports.map((report) => [report.chain, report]));
  const dropped = droppedFiles(reports);
  const problems = new Set<string>();
  let removed = 0;
  for (const { chain, seq, hash, time } of own) {
    const report = known.get(chain);
    const found = report?.hashes.get(seq);
    if (found === hash) continue;
    if (found !== undefined)
      problems.add(`the chain ${chain} was changed before line ${seq}, which a head of ${time} names`);
    else if (report && seq > Math.max(...report.hashes.keys()))
      problems.add(`the chain ${chain} was cut off before line ${seq}, which a head of ${time} names`);
    else if (dropped.some((name) => name.includes(`.${chain}.`))) removed++;
    else
      problems.add(`${report ? 'the beginning of ' : ''}the chain ${chain} is missing, which a head of ${time} names`);
  }
  if (own.length === 0)
    problems.add('no head is of the key of this log: the log was replaced, or the heads are of another user');
  const notes = [
    ...(foreign > 0 && own.length > 0
      ? [`${foreign} of ${heads.length} heads are of other keys, such as those of other users`]
      : []),
    ...(removed > 0 ? [`${removed} of ${heads.length} heads are of files that were removed to make room`] : []),
  ];
  return { problems: [...problems], notes };
}

/** The files that were removed to make room. Anybody who can write the folder can plant a file that says so, so only what is signed counts. */
function droppedFiles(reports: readonly ChainReport[]): string[] {
  const signed = reports.flatMap((report) => report.starts.filter(({ isSigned }) => isSigned));
  return signed.flatMap(({ line }) => listIn(line.details ?? {}, 'dropped').map(String));
}

function missingParts(files: readonly AuditFile[]): number[] {
  const parts = new Set(files.map(({ part }) => part));
  return Array.from({ length: Math.max(...parts) }, (_, part) => part).filter((part) => !parts.has(part));
}

/** Which file of the chain this is; the first one may have no number. */
function partOf(name: string, chain: string): number {
  const [, rest] = name.split(`.${chain}.`);
  const [part] = rest?.split('.') ?? ['-1'];
  return part === 'jsonl' ? 0 : Number(part);
}

function listIn(details: JsonObject, name: string): unknown[] {
  const list = details[name];
  return Array.isArray(list) ? list : [];
}

interface ChainReport {
  chain: string;
  /** The existing files of the chain, oldest first. */
  files: AuditFile[];
  lines: number;
  /** Lines after the last signature: they could be replaced without a trace. */
  unsigned: number;
  /** What was done to the log. */
  problems: string[];
  /** What proves nothing, such as a killed process. */
  notes: string[];
  /** The hash of each line, by its number; the chain may begin later than with line 0. */
  hashes: Map<number, string>;
  starts: { line: AuditLine; isSigned: boolean }[];
  /** The last signed line. */
  head?: { time: string; hash: string } | undefined;
  hasEnd: boolean;
}

/** Every line follows those before it, and every signature is good. `key`: the public key that the log must be signed with. */
function verifyChain(chain: string, files: readonly AuditFile[], key: KeyObject | undefined): ChainReport {
  const parts = files.toSorted((a, b) => a.part - b.part);
  const report: ChainReport = {
    chain,
    files: parts,
    lines: 0,
    unsigned: 0,
    problems: [],
    notes: [],
    hashes: new Map<number, string>(),
    starts: [],
    hasEnd: false,
  };
  const chained = new ChainReader();
  let seq: number | undefined;
  for (const [index, file] of parts.entries()) {
    const isLast = index === parts.length - 1;
    seq = verifyFile(file, { seq, chained, key, isLast, report });
  }
  if (report.problems.length === 0 && report.lines > 0 && report.starts.every(({ isSigned }) => !isSigned))
    report.problems.push(`the chain ${chain} has no signature: no process of this key has written it`);
  if (!report.hasEnd) noteMissingEnd(report);
  return report;
}

interface FileContext {
  /** The number of the line that has to follow; undefined at the first existing file. */
  seq: number | undefined;
  chained: ChainReader;
  key: KeyObject | undefined;
  isLast: boolean;
  report: ChainReport;
}

function verifyFile(file: AuditFile, context: FileContext): number | undefined {
  const { report, isLast } = context;
  let { seq } = context;
  let number = 0;
  try {
    const { rest } = readLines(file.path, 0, (text) => {
      number++;
      seq = verifyLine(text, { ...context, seq, file, number });
    });
    if (rest > 0 && isLast) report.notes.push(`${file.name}: the last line is not complete; its process was killed`);
    else if (rest > 0) report.problems.push(`${file.name}: it ends in the middle of a line`);
  } catch (thrown) {
    report.problems.push(`${file.name}: it cannot be read: ${(thrown as Error).message}`);
  }
  if (number === 0) report.notes.push(`${file.name}: it is empty`);
  return seq;
}

/** Returns the number of the line that has to follow. */
function verifyLine(
  text: string,
  { seq, chained, key, file, number, report }: FileContext & { file: AuditFile; number: number },
): number | undefined {
  const where = `${file.name}, line ${number}`;
  const line = readLine(text);
  if (!line) {
    report.problems.push(`${where}: this is not a line of an audit log`);
    chained.take(text, false);
    return seq === undefined ? undefined : seq + 1;
  }
  const expected = seq ?? (file.part === 0 ? 0 : line.seq);
  if (report.hasEnd) report.problems.push(`${where}: it comes after the end`);
  if (line.seq !== expected) report.problems.push(`${where}: line ${expected} is missing or was moved`);
  else if (!isLinked(line, chained, file)) report.problems.push(`${where}: a line before it was changed`);
  if (number === 1) verifyStart(line, { where, file, key, report });
  chained.take(text, line.prev !== undefined);
  const hash = hashLine(text);
  report.lines++;
  report.unsigned++;
  report.hashes.set(line.seq, hash);
  if (line.kind === 'checkpoint' || line.kind === 'end') verifySignature(line, { where, key, report, hash });
  return line.seq + 1;
}

/** Whether its hash is that of the lines before it. Most lines have none, and the first line that is there may follow others that were removed. */
function isLinked({ prev }: AuditLine, chained: ChainReader, { part }: AuditFile): boolean {
  if (prev === undefined) return chained.hasBegun;
  return prev === (chained.prev ?? (part === 0 ? FIRST : prev));
}

interface LineContext {
  where: string;
  report: ChainReport;
}

interface StartContext extends LineContext {
  file: AuditFile;
  key: KeyObject | undefined;
}

function verifyStart(line: AuditLine, { where, file, key, report }: StartContext): void {
  const details = isObject(line.details) ? line.details : {};
  const { chain, part } = details;
  const isSigned = isGood(line.sig, startText(details), key);
  report.starts.push({ line, isSigned });
  if (line.kind !== 'start' || chain !== file.chain || part !== file.part)
    report.problems.push(`${where}: it is not the start of this file`);
}

function verifySignature(
  line: AuditLine,
  { where, key, report, hash }: LineContext & { key: KeyObject | undefined; hash: string },
): void {
  report.hasEnd ||= line.kind === 'end';
  if (!isGood(line.sig, checkpointText(report.chain, line), key)) {
    report.problems.push(`${where}: the signature is not of this key`);
    return;
  }
  report.unsigned = 0;
  for (const start of report.starts) start.isSigned = true; // it is about all lines before it
  report.head = { time: line.time, hash };
}

function isGood(sig: unknown, text: string, key: KeyObject | undefined): boolean {
  if (!key || typeof sig !== 'string') return false;
  return lazyCrypto().verify(null, Buffer.from(text), key, Buffer.from(sig, 'base64url'));
}

function noteMissingEnd({ files, notes, unsigned }: ChainReport): void {
  const last = files.at(-1);
  if (!last) return;
  const open = `${unsigned} lines after the last signature`;
  if (isLiveProcess(last.pid)) notes.push(`${last.name}: its process runs; ${open}`);
  else notes.push(`${last.name}: it has no end: its process was killed, or the end was cut off; ${open}`);
}
