// Verifies an audit log: each chain by itself, and that no chain is missing that a later one names.
import type { KeyObject } from 'node:crypto';
import { isObject } from '../../protocol/message.ts';
import type { JsonObject } from '../../protocol/message.ts';
import { listAuditFiles } from './audit-folder.ts';
import type { AuditFile } from './audit-folder.ts';
import { fromPublicText, readSigningKey } from './audit-key.ts';
import type { ChainReport } from './verify-chain.ts';
import { verifyChain } from './verify-chain.ts';
import { lazyCrypto } from '../../shared/crypto/lazy-crypto.ts';

export interface VerifyOptions {
  /** A hash that was noted earlier: its line must still be there. */
  head?: string | undefined;
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
export function verifyAudit(folder: string, { head, key }: VerifyOptions = {}): AuditReport {
  const publicKey = key === undefined ? ownPublicKey(folder) : fromPublicText(key);
  const byChain = new Map<string, AuditFile[]>();
  for (const file of listAuditFiles(folder)) byChain.set(file.chain, [...(byChain.get(file.chain) ?? []), file]);
  const reports = [...byChain].map(([chain, files]) => verifyChain(chain, files, publicKey));
  const problems = [...reports.flatMap((report) => report.problems), ...findMissing(reports)];
  if (head !== undefined && !reports.some(({ hashes }) => [...hashes.values()].includes(head)))
    problems.push('the head is in no file: lines were removed or replaced');
  const newest = reports.flatMap((report) => report.head ?? []).toSorted((a, b) => b.time.localeCompare(a.time));
  return {
    chains: reports.length,
    lines: reports.reduce((sum, { lines }) => sum + lines, 0),
    problems,
    notes: reports.flatMap(({ notes }) => notes),
    head: newest[0]?.hash,
  };
}

function ownPublicKey(folder: string): KeyObject | undefined {
  const own = readSigningKey(folder);
  return own && lazyCrypto().createPublicKey(own);
}

/** Chains and files that are named and not there, although no process has removed them to make room. */
function findMissing(reports: readonly ChainReport[]): string[] {
  const starts = reports.flatMap((report) => report.starts.map(({ details }) => details ?? {}));
  const dropped = new Set(starts.flatMap((details) => listIn(details, 'dropped')));
  const known = new Map(reports.map((report) => [report.chain, report]));
  const wasDropped = (chain: string): boolean => [...dropped].some((name) => String(name).includes(`.${chain}.`));
  const cut = reports.flatMap(({ chain, files }) => missingParts(chain, files).filter(() => !wasDropped(chain)));
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

function missingParts(chain: string, files: readonly AuditFile[]): string[] {
  const parts = new Set(files.map(({ part }) => part));
  const last = Math.max(...parts);
  const missing = Array.from({ length: last }, (_, part) => part).filter((part) => !parts.has(part));
  return missing.map((part) => `file ${part} of the chain ${chain} is missing`);
}

function listIn(details: JsonObject, name: string): unknown[] {
  const list = details[name];
  return Array.isArray(list) ? list : [];
}
