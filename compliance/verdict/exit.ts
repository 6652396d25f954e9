/**
 * The exit codes: what each means, and which one a run ends with (kit.md, "Verdicts").
 * No flag changes what a code means. Pure.
 */
import type { CheckResult, ClauseResult, Lang, Profile } from '../types.ts';

export const exits = {
  /** Every required check passed, or its clause is waived or attested in force. */
  passed: 0,
  /** At least one clause failed. */
  failed: 1,
  /** None failed; a required one is unknown or not reviewed. */
  unproven: 2,
  /** A clause without a check, a plan that came up short, or nothing ran. */
  coverage: 3,
  /** A waiver or attestation that is expired, malformed, or for an unknown clause. */
  waiver: 4,
  usage: 64,
  manifest: 65,
  /** The target cannot be reached, is too old, or lacks rights. */
  target: 69,
  /** The kit itself broke. */
  kit: 70,
  /** Interrupted, with everything cleaned up. */
  interrupted: 130,
} as const;

export type ExitCode = (typeof exits)[keyof typeof exits];

/** Strongest first: the first of these that applies is the exit code. */
const precedence: readonly ExitCode[] = [130, 64, 65, 69, 4, 1, 70, 3, 2, 0];

const meanings: Readonly<Record<Lang, Readonly<Record<ExitCode, string>>>> = {
  en: {
    0: 'every required check passed',
    1: 'at least one clause failed',
    2: 'nothing failed, but something required is unknown or not reviewed',
    3: 'coverage gap: something was not checked that had to be',
    4: 'a waiver or attestation is expired, malformed, or for an unknown clause',
    64: 'the command was not understood',
    65: 'the manifest is not valid',
    69: 'the target cannot be used',
    70: 'the kit itself broke',
    130: 'interrupted; everything was cleaned up',
  },
  vi: {
    0: 'mọi phép kiểm bắt buộc đều đạt',
    1: 'ít nhất một điều khoản bị vi phạm',
    2: 'không có vi phạm, nhưng có điều bắt buộc còn chưa rõ hoặc chưa xem xét',
    3: 'hở phạm vi kiểm: có điều lẽ ra phải kiểm mà chưa được kiểm',
    4: 'có miễn trừ hoặc xác nhận đã hết hạn, sai mẫu, hoặc cho một điều khoản không tồn tại',
    64: 'không hiểu được câu lệnh',
    65: 'tệp khai báo không hợp lệ',
    69: 'không dùng được máy chủ đích',
    70: 'chính bộ kiểm bị hỏng',
    130: 'bị ngắt; mọi thứ đã được dọn sạch',
  },
};

/** What an exit code says, in a few words. */
export function meaningOf(code: ExitCode, lang: Lang = 'en'): string {
  return meanings[lang][code];
}

/** The code that a run ends with when each of these applies; 0 when none does. */
export function worstExit(codes: Iterable<ExitCode>): ExitCode {
  const present = new Set(codes);
  return precedence.find((code) => present.has(code)) ?? exits.passed;
}

/**
 * The exit code of judged clauses under a profile. A planned check counts only where the profile
 * requires planned ones (`release`); such a profile also accepts no waiver, and not_applicable only
 * where the manifest gives the reason. A run in which nothing at all was judged is a coverage gap.
 */
export function exitOf(clauses: readonly ClauseResult[], profile: Profile): ExitCode {
  const judged = clauses.some(({ checks }) => checks.some(ran));
  return worstExit([
    ...clauses.flatMap((clause) => codesOfClause(clause, profile)),
    judged ? exits.passed : exits.coverage,
  ]);
}

function ran({ verdict }: CheckResult): boolean {
  return verdict.status !== 'not_applicable' && verdict.status !== 'not_reviewed';
}

function codesOfClause(result: ClauseResult, profile: Profile): ExitCode[] {
  const { clause, status, checks } = result;
  if (status === 'waived') return [profile.requirePlanned ? exits.unproven : exits.passed];
  if (status === 'attested') return [exits.passed];
  if (clause.notApplicable !== undefined) return [exits.passed];
  if (clause.checks.length === 0) return [exits.coverage];
  return checks.map((check) => codeOfCheck(check, profile));
}

function codeOfCheck({ spec, verdict }: CheckResult, profile: Profile): ExitCode {
  switch (verdict.status) {
    case 'passed':
      return exits.passed;
    case 'failed':
      return exits.failed;
    case 'error':
      return verdict.cause === 'coverage' ? exits.coverage : exits.kit;
    case 'unknown':
      return exits.unproven;
    case 'not_reviewed':
      return spec.planned === undefined || profile.requirePlanned ? exits.unproven : exits.passed;
    case 'not_applicable':
      return verdict.by === 'target' && profile.requirePlanned ? exits.unproven : exits.passed;
  }
}
